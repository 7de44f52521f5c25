"""Predictions of a model that a built-in algorithm has written: `train.py predict --model-dir=gs://...`."""
import json
import os
import sys
import tempfile

from . import storage
from .arguments import REQUIRED, Argument, parse
from .cells import read_cells
from .libraries import need
from .metadata import Metadata
from .report import Failure

FLAGS = [
    Argument("model_dir", str, REQUIRED, aliases=("model-dir",)),
    Argument("json_instances", str, "", aliases=("json-instances",)),
    Argument("text_instances", str, "", aliases=("text-instances",)),
]


class Instance:
    """A row of features without the target, and the key that the prediction gets."""

    def __init__(self, row, key):
        self.row, self.key = row, key


def _check(values):
    if bool(values.json_instances) == bool(values.text_instances):
        return ["Exactly one of --json-instances and --text-instances is required."]
    return []


def _from_json(line, name, number):
    try:
        value = json.loads(line)
    except ValueError as error:
        raise Failure("%s, line %d: the line is not JSON (%s). Write one instance a line." % (name, number, error))
    if isinstance(value, str):
        return Instance(value, None)
    if isinstance(value, dict) and isinstance(value.get("csv_row"), str):
        return Instance(value["csv_row"], value.get("key"))
    raise Failure('%s, line %d: an instance is {"csv_row": "FEATURES", "key": "TEXT"}, or the text of the row alone.' % (
        name, number))


def _instances(values):
    name = values.json_instances or values.text_instances
    if name == "-":
        lines = sys.stdin.read().splitlines()
    else:
        text = storage.read(name)
        if text is None:
            raise Failure("%s does not exist. Name a file with one instance a line." % name)
        lines = text.decode().splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise Failure("%s has no instances. Write one instance a line." % name)
    if values.text_instances:
        return [Instance(line, None) for _, line in numbered]
    return [_from_json(line, name, number) for number, line in numbered]


def _xgboost_outputs(directory, instances, metadata):
    from .encoding import EncodedRows
    xgboost = need("xgboost")
    path = os.path.join(directory, "rows.csv")
    before = ",1," if metadata.extra.get("weighted") else ","
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(before + instance.row + "\n" for instance in instances))
    rows = EncodedRows(metadata)
    features = [rows.features(cells, "the instances") for cells in read_cells(path, "the instances", metadata.columns)]
    booster = xgboost.Booster()
    with open(os.path.join(directory, "model", "model.bst"), "rb") as file:
        booster.load_model(bytearray(file.read()))
    import numpy as np
    predicted = booster.predict(xgboost.DMatrix(np.concatenate(features)))
    return [_xgboost_output(value, metadata) for value in predicted.tolist()]


def _xgboost_output(value, metadata):
    objective, classes = metadata.extra["objective"], metadata.classes
    if objective == "multi:softmax":
        return {"classes": classes[int(value)] if classes else int(value)}
    if not objective.startswith(("binary:", "multi:")):
        return {"predictions": value}
    scores = value if isinstance(value, list) else [1 - value, value]
    if objective == "binary:logitraw":
        scores = [-value, value]
    best = max(range(len(scores)), key=scores.__getitem__)
    return {"classes": classes[best] if classes else best, "scores": scores}


def _tensorflow_outputs(directory, instances):
    tensorflow = need("tensorflow")
    model = tensorflow.saved_model.load(os.path.join(directory, "model"))
    rows = tensorflow.constant([instance.row for instance in instances])
    keys = tensorflow.constant([instance.key or "" for instance in instances])
    found = model.signatures["serving_default"](csv_row=rows, key=keys)
    columns = {name: value.numpy().tolist() for name, value in found.items() if name != "key"}
    outputs = [dict(zip(columns, values)) for values in zip(*columns.values())]
    for output in outputs:
        if isinstance(output.get("classes"), bytes):
            output["classes"] = output["classes"].decode()
    return outputs


def predict(words):
    """Prints {"predictions": [...]}, in the order of the instances."""
    values = parse(words, FLAGS, _check)
    instances = _instances(values)
    metadata = Metadata.of_model(values.model_dir)
    with tempfile.TemporaryDirectory() as directory:
        storage.fetch_tree(values.model_dir, os.path.join(directory, "model"))
        if os.path.exists(os.path.join(directory, "model", "model.bst")):
            outputs = _xgboost_outputs(directory, instances, metadata)
        elif os.path.exists(os.path.join(directory, "model", "saved_model.pb")):
            outputs = _tensorflow_outputs(directory, instances)
        else:
            raise Failure("%s has no model: neither model.bst nor saved_model.pb exists there." % values.model_dir)
    for instance, output in zip(instances, outputs):
        if instance.key is not None:
            output["key"] = instance.key
    print(json.dumps({"predictions": outputs}, indent=2))
