"""XGBoost: a checkpoint for each round; training resumes from the newest.

Origin: `check_point_callback` of XGBoost's own demo/guide-python/callbacks.py, whose
TrainingCheckPoint and parameters these are; it resumes with the documented `xgb_model` of xgb.train.
Needs: xgboost, scikit-learn (for its data set).
"""
import argparse
import glob
import json
import os
import re

import xgboost as xgb
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--rounds", type=int, default=4)
parser.add_argument("--subsample", type=float, default=1.0)
args = parser.parse_args()


class Report(xgb.callback.TrainingCallback):
    """Prints a line for each round, by which caip recognizes the step."""

    def after_iteration(self, model, epoch, evals_log):
        loss = evals_log["Test"]["logloss"][-1]
        report = {"step": model.num_boosted_rounds(), "logloss": round(loss, 6)}
        print(json.dumps(report), flush=True)
        return False


def newest(folder):
    """Path of the checkpoint with the highest number, or None."""
    paths = glob.glob(os.path.join(folder, "model_*.ubj"))
    return max(paths, key=lambda path: int(re.search(r"_(\d+)\.ubj$", path)[1]), default=None)


X, y = load_breast_cancer(return_X_y=True)
X_train, X_valid, y_train, y_valid = train_test_split(X, y, random_state=0)
m_train, m_valid = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_valid, y_valid)

checkpoints = os.path.join(args.job_dir, "checkpoints")
os.makedirs(checkpoints, exist_ok=True)
path = newest(checkpoints)
booster = xgb.Booster(model_file=path) if path else None
done = booster.num_boosted_rounds() if booster else 0

booster = xgb.train(
    {"objective": "binary:logistic", "subsample": args.subsample, "nthread": 1},
    m_train,
    evals=[(m_train, "Train"), (m_valid, "Test")],
    num_boost_round=args.rounds - done,
    xgb_model=booster,
    verbose_eval=False,
    callbacks=[Report(), xgb.callback.TrainingCheckPoint(checkpoints, name="model", interval=1)],
)
booster.save_model(os.path.join(args.job_dir, "model.ubj"))
