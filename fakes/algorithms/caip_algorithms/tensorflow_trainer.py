"""Trains a model of TensorFlow: steps, evaluations, checkpoints, and the SavedModel at the end."""
import os
import tempfile
import time

import numpy as np

from . import storage
from .cluster import Cluster
from .data import prepare
from .libraries import need
from .outcome import Metrics, write_deployment
from .report import Failure, info
from .tensorflow_data import Batches, auc, load
from .tensorflow_serving import save_model

EVALUATIONS = 10  # of a run at least, with a checkpoint each
EVALUATED_AT_ONCE = 8192


def train(name, image, make, arguments, transform=None):
    """`make(tensorflow, arguments, metadata)` returns the model: `model.scores(numbers, codes, is_training)`, logits
    or values; `model.loss(targets, scores)`; `model.apply(tape, loss)`, a step of its optimizers; `model.module`, what
    a checkpoint keeps. `transform(metadata, rows)` completes the metadata from the training part."""
    tensorflow = need("tensorflow")
    Cluster().check_single(name, gpus=True)
    tensorflow.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as directory:
        classes = arguments.model_type == "classification"
        data = prepare(arguments, directory, classes, False, {"algorithm": image})
        parts = [load(sources, data.metadata, part) if sources else None
                 for sources, part in zip(data.parts, ("training", "validation", "test"))]
        if transform:
            parts = transform(data.metadata, parts)
            for one, served in zip(data.metadata.numeric, data.served.numeric):
                served.power, served.center, served.spread = one.power, one.center, one.spread
        model = make(tensorflow, arguments, data.metadata)
        run = Run(tensorflow, arguments, data.metadata, model)
        run.train(parts[0], parts[1] or parts[0])
        if parts[2]:
            values = run.evaluate(parts[2])
            info("Test part: %s." % ", ".join("%s %.6g" % pair for pair in values.items()))
        run.save(data.served)


class Run:
    def __init__(self, tensorflow, arguments, metadata, model):
        self._tf, self._arguments, self._metadata, self._model = tensorflow, arguments, metadata, model
        self._metrics = Metrics()
        self._checkpoints = storage.join(arguments.job_dir, "checkpoints", os.environ.get("CLOUD_ML_JOB_ID", "local"))
        self.step, self.values = 0, {}
        self._checkpoint = tensorflow.train.Checkpoint(model=model.module)
        self._step_function = tensorflow.function(self._one_step)
        self._score_function = tensorflow.function(lambda numbers, codes: model.scores(numbers, codes, False))

    def _one_step(self, numbers, codes, targets):
        with self._tf.GradientTape(persistent=True) as tape:
            loss = self._model.training_loss(targets, self._model.scores(numbers, codes, True))
        self._model.apply(tape, loss)
        return loss

    def train(self, training, validation):
        steps = self._arguments.max_steps
        self._model.build(training)
        self._restore()
        batches = Batches(len(training), self._arguments.batch_size)
        every, last = max(steps // EVALUATIONS, 1), time.monotonic()
        while self.step < steps:
            rows = training.part(batches.at(self.step))
            loss = self._step_function(rows.numbers, rows.codes, rows.targets)
            self.step += 1
            is_due = time.monotonic() - last >= self._arguments.eval_frequency_secs
            if self.step % every and self.step < steps and not is_due:
                continue
            if not np.isfinite(float(loss)):
                raise Failure("The loss is %s after step %d. Lower --learning_rate." % (float(loss), self.step))
            last = time.monotonic()
            self.values = self.evaluate(validation, getattr(self._arguments, "eval_steps", 0))
            self._metrics.report(self.step, self.values)
            if self.step < steps:
                self._keep()
        if not self.values:
            self.values = self.evaluate(validation)

    def evaluate(self, rows, steps=0):
        """Loss and metrics. `steps`: of so many batches alone; 0: of all rows."""
        if steps:
            rows = rows.part(slice(0, steps * self._arguments.batch_size))
        found = [self._score_function(rows.numbers[i:i + EVALUATED_AT_ONCE], rows.codes[i:i + EVALUATED_AT_ONCE]).numpy()
                 for i in range(0, len(rows), EVALUATED_AT_ONCE)]
        scores = np.concatenate(found)
        values = {"loss": float(self._model.loss(rows.targets, self._tf.constant(scores)))}
        if self._metadata.classes:
            values["accuracy"] = float((scores.argmax(axis=1) == rows.targets).mean())
            if len(self._metadata.classes) == 2:
                values["auc"] = auc(scores[:, 1] - scores[:, 0], rows.targets == 1)
        else:
            values["rmse"] = float(np.sqrt(np.mean((scores[:, 0] - rows.targets) ** 2)))
        return values

    def _keep(self):
        with tempfile.TemporaryDirectory() as directory:
            self._checkpoint.write(os.path.join(directory, "state"))
            place = storage.join(self._checkpoints, "%08d" % self.step)
            for name in sorted(os.listdir(directory), key=lambda one: one.endswith(".index")):  # last: it completes them
                storage.upload(os.path.join(directory, name), storage.join(place, name))

    def _restore(self):
        whole = sorted(name.split("/")[0] for name in storage.names_below(self._checkpoints) if name.endswith(".index"))
        if not whole:
            return
        with tempfile.TemporaryDirectory() as directory:
            storage.fetch_tree(storage.join(self._checkpoints, whole[-1]), directory)
            self._checkpoint.read(os.path.join(directory, "state")).expect_partial()
        self.step = int(whole[-1])
        info("Continues after step %d, whose checkpoint exists." % self.step)

    def save(self, served):
        with tempfile.TemporaryDirectory() as directory:
            save_model(self._tf, self._model, served, directory)
            storage.upload_tree(directory, storage.join(self._arguments.job_dir, "model"))
        write_deployment(self._arguments.job_dir, "TENSORFLOW", self.step, self.values)
        storage.delete_tree(self._checkpoints)
        info("Saved the model to %s (TensorFlow %s)." % (storage.join(self._arguments.job_dir, "model/"),
                                                          self._tf.__version__))
