"""Image classification: a small network that is trained from scratch, on TFRecord files."""
import os
import tempfile

import numpy as np

from . import storage
from .cluster import Cluster
from .libraries import need
from .outcome import Metrics, write_deployment
from .report import Failure, info, warning

SIDE = 64  # pixels, to which images are resized
EVALUATIONS = 10
SHUFFLED = 2048


def train(arguments):
    tensorflow = need("tensorflow")
    Cluster().check_single("Image classification", gpus=True)
    tensorflow.keras.utils.set_random_seed(1)
    warning("A small network of %d x %d pixels is trained from scratch in place of %s, whose pretrained weights this emulator "
            "does not have." % (SIDE, SIDE, arguments.model_type))
    with tempfile.TemporaryDirectory() as directory:
        run = _Run(tensorflow, arguments, directory)
        run.train()
        run.save(os.path.join(directory, "model"))


class _Run:
    def __init__(self, tensorflow, arguments, directory):
        self._tf, self._arguments, self._directory = tensorflow, arguments, directory
        self._training = self._fetch("training_data_path")
        self._validation = self._fetch("validation_data_path")
        self._first = self._first_label()
        self._network = self._make_network()
        self._optimizer = self._make_optimizer()
        self._best, self._best_weights, self._values, self._step = -1.0, None, {}, 0
        self._checkpoints = storage.join(arguments.job_dir, "checkpoints")

    def _fetch(self, flag):
        path = getattr(self._arguments, flag)
        return [storage.fetch(one, flag, self._directory) for one in storage.find(path, flag)]

    def _parsed(self, record):
        tf = self._tf
        return tf.io.parse_single_example(record, {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                                                   "image/class/label": tf.io.FixedLenFeature([], tf.int64)})

    def _first_label(self):
        """0 or 1, the smallest label: both numberings are documented."""
        tf, labels = self._tf, []
        try:
            for one in tf.data.TFRecordDataset(self._training).map(self._parsed):
                labels.append(int(one["image/class/label"]))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            raise Failure("%s is not a TFRecord file of images with labels: %s. Each record needs image/encoded and "
                          "image/class/label." % (self._arguments.training_data_path, str(error).splitlines()[0]))
        if not labels:
            raise Failure("%s has no images." % self._arguments.training_data_path)
        first, last = min(labels), max(labels)
        base = 0 if first == 0 else 1
        if first < 0 or last - base >= self._arguments.num_classes:
            raise Failure("%s has labels from %d to %d, but --num_classes is %d." % (
                self._arguments.training_data_path, first, last, self._arguments.num_classes))
        info("Read %d images with labels from %d to %d." % (len(labels), first, last))
        return base

    def decoded(self, data):
        tf = self._tf
        image = tf.io.decode_image(data, channels=3, expand_animations=False)
        return tf.image.resize(tf.cast(image, tf.float32) / 255, [SIDE, SIDE])

    def _images(self, files):
        def read(record):
            one = self._parsed(record)
            return self.decoded(one["image/encoded"]), one["image/class/label"] - self._first
        return self._tf.data.TFRecordDataset(files).map(read)

    def _flipped(self, image, label):
        return self._tf.image.random_flip_left_right(image, seed=1), label

    def _make_network(self):
        layers, arguments = self._tf.keras.layers, self._arguments
        penalty = self._tf.keras.regularizers.L2(arguments.weight_decay) if arguments.weight_decay else None
        network = self._tf.keras.Sequential([layers.Input((SIDE, SIDE, 3))])
        for width in (16, 32, 64, 64):
            network.add(layers.Conv2D(width, 3, padding="same", use_bias=False, kernel_regularizer=penalty))
            network.add(layers.BatchNormalization(momentum=0.9))
            network.add(layers.ReLU())
            network.add(layers.MaxPooling2D())
        network.add(layers.GlobalAveragePooling2D())
        network.add(layers.Dense(arguments.num_classes, kernel_regularizer=penalty))
        return network

    def _make_optimizer(self):
        optimizers, arguments = self._tf.keras.optimizers, self._arguments
        given, rate = arguments.optimizer_arguments, arguments.initial_learning_rate
        if arguments.optimizer_type == "momentum":
            return optimizers.SGD(rate, momentum=given.get("momentum", 0.9))
        make = {"adam": optimizers.Adam, "rmsprop": optimizers.RMSprop, "sgd": optimizers.SGD}[arguments.optimizer_type]
        return make(rate, **given)

    def _rate(self):
        arguments, share = self._arguments, self._step / self._arguments.max_steps
        if self._step < arguments.warmup_steps:
            start, end = arguments.warmup_learning_rate, arguments.initial_learning_rate
            return start + (end - start) * self._step / arguments.warmup_steps
        factors = {"constant": 1.0, "exponential": 0.01 ** share, "cosine": (1 + np.cos(np.pi * share)) / 2,
                   "polynomial": 1 - share, "stepwise": 0.1 ** int(3 * share)}
        return arguments.initial_learning_rate * factors[arguments.learning_rate_decay_type]

    def _one_step(self, images, labels):
        tf, arguments = self._tf, self._arguments
        with tf.GradientTape() as tape:
            scores = self._network(images, training=True)
            wanted = tf.one_hot(labels, arguments.num_classes)
            wanted = wanted * (1 - arguments.label_smoothing) + arguments.label_smoothing / arguments.num_classes
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(wanted, scores))
            loss += tf.add_n(self._network.losses) if self._network.losses else 0.0
        variables = self._network.trainable_variables
        self._optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def train(self):
        arguments, metrics = self._arguments, Metrics()
        self._optimizer.build(self._network.trainable_variables)
        self._restore()
        step = self._tf.function(self._one_step)
        every = max(arguments.max_steps // EVALUATIONS, 1)
        batches = self._images(self._training).shuffle(SHUFFLED, seed=1).repeat()
        batches = batches.map(self._flipped).batch(arguments.train_batch_size)
        for images, labels in batches.take(max(arguments.max_steps - self._step, 0)):
            self._optimizer.learning_rate = self._rate()
            step(images, labels)
            self._step += 1
            if self._step % every == 0 or self._step == arguments.max_steps:
                self._evaluate(metrics)
                self._keep()
        if not self._values:
            self._evaluate(metrics)

    def _evaluate(self, metrics):
        tf, hits, losses, count = self._tf, 0, 0.0, 0
        images = self._images(self._validation)
        if self._arguments.num_eval_images:
            images = images.take(self._arguments.num_eval_images)
        for batch, labels in images.batch(256):
            scores = self._network(batch, training=False)
            losses += float(tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores)))
            hits += int(tf.reduce_sum(tf.cast(tf.argmax(scores, axis=1) == labels, tf.int32)))
            count += len(labels)
        if not count:
            raise Failure("%s has no images." % self._arguments.validation_data_path)
        values = {"loss": losses / count, "accuracy": hits / count}
        metrics.report(self._step, values)
        if values["accuracy"] >= self._best:
            self._best, self._values, self._best_weights = values["accuracy"], values, self._network.get_weights()

    def _checkpoint(self):
        return self._tf.train.Checkpoint(network=self._network, optimizer=self._optimizer)

    def _keep(self):
        with tempfile.TemporaryDirectory() as directory:
            self._checkpoint().write(os.path.join(directory, "state"))
            place = storage.join(self._checkpoints, "%08d" % self._step)
            for name in sorted(os.listdir(directory), key=lambda one: one.endswith(".index")):
                storage.upload(os.path.join(directory, name), storage.join(place, name))

    def _restore(self):
        """Found checkpoints are continued from, as the service documents."""
        whole = sorted(name.split("/")[0] for name in storage.names_below(self._checkpoints) if name.endswith(".index"))
        if not whole:
            return
        with tempfile.TemporaryDirectory() as directory:
            storage.fetch_tree(storage.join(self._checkpoints, whole[-1]), directory)
            self._checkpoint().read(os.path.join(directory, "state")).expect_partial()
        self._step = int(whole[-1])
        info("Continues after step %d, whose checkpoint exists." % self._step)

    def save(self, directory):
        tf, first = self._tf, self._first
        self._network.set_weights(self._best_weights)
        module = tf.Module()
        module.network = self._network

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "image_bytes"), tf.TensorSpec([None], tf.string, "key")])
        def serve(image_bytes, key):
            images = tf.map_fn(self.decoded, image_bytes, fn_output_signature=tf.TensorSpec([SIDE, SIDE, 3], tf.float32))
            scores = tf.nn.softmax(self._network(images, training=False))
            return {"classes": tf.argmax(scores, axis=1) + first, "scores": scores, "key": key}
        module.serve = serve
        tf.saved_model.save(module, directory, signatures={"serving_default": serve})
        storage.upload_tree(directory, storage.join(self._arguments.job_dir, "model"))
        write_deployment(self._arguments.job_dir, "TENSORFLOW", self._step, self._values)
        info("Saved the model of the best evaluation to %s." % storage.join(self._arguments.job_dir, "model/"))
