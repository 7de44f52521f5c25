"""What a model needs to know about its columns: written to artifacts/metadata.json, read by predictions."""
import json
import posixpath

from . import storage
from .columns import CATEGORICAL, NUMERIC
from .report import Failure

FILE = "artifacts/metadata.json"
MISSING = "missing"  # the category of blank cells
ONE_HOT_MAX = 100  # categories; a column with more is hashed into as many columns


class Feature:
    """A column that the model uses. `place`: its number in the input, the target being 0."""

    def __init__(self, place, kind, mean=0.0, deviation=1.0, categories=None, hashed=False):
        self.place, self.kind = place, kind
        self.mean, self.deviation = mean, deviation
        self.categories = categories or []
        self.hashed = hashed
        self.power, self.center, self.spread = None, 0.0, 1.0  # of TabNet's transformation (tabnet.transform)

    @property
    def is_numeric(self):
        return self.kind == NUMERIC

    @property
    def width(self):
        """The number of columns after one-hot encoding."""
        if self.is_numeric:
            return 1
        return ONE_HOT_MAX if self.hashed else len(self.categories)


class Metadata:
    """The columns of the input and the classes of the target (None: regression). `encoded`: the processed files
    hold numbers alone, the numeric columns first, then the one-hot columns."""

    def __init__(self, columns, features, classes, encoded, extra=None):
        self.columns, self.features, self.classes, self.encoded = columns, features, classes, encoded
        self.extra = extra or {}

    @property
    def numeric(self):
        return [one for one in self.features if one.is_numeric]

    @property
    def categorical(self):
        return [one for one in self.features if not one.is_numeric]

    def of_processed_files(self):
        """The same columns where RawRows has left out those that are not used."""
        features = [Feature(i + 1, one.kind, one.mean, one.deviation, one.categories, one.hashed)
                    for i, one in enumerate(self.features)]
        return Metadata(len(features) + 1, features, self.classes, self.encoded, self.extra)

    def to_json(self):
        features = []
        for one in self.features:
            feature = {"column": one.place + 1, "kind": one.kind}
            if one.is_numeric:
                feature.update(mean=one.mean, standard_deviation=one.deviation)
            else:
                feature.update(categories=one.categories, hashed=one.hashed)
            features.append(feature)
        return json.dumps(dict(self.extra, columns=self.columns, classes=self.classes, encoded=self.encoded,
                               features=features), indent=1)

    @classmethod
    def from_json(cls, text):
        known = json.loads(text)
        features = [Feature(one["column"] - 1, one["kind"], one.get("mean", 0.0), one.get("standard_deviation", 1.0),
                            one.get("categories"), one.get("hashed", False)) for one in known.pop("features")]
        return cls(known.pop("columns"), features, known.pop("classes"), known.pop("encoded"), known)

    @classmethod
    def of_model(cls, directory, shown):
        """`directory`: model/ of a job directory; `shown`: how people call it."""
        text = storage.read(_beside(directory))
        if text is None:
            raise Failure("%s does not exist. Name the model/ directory that a built-in algorithm has written." %
                          _beside(shown))
        return cls.from_json(text)


def _beside(directory):
    return posixpath.join(posixpath.dirname(directory.rstrip("/")), FILE)


def metadata_of(table, encoded, extra):
    """From a scanned table (scanning.Table)."""
    features = []
    for i in table.features:
        column = table.columns[i]
        if table.kinds[i] == NUMERIC:
            features.append(Feature(i, NUMERIC, column.mean(), column.deviation()))
            continue
        texts = sorted({text or MISSING for text in column.vocabulary()})
        hashed = encoded and (len(texts) > ONE_HOT_MAX or column.categories.overflowed)
        features.append(Feature(i, CATEGORICAL, categories=[] if hashed else texts, hashed=hashed))
    return Metadata(len(table.columns), features, table.classes, encoded, extra)
