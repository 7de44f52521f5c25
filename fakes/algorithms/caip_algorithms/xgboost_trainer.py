"""XGBoost on one replica (boosted_trees)."""
import os
import tempfile

import numpy as np

from . import storage
from .cells import BLOCK
from .cluster import Cluster
from .data import prepare
from .libraries import need
from .columns import NUMERIC
from .matrix import TargetRule, blocks, whole
from .metadata import FILE, Feature, Metadata
from .outcome import Metrics, write_deployment
from .report import Failure, info
from .scanning import size_of
from .xgboost_arguments import is_classification, parameters

EVALUATIONS = 10  # of a run, with a checkpoint each
WHOLE_MAX = 1 << 28  # numbers of a table that is given to XGBoost as a whole; a larger one comes block by block
HIGHER_IS_BETTER = ("auc", "aucpr")


def train(arguments):
    need("numpy")
    xgboost = need("xgboost")
    Cluster().check_single("XGBoost (boosted_trees)", gpus=False)
    with tempfile.TemporaryDirectory() as directory:
        extra = {"algorithm": "boosted_trees", "objective": arguments.objective, "weighted": bool(arguments.csv_weight)}
        data = prepare(arguments, directory, is_classification(arguments), True, extra)
        training = Training(xgboost, arguments, class_count(arguments, data.metadata.classes))
        learned = training.matrix(data.parts.training, "training part")
        training.run(learned, training.matrix(data.parts.validation or data.parts.training, "validation part"))
        if data.parts.test:
            training.test(training.matrix(data.parts.test, "test part"))
        training.save()


def class_count(arguments, classes):
    """How many numbers the target may have; 0: it is not a class. `classes`: those of the preprocessed data."""
    if not is_classification(arguments):
        return 0
    count = arguments.num_class or 2
    if classes and len(classes) > count:
        raise Failure("%s, column 1: the target has %d classes (%s), but --objective=%s%s has %d." % (
            arguments.training_data_path, len(classes), ", ".join(classes[:6]), arguments.objective,
            " with --num_class=%d" % count if arguments.num_class else "", count))
    return count


def default_metrics(objective):
    if objective.startswith("binary:"):
        return ["logloss", "error", "auc"]
    if objective.startswith("multi:"):
        return ["mlogloss", "merror"]
    return {"reg:logistic": ["logloss", "rmse"], "reg:gamma": ["gamma-nloglik", "rmse"]}.get(objective, ["rmse"])


