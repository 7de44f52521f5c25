"""TensorFlow: model.fit under MultiWorkerMirroredStrategy, with BackupAndRestore in Cloud Storage.

Origin: the tutorial "Multi-worker training with Keras": the strategy with its default options, the
BackupAndRestore callback, and a file that each task writes below its own folder.
Needs: tensorflow with Keras 2 (2.15 is the last).
"""
import argparse
import json
import os

import numpy as np
import tensorflow as tf

from trainer.cluster import place

ROWS, BATCH = 768, 96


def rows():
    """Inputs and labels: a smooth function of three numbers."""
    x = np.random.RandomState(1).rand(ROWS, 3).astype("float32")
    return x, np.sin(3 * x[:, :1]) - x[:, 1:2] * x[:, 2:]


def dataset():
    """Each replica reads its own share of a batch. The order is the same in each epoch, so an epoch
    after a restart is the same as without one."""
    x, y = rows()
    shuffled = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(
        ROWS, seed=1, reshuffle_each_iteration=False)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return shuffled.batch(BATCH).with_options(options)


def built_model():
    model = tf.keras.Sequential([
        tf.keras.Input((3,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
    return model


def report(epoch, logs):
    print(json.dumps({"step": epoch + 1, "loss": float(logs["loss"])}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = built_model()
    model.fit(dataset(), epochs=args.epochs, verbose=0, callbacks=[
        tf.keras.callbacks.LambdaCallback(on_epoch_end=report),
        tf.keras.callbacks.BackupAndRestore(os.path.join(args.job_dir, "backup")),
    ])
    if place().rank == 0:
        with tf.io.gfile.GFile(os.path.join(args.job_dir, "weights.json"), "w") as file:
            json.dump([weights.tolist() for weights in model.get_weights()], file)


if __name__ == "__main__":
    main()
