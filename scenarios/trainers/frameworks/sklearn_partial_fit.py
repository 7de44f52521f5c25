"""scikit-learn: partial_fit by batches; each epoch dumps the estimator.

Origin: scikit-learn's user guide, "Strategies to scale computationally: bigger data" (partial_fit)
and "Model persistence" (joblib.dump, joblib.load).
Needs: scikit-learn.
"""
import argparse
import json
import os

import joblib
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches, shuffle

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()
os.makedirs(args.job_dir, exist_ok=True)

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, random_state=0)

path = os.path.join(args.job_dir, "checkpoint.joblib")
if os.path.exists(path):
    state = joblib.load(path)
    start, clf = state["epoch"], state["model"]
    print("resuming after epoch %d" % start, flush=True)
else:
    start, clf = 0, SGDClassifier(random_state=0)

for epoch in range(start + 1, args.epochs + 1):
    X_epoch, y_epoch = shuffle(X_train, y_train, random_state=epoch)
    for batch in gen_batches(len(X_epoch), 128):
        clf.partial_fit(X_epoch[batch], y_epoch[batch], classes=range(10))
    accuracy = clf.score(X_test, y_test)
    print(json.dumps({"step": epoch, "accuracy": round(accuracy, 6)}), flush=True)
    joblib.dump({"epoch": epoch, "model": clf}, path)

joblib.dump(clf, os.path.join(args.job_dir, "model.joblib"))
