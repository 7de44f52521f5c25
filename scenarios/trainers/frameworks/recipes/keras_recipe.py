"""Keras: a backup after each epoch, from which a restarted training continues.

Origin: Keras's page of the callback BackupAndRestore.
--bug: that callback. It writes the weights and the number of the epoch to two files: if the machine is lost between the
two writes, an epoch is trained twice. Without --bug the model and its epoch are one file that is renamed when it is whole.
"""
import argparse
import json
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--bug", action="store_true")
args = parser.parse_args()


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(json.dumps({"step": epoch + 1, "loss": round(logs["loss"], 4)}), flush=True)


class Backup(keras.callbacks.Callback):
    """One file for each epoch; the one before is deleted when the new one is there."""

    def on_epoch_end(self, epoch, logs=None):
        before = newest()
        hidden = os.path.join(args.out, "new.keras")
        self.model.save(hidden)
        os.replace(hidden, os.path.join(args.out, "epoch-%04d.keras" % (epoch + 1)))
        if before:
            os.remove(os.path.join(args.out, before))


def newest():
    return max((name for name in os.listdir(args.out) if name.startswith("epoch-")), default=None)


os.makedirs(args.out, exist_ok=True)
keras.utils.set_random_seed(0)
X = numpy.random.default_rng(0).random((256, 8), dtype=numpy.float32)
y = (X.sum(1) > 4).astype(numpy.int64)
start, backup = 0, None
if args.bug:
    backup = keras.callbacks.BackupAndRestore(os.path.join(args.out, "backup"), delete_checkpoint=False)
elif newest():
    start = int(newest()[len("epoch-"):-len(".keras")])
if start:
    model = keras.models.load_model(os.path.join(args.out, newest()))
else:
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(X, y, batch_size=64, epochs=args.epochs, initial_epoch=start, shuffle=False, verbose=0,
          callbacks=[Report(), backup or Backup()])
