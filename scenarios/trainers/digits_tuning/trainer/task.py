"""A network with one hidden layer on scikit-learn's digits; a tuning job sets its hyperparameters.

It reports the accuracy on held-out digits after each epoch, and writes the model below --job-dir.
"""
import argparse
import os
import pickle
import warnings

import hypertune
import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, default=0.001)
    parser.add_argument("--hidden_units", type=int, default=32)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--activation", default="relu")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--job-dir", default="")
    return parser.parse_args()


def keep(model, job_dir):
    """Writes the model below --job-dir: a directory, or a gs:// URI through the storage client."""
    if not job_dir:
        return
    if not job_dir.startswith("gs://"):
        os.makedirs(job_dir, exist_ok=True)
        with open(os.path.join(job_dir, "model.pkl"), "wb") as file:
            pickle.dump(model, file)
        return
    from google.cloud import storage
    bucket, _, prefix = job_dir[len("gs://"):].partition("/")
    storage.Client().bucket(bucket).blob(prefix + "/model.pkl").upload_from_string(
        pickle.dumps(model))


def main():
    args = arguments()
    digits = load_digits()
    train, test, train_labels, test_labels = train_test_split(
        digits.data / 16.0, digits.target, test_size=0.25, random_state=1)
    model = MLPClassifier(hidden_layer_sizes=(args.hidden_units,), activation=args.activation,
                          learning_rate_init=args.learning_rate, batch_size=args.batch_size,
                          random_state=1)
    reports = hypertune.HyperTune()
    order = numpy.random.RandomState(1)
    warnings.simplefilter("ignore")
    for epoch in range(1, args.epochs + 1):
        mixed = order.permutation(len(train))
        for begin in range(0, len(mixed), args.batch_size):
            batch = mixed[begin:begin + args.batch_size]
            model.partial_fit(train[batch], train_labels[batch], classes=range(10))
        accuracy = model.score(test, test_labels)
        print("epoch %d accuracy %.4f" % (epoch, accuracy), flush=True)
        reports.report_hyperparameter_tuning_metric(
            hyperparameter_metric_tag="accuracy", metric_value=accuracy, global_step=epoch)
    keep(model, args.job_dir)


if __name__ == "__main__":
    main()