class Training:
    """A model while it is trained. `share`: (replica, replicas); the first one logs, reports and saves."""

    def __init__(self, xgboost, arguments, classes, share=(0, 1)):
        self._xgboost, self._arguments, self._classes = xgboost, arguments, classes
        self._share, self._leads = share, share[0] == 0
        self._parameters = parameters(arguments)
        self._parameters.setdefault("eval_metric", default_metrics(arguments.objective))
        self._metrics = Metrics()
        self._booster, self.step, self.values = None, 0, {}
        self._cuts = None  # the histograms of the training part, if it is streamed
        self._best, self._best_step = None, 0
        self._checkpoints = storage.join(arguments.job_dir, "checkpoints", os.environ.get("CLOUD_ML_JOB_ID", "local"))

    def matrix(self, sources, part):
        rule = TargetRule(self._arguments.objective, self._classes)
        weighted = bool(self._arguments.csv_weight)
        found = self._blocks_of(sources, rule, weighted)
        if found is None:
            return self._stream(sources, rule, weighted)
        one = whole(found, part)
        if self._classes and part == "training part" and self._share[1] == 1 and len(np.unique(one.target)) < 2:
            raise Failure("%s, line 1, column 1: the target is %g in all rows. Classification needs at least two classes." % (
                sources[0].name, one.target[0]))
        return self._xgboost.DMatrix(one.features, label=one.target, weight=one.weight)

    def _blocks_of(self, sources, rule, weighted):
        """All blocks, or None where they are too large together and XGBoost can take them one by one."""
        by_histogram = self._arguments.tree_method in ("auto", "hist", "gpu_hist") and self._arguments.booster != "gblinear"
        can_stream = by_histogram and hasattr(self._xgboost, "QuantileDMatrix")
        found = []
        for block in blocks(sources, rule, weighted, self._share):
            if not found and can_stream and block.features.size * (size_of(sources) / BLOCK) > WHOLE_MAX:
                return None
            found.append(block)
        return found

    def _stream(self, sources, rule, weighted):
        """A matrix of histograms, which needs a fraction of the memory."""
        info("The table is large: XGBoost reads it block by block.")

        share = self._share

        class Iterator(self._xgboost.DataIter):
            def __init__(self):
                super().__init__()
                self.reset()

            def reset(self):
                self._left = blocks(sources, rule, weighted, share)

            def next(self, input_data):
                block = next(self._left, None)
                if block is None:
                    return 0
                given = {"data": block.features, "label": block.target}
                input_data(**given, **({} if block.weight is None else {"weight": block.weight}))
                return 1
        made = self._xgboost.QuantileDMatrix(Iterator(), max_bin=self._arguments.max_bin, ref=self._cuts)
        self._cuts = self._cuts or made
        return made

    def run(self, training, validation):
        """Trains all rounds, from the last checkpoint on."""
        rounds = self._arguments.num_boost_round
        self._booster = self._xgboost.Booster(self._parameters, [training, validation])
        self._restore()
        every = max(rounds // EVALUATIONS, 1)
        try:
            while self.step < rounds:
                self._booster.update(training, self.step)
                self.step += 1
                if self.step % every == 0 or self.step == rounds or self._arguments.early_stopping_rounds:
                    self.values = self._evaluate(validation)
                    if self._leads:
                        self._metrics.report(self.step, self.values)
                        self._keep(rounds)
                    if self._is_done():
                        break
        except self._xgboost.core.XGBoostError as error:
            raise Failure("XGBoost stops: %s" % str(error).strip().splitlines()[0])

    def _evaluate(self, matrix):
        text = self._booster.eval_set([(matrix, "part")], self.step)
        values = {}
        for pair in text.split("\t")[1:]:
            name, _, value = pair.partition(":")
            values[name.partition("-")[2]] = float(value)
        values["loss"] = next(iter(values.values()))
        if self._classes:
            values["accuracy"] = self._accuracy(matrix)
        return values

    def _accuracy(self, matrix):
        predicted = self._booster.predict(matrix)
        if predicted.ndim == 2:
            predicted = predicted.argmax(axis=1)
        elif not self._arguments.num_class:
            predicted = predicted > (0 if self._arguments.objective == "binary:logitraw" else 0.5)
        hits = np.array([(predicted == matrix.get_label()).sum(), len(predicted)], np.float64)
        if self._share[1] > 1:
            hits = self._xgboost.collective.allreduce(hits, self._xgboost.collective.Op.SUM)
        return float(hits[0] / hits[1])

    def _is_done(self):
        """Whether the last metric has not become better for --early_stopping_rounds."""
        patience = self._arguments.early_stopping_rounds
        if not patience:
            return False
        names = [name for name in self.values if name not in ("loss", "accuracy")]
        value = self.values[names[-1]] * (-1 if names[-1] in HIGHER_IS_BETTER else 1)
        if self._best is None or value < self._best:
            self._best, self._best_step = value, self.step
        if self.step - self._best_step < patience:
            return False
        info("Stopped after round %d: %s has not become better since round %d." % (self.step, names[-1], self._best_step))
        return True

    def _keep(self, rounds):
        """A checkpoint, for a replica that restarts."""
        if self.step < rounds:
            storage.upload_bytes(bytes(self._booster.save_raw()), storage.join(self._checkpoints, "%08d" % self.step))

    def _restore(self):
        names = sorted(storage.names_below(self._checkpoints))
        if not names:
            return
        self._booster.load_model(bytearray(storage.read(storage.join(self._checkpoints, names[-1]))))
        for name, value in self._parameters.items():
            self._booster.set_param([(name, one) for one in (value if isinstance(value, list) else [value])])
        self.step = int(names[-1])
        info("Continues after round %d, whose checkpoint exists." % self.step)

    def test(self, matrix):
        values = self._evaluate(matrix)
        info("Test part: %s." % ", ".join("%s %.6g" % pair for pair in values.items()))

    def save_metadata(self, path):
        """Where the data is not preprocessed: all columns are numbers."""
        before = 1 + self._arguments.csv_weight  # columns before the features
        features = [Feature(before + i, NUMERIC) for i in range(self._booster.num_features())]
        extra = {"algorithm": "xgboost_dist", "objective": self._arguments.objective, "data": path,
                 "preprocessed": False, "weighted": bool(self._arguments.csv_weight)}
        storage.upload_text(Metadata(before + len(features), features, None, True, extra).to_json(),
                            storage.join(self._arguments.job_dir, FILE))

    def save(self):
        directory = storage.join(self._arguments.job_dir, "model")
        form = "ubj" if hasattr(self._xgboost, "QuantileDMatrix") else "deprecated"
        storage.upload_bytes(bytes(self._booster.save_raw(form)), storage.join(directory, "model.bst"))
        write_deployment(self._arguments.job_dir, "XGBOOST", self.step, self.values)
        storage.delete_tree(self._checkpoints)
        info("Saved the model to %s (XGBoost %s writes %s, which XGBoost 0.81 cannot read)." % (
            storage.join(directory, "model.bst"), self._xgboost.__version__, "UBJSON" if form == "ubj" else "its old form"))
