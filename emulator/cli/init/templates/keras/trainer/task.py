"""Keras: learns a function. Continues from the newest checkpoint in --job-dir."""
import argparse
import json
import os
import tempfile

import numpy
from tensorflow import keras

from trainer.checkpoints import Checkpoints


def to_bytes(model):
    """The model with the state of its optimizer."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        with open(path, "rb") as file:
            return file.read()


def from_bytes(data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        with open(path, "wb") as file:
            file.write(data)
        return keras.models.load_model(path)


def new_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, activation="relu"),
                              keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    inputs = numpy.random.RandomState(1).rand(512, 4).astype("float32")
    labels = numpy.sin(3 * inputs[:, :1]) - inputs[:, 1:2] * inputs[:, 2:3]
    checkpoints = Checkpoints(args.job_dir)
    done, saved = checkpoints.newest()
    model = from_bytes(saved) if saved else new_model()
    for epoch in range(done + 1, args.epochs + 1):
        order = numpy.random.RandomState(epoch).permutation(len(labels))  # the same in each run
        history = model.fit(inputs[order], labels[order], batch_size=32, shuffle=False, verbose=0)
        loss = float(history.history["loss"][0])
        print(json.dumps({"step": epoch, "loss": loss}), flush=True)
        checkpoints.save(epoch, to_bytes(model))
    checkpoints.write_result("model.keras", to_bytes(model))
    loss = float(model.evaluate(inputs, labels, verbose=0))
    checkpoints.write_result("result.json", json.dumps({"loss": loss}).encode())


if __name__ == "__main__":
    main()
