"""TensorFlow: model.fit under ParameterServerStrategy, with a sidecar that evaluates.

Origin: the tutorial "Parameter server training with ParameterServerStrategy": servers of workers
and parameter servers with GRPC_FAIL_FAST, a coordinator that calls model.fit with BackupAndRestore,
and SidecarEvaluator.
Needs: tensorflow with Keras 2 (2.15 is the last).
"""
import argparse
import json
import os

import numpy as np
import tensorflow as tf

ROWS, BATCH, STEPS_PER_EPOCH = 768, 32, 24


def dataset():
    """Inputs and labels: a smooth function of three numbers."""
    x = np.random.RandomState(1).rand(ROWS, 3).astype("float32")
    y = np.sin(3 * x[:, :1]) - x[:, 1:2] * x[:, 2:]
    return tf.data.Dataset.from_tensor_slices((x, y))


def built_model():
    model = tf.keras.Sequential([
        tf.keras.Input((3,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
    return model


def serve(resolver):
    """What workers and parameter servers do until the service stops them."""
    os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a lost replica is an error at once
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type,
                                  task_index=resolver.task_id, protocol="grpc")
    print("serves", resolver.task_type, flush=True)
    server.join()


def report(epoch, logs):
    print(json.dumps({"step": epoch + 1, "loss": float(logs["loss"])}), flush=True)


def coordinate(resolver, args):
    """Trains the epochs that are missing. The strategy itself replaces a lost worker."""
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    with strategy.scope():
        model = built_model()
    rows = dataset().shuffle(ROWS, seed=1).repeat().batch(BATCH)
    model.fit(rows, epochs=args.epochs, steps_per_epoch=STEPS_PER_EPOCH, verbose=0, callbacks=[
        tf.keras.callbacks.LambdaCallback(on_epoch_end=report),
        tf.keras.callbacks.BackupAndRestore(os.path.join(args.job_dir, "backup")),
        tf.keras.callbacks.ModelCheckpoint(os.path.join(args.job_dir, "model", "ckpt-{epoch}"),
                                           save_weights_only=True),
    ])
    loss = model.evaluate(dataset().batch(BATCH).repeat(), steps=STEPS_PER_EPOCH, verbose=0)
    with tf.io.gfile.GFile(os.path.join(args.job_dir, "result.json"), "w") as file:
        json.dump({"epochs": args.epochs, "learned": loss < 0.1, "loss": loss}, file)


def evaluate(args):
    """Evaluates each checkpoint that the coordinator saves."""
    def say(logs):
        print("evaluated: loss %s" % logs["loss"], flush=True)

    sidecar = tf.keras.experimental.SidecarEvaluator(
        built_model(), dataset().batch(BATCH), os.path.join(args.job_dir, "model"),
        callbacks=[tf.keras.callbacks.LambdaCallback(on_test_end=say)])
    sidecar.start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    tf.keras.utils.set_random_seed(1)
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    elif resolver.task_type == "evaluator":
        evaluate(args)
    else:
        coordinate(resolver, args)


if __name__ == "__main__":
    main()
