"""Predictions of a model that a built-in algorithm has written: `train.py predict --model-dir=DIRECTORY ...`. The texts
about files of instances are gcloud's (command_lib/ml_engine/predict_utilities.py)."""
import base64
import binascii
import csv
import json
import os
import sys
import tempfile

from .arguments import REQUIRED, Argument, parse
from .cells import read_cells
from .libraries import need
from .metadata import Metadata
from .report import Failure

FLAGS = [
    Argument("model_dir", str, REQUIRED, aliases=("model-dir",)),
    Argument("shown_as", str, "", aliases=("shown-as",)),  # the model's directory, as people call it
    Argument("framework", str, ""),
    Argument("signature_name", str, "", aliases=("signature-name",)),
    Argument("json_request", str, "", aliases=("json-request",)),
    Argument("json_instances", str, "", aliases=("json-instances",)),
    Argument("text_instances", str, "", aliases=("text-instances",)),
]
SERVING = "serving_default"
_NO_REASONS = ("Graph execution error", "Detected at", "<stack traces", "\t")  # begin the other lines of TensorFlow's error
NOT_JSON = "Input instances are not in JSON format. See \"caip local predict --help\" for details."


class Instance:
    """`data`: a row of features without the target, or the bytes of an image. `key`: what the prediction gets."""

    def __init__(self, data, key):
        self.data, self.key = data, key


def _read(name):
    try:
        if name == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        with open(name, encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure("Unable to read file [%s]: %s" % (name, error))


def _requested(text):
    try:
        request = json.loads(text)
    except ValueError:
        raise Failure(NOT_JSON)
    if not isinstance(request, dict) or "instances" not in request:
        raise Failure('Invalid JSON request: missing "instances" attribute')
    if not isinstance(request["instances"], list):
        raise Failure('Invalid JSON request: "instances" must be a list')
    return request["instances"]


def _lines(text, is_json):
    lines = text.split("\n")
    values = []
    for line in (line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines)):
        if not line:
            raise Failure("Empty line is not allowed in the instances file.")
        try:
            values.append(json.loads(line) if is_json else line)
        except ValueError:
            raise Failure(NOT_JSON)
    return values


def _values(flags):
    """The instances of the one file that the flags name, as JSON values."""
    if flags.json_request:
        values = _requested(_read(flags.json_request))
    else:
        values = _lines(_read(flags.json_instances or flags.text_instances), bool(flags.json_instances))
    if not values:
        raise Failure("No valid instance was found in input file.")
    return values


def _row(value, number):
    if isinstance(value, str):
        return Instance(value, None)
    if isinstance(value, dict) and isinstance(value.get("csv_row"), str):
        return Instance(value["csv_row"], value.get("key"))
    raise Failure('Instance %d is not a row. An instance is {"csv_row": "FEATURES", "key": "TEXT"}, or the text of the row '
                  'alone.' % number)


def _image(value, number):
    try:
        return Instance(base64.b64decode(value["image_bytes"]["b64"], validate=True), value.get("key"))
    except (TypeError, KeyError, binascii.Error):
        raise Failure('Instance %d is not an image. An instance is {"image_bytes": {"b64": "BYTES"}, "key": "TEXT"}, where '
                      'BYTES are the base64 of an image file.' % number)


def _instances(values, read):
    return [read(value, number) for number, value in enumerate(values, 1)]


def _check_width(instances, width):
    for number, instance in enumerate(instances, 1):
        found = sum(len(row) for row in csv.reader([instance.data])) if "\n" not in instance.data else 0
        if found != width:
            raise Failure("Instance %d has %s, but the model takes %d features: the columns of the training data without the "
                          "target." % (number, "%d features" % found if found else "a line break", width))


def _xgboost_outputs(model_dir, instances, metadata):
    from .encoding import EncodedRows
    xgboost = need("xgboost")
    before = ",1," if metadata.extra.get("weighted") else ","
    _check_width(instances, metadata.columns - 1 - before.count("1"))
    rows = EncodedRows(metadata)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write("".join(before + instance.data + "\n" for instance in instances))
        file.flush()
        features = [rows.features(cells, "the instances")
                    for cells in read_cells(file.name, "the instances", metadata.columns)]
    booster = xgboost.Booster()
    with open(os.path.join(model_dir, "model.bst"), "rb") as file:
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


def _signature(model, name, shown):
    if name not in model.signatures:
        raise Failure("%s has no signature '%s'. Use %s." % (shown, name, " or ".join(sorted(model.signatures))))
    return model.signatures[name]


def _tensorflow_outputs(flags, shown):
    tensorflow = need("tensorflow")
    signature = _signature(tensorflow.saved_model.load(flags.model_dir), flags.signature_name or SERVING, shown)
    takes_images = "image_bytes" in signature.structured_input_signature[1]
    instances = _instances(_values(flags), _image if takes_images else _row)
    if not takes_images:
        _check_width(instances, Metadata.of_model(flags.model_dir, shown).columns - 1)
    data = tensorflow.constant([instance.data for instance in instances])
    keys = tensorflow.constant(["" for _ in instances])
    try:
        found = signature(**{"image_bytes" if takes_images else "csv_row": data}, key=keys)
    except tensorflow.errors.InvalidArgumentError as error:
        reasons = [line for line in error.message.splitlines() if line and not line.startswith(_NO_REASONS)]
        raise Failure("TensorFlow refuses the instances: %s." % (reasons or [error.message])[0])
    columns = {name: value.numpy().tolist() for name, value in found.items() if name != "key"}
    outputs = [dict(zip(columns, values)) for values in zip(*columns.values())]
    for output in outputs:
        if isinstance(output.get("classes"), bytes):
            output["classes"] = output["classes"].decode()
    return instances, outputs


def _framework(flags, shown):
    """That of the model's files, which --framework may not contradict."""
    files = {"xgboost": "model.bst", "tensorflow": "saved_model.pb"}
    found = [name for name, file in files.items() if os.path.exists(os.path.join(flags.model_dir, file))]
    if not found:
        raise Failure("%s has no model: neither model.bst nor saved_model.pb exists there. Name the model/ directory that a "
                      "built-in algorithm has written." % shown)
    if flags.framework not in ("", found[0]):
        raise Failure("--framework=%s does not fit %s, whose model is of %s." % (flags.framework, shown, found[0]))
    if flags.signature_name and found[0] == "xgboost":
        raise Failure("--signature-name=%s has no use with a model of XGBoost. Remove it." % flags.signature_name)
    return found[0]


def predict(words):
    """Prints {"predictions": [...]}, in the order of the instances."""
    flags = parse(words, FLAGS)
    shown = flags.shown_as or flags.model_dir
    if _framework(flags, shown) == "xgboost":
        metadata = Metadata.of_model(flags.model_dir, shown)
        instances = _instances(_values(flags), _row)
        outputs = _xgboost_outputs(flags.model_dir, instances, metadata)
    else:
        instances, outputs = _tensorflow_outputs(flags, shown)
    for instance, output in zip(instances, outputs):
        if instance.key is not None:
            output["key"] = instance.key
    print(json.dumps({"predictions": outputs}))
