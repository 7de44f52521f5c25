"""Keras: model.fit with BackupAndRestore; the model is saved after it.

Origin: the example in the documentation of keras.callbacks.BackupAndRestore, and model.save of the
guide "Save, serialize, and export models".
Needs: keras and a backend (KERAS_BACKEND, torch here), scikit-learn (for its data set).
"""
import argparse
import json
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()
os.makedirs(args.job_dir, exist_ok=True)

keras.utils.set_random_seed(0)
X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")

model = keras.Sequential([
    keras.Input((64,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def say(epoch, logs):
    """Prints one line for each epoch: the finished step."""
    print(json.dumps({"step": epoch + 1, "loss": round(float(logs["loss"]), 6)}), flush=True)


model.fit(
    X, y, epochs=args.epochs, batch_size=64, verbose=0,
    callbacks=[
        keras.callbacks.LambdaCallback(on_epoch_end=say),
        keras.callbacks.BackupAndRestore(os.path.join(args.job_dir, "backup")),
    ],
)
model.save(os.path.join(args.job_dir, "model.keras"))
