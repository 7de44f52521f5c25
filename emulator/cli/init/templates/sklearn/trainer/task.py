"""scikit-learn: learns digits batch by batch. Continues from the newest checkpoint in --job-dir."""
import argparse
import json
import pickle

import numpy
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

from trainer.checkpoints import Checkpoints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    inputs, labels = load_digits(return_X_y=True)
    inputs = inputs / 16.0
    checkpoints = Checkpoints(args.job_dir)
    done, saved = checkpoints.newest()
    model = pickle.loads(saved) if saved else SGDClassifier(loss="log_loss", random_state=1)
    for epoch in range(done + 1, args.epochs + 1):
        order = numpy.random.RandomState(epoch).permutation(len(labels))  # the same in each run
        for rows in numpy.array_split(order, 20):
            model.partial_fit(inputs[rows], labels[rows], classes=range(10))
        loss = log_loss(labels, model.predict_proba(inputs))
        print(json.dumps({"step": epoch, "loss": loss}), flush=True)
        checkpoints.save(epoch, pickle.dumps(model))
    checkpoints.write_result("model.pkl", pickle.dumps(model))
    loss = log_loss(labels, model.predict_proba(inputs))
    checkpoints.write_result("result.json", json.dumps({"loss": loss}).encode())


if __name__ == "__main__":
    main()
