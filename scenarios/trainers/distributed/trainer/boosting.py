"""XGBoost with its own tracker: the chief runs it, and every replica trains on its own rows.

Origin: the tutorials "Distributed XGBoost" (RabitTracker, CommunicatorContext) and the parameter
`xgb_model` of xgb.train, which continues training.
Needs: xgboost, scikit-learn (for its data set), google-cloud-storage.
"""
import argparse
import json
import socket

import xgboost as xgb
from sklearn.datasets import load_breast_cancer
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

from trainer.checkpoints import Checkpoints
from trainer.cluster import place


class AfterEachRound(xgb.callback.TrainingCallback):
    """Reports the round. The chief saves the model, which is the same on all replicas."""

    def __init__(self, checkpoints, is_chief):
        self.checkpoints, self.is_chief = checkpoints, is_chief

    def after_iteration(self, model, epoch, evals_log):
        rounds = model.num_boosted_rounds()
        loss = evals_log["train"]["logloss"][-1]
        print(json.dumps({"step": rounds, "logloss": loss}), flush=True)
        if self.is_chief:
            self.checkpoints.save(rounds, bytes(model.save_raw("ubj")))
        return False


def train(args, here):
    """Trains the rounds that are missing, together with the other replicas."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = xgb.DMatrix(X[here.rank::here.count], y[here.rank::here.count])
    checkpoints = Checkpoints(args.job_dir, "round")
    done, saved = checkpoints.newest()
    print("continues after round %d" % done, flush=True)
    booster = xgb.Booster(model_file=bytearray(saved)) if saved else None
    return xgb.train({"objective": "binary:logistic"}, rows, evals=[(rows, "train")],
                     num_boost_round=args.rounds - done, xgb_model=booster, verbose_eval=False,
                     callbacks=[AfterEachRound(checkpoints, here.rank == 0)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()
    here = place()
    if here.rank == 0:
        tracker = RabitTracker(n_workers=here.count, port=here.chief_port,
                               host_ip=socket.gethostbyname(here.chief_host))
        tracker.start()
    with CommunicatorContext(dmlc_tracker_uri=here.chief_host, dmlc_tracker_port=here.chief_port,
                             dmlc_task_id=str(here.rank)):
        train(args, here)
    if here.rank == 0:
        tracker.wait_for()


if __name__ == "__main__":
    main()
