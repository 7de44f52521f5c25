"""Learns a line from TFRecords. Writes checkpoints, a SavedModel and TensorBoard summaries."""

import argparse
import json
import os

import tensorflow as tf

FEATURES = {'x': tf.io.FixedLenFeature([2], tf.float32), 'y': tf.io.FixedLenFeature([], tf.float32)}


def parse(record):
    """A serialized example as (features, label)."""
    example = tf.io.parse_single_example(record, FEATURES)
    return example['x'], example['y']


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves after every epoch, and resumes from the last save of an earlier run."""

    def __init__(self, directory):
        super().__init__()
        self.directory = directory
        self.done = tf.Variable(0, dtype=tf.int64)
        self.manager = None

    def restore(self, model):
        """Restores the model, and returns the number of epochs that it has been trained for."""
        checkpoint = tf.train.Checkpoint(model=model, done=self.done)
        self.manager = tf.train.CheckpointManager(checkpoint, self.directory, max_to_keep=2)
        checkpoint.restore(self.manager.latest_checkpoint)
        return int(self.done.numpy())

    def on_epoch_end(self, epoch, logs=None):
        self.done.assign(epoch + 1)
        print('saved', self.manager.save(), 'with loss', logs['loss'])


def is_chief(config):
    """Whether this replica writes the shared files."""
    return config.get('task', {}).get('type', 'chief') in ('chief', 'master')


def main():
    """Trains as one replica."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--job-dir', required=True)
    parser.add_argument('--data', required=True)
    parser.add_argument('--epochs', type=int, default=2)
    args = parser.parse_args()
    config = json.loads(os.environ.get('TF_CONFIG', '{}'))
    many = len(config.get('cluster', {}).get('worker', [])) > 0
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if many else tf.distribute.get_strategy()

    files = sorted(tf.io.gfile.glob(args.data + '/*.tfrecord'))
    print('reads', files)
    dataset = tf.data.TFRecordDataset(files).map(parse).cache().shuffle(512, seed=1).repeat()
    dataset = dataset.batch(32)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss='mse')
    # Workers write, too (a collective save), to a folder that is not read.
    job_dir = args.job_dir if is_chief(config) else os.path.join(args.job_dir, 'scratch')
    checkpoints = Checkpoints(os.path.join(job_dir, 'checkpoints'))
    begin = checkpoints.restore(model)
    print('begins with epoch', begin)
    board = tf.keras.callbacks.TensorBoard(os.path.join(job_dir, 'logs'), write_graph=False)
    model.fit(dataset, steps_per_epoch=16, initial_epoch=begin, epochs=args.epochs, verbose=2,
              callbacks=[checkpoints, board])
    tf.saved_model.save(model, os.path.join(job_dir, 'model'))
    print('has finished', tf.io.gfile.listdir(job_dir))


if __name__ == '__main__':
    main()
