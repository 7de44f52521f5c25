"""XGBoost: the model is saved after each round, and training continues from it.

Origin: XGBoost's page "Python Package Introduction" and its demo of continuing training with xgb_model.
--bug: after a restart as many rounds are trained as at the first start, and not the rest of them.
"""
import argparse
import json
import os

import numpy
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--rounds", type=int, default=4)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()

os.makedirs(args.out, exist_ok=True)
X = numpy.random.default_rng(0).random((256, 8))
data = xgboost.DMatrix(X, (X.sum(1) > 4).astype(int))
path = os.path.join(args.out, "model.ubj")


class Save(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        done = model.num_boosted_rounds()
        loss = evals_log["train"]["logloss"][-1]
        print(json.dumps({"step": done, "loss": round(loss, 4)}), flush=True)
        hidden = os.path.join(args.out, "new.ubj")
        model.save_model(hidden)
        os.replace(hidden, path)
        return False


earlier = xgboost.Booster(model_file=path) if os.path.exists(path) else None
rounds = args.rounds if args.bug or earlier is None else args.rounds - earlier.num_boosted_rounds()
if rounds > 0:
    xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1, "eval_metric": "logloss"}, data,
                  rounds, evals=[(data, "train")], verbose_eval=False, xgb_model=earlier, callbacks=[Save()])
