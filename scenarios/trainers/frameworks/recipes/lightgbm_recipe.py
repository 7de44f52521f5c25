"""LightGBM: one round at a time with keep_training_booster, and a copy of the model with the best validation.

Origin: LightGBM's pages "Python Quick Start" (init_model, save_model) and "Parameters Tuning" (early stopping).
--bug: the best value is not in the checkpoint. The first model after a restart is then taken for the best one.
"""
import argparse
import json
import os

import lightgbm
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--rounds", type=int, default=6)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()

os.makedirs(args.out, exist_ok=True)
random = numpy.random.default_rng(0)
X = random.random((160, 8))
y = ((X.sum(1) > 4) ^ (random.random(160) < 0.2)).astype(int)
train = lightgbm.Dataset(X[:120], y[:120], free_raw_data=False)
valid = lightgbm.Dataset(X[120:], y[120:], reference=train, free_raw_data=False)
SETTINGS = {"objective": "binary", "metric": "binary_logloss", "learning_rate": 1.0, "num_leaves": 8, "verbosity": -1,
            "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True, "seed": 0}


def write(name, text):
    hidden = os.path.join(args.out, "new")
    with open(hidden, "w") as file:
        file.write(text)
    os.replace(hidden, os.path.join(args.out, name))


done, best, model = 0, float("inf"), None
state = os.path.join(args.out, "state.json")
if os.path.exists(state):
    with open(state) as file:
        kept = json.load(file)
    done, model = kept["done"], kept["model"]
    best = best if args.bug else kept["best"]

while done < args.rounds:
    history = {}
    booster = lightgbm.train(
        SETTINGS, train, num_boost_round=1, valid_sets=[valid], callbacks=[lightgbm.record_evaluation(history)],
        init_model=lightgbm.Booster(model_str=model) if model else None)
    done += 1
    model = booster.model_to_string()
    loss = history["valid_0"]["binary_logloss"][-1]
    print(json.dumps({"step": done, "loss": round(loss, 4)}), flush=True)
    if loss < best:
        best = loss
        write("best.txt", model)
    write("state.json", json.dumps({"done": done, "model": model, "best": best}))
