"""The rows of a table as processed files have them, and as the arrays that a trainer takes."""
import numpy as np

from .categories import UNKNOWN, Categories, keys_of
from .columns import not_a_number
from .metadata import MISSING, ONE_HOT_MAX
from .numerals import Numerals, digits_of
from .report import Failure


def number_text(value):
    return repr(float(value)).encode()


class Codes:
    """The numbers of the categories of one feature. `others`: that of a text that is not among them."""

    def __init__(self, feature):
        self.feature = feature
        self._categories = None if feature.hashed else Categories.of(feature.categories)
        self.others = feature.width
        self._blank = feature.categories.index(MISSING) if MISSING in feature.categories else self.others

    def of(self, cells, column):
        if self.feature.hashed:
            return (keys_of(cells, column) % np.uint64(ONE_HOT_MAX)).astype(np.int64)
        codes = self._categories.codes(cells, column).astype(np.int64)
        codes[codes == UNKNOWN] = self.others
        codes[cells.starts[:, column] == cells.ends[:, column]] = self._blank
        return codes


class Classes:
    """The numbers of the target's classes."""

    def __init__(self, classes):
        self.classes = classes
        self._categories = Categories.of(classes)

    def of(self, cells, rows, name):
        """Of these rows; -1 for the others."""
        codes = self._categories.codes(cells, 0)
        strange = np.flatnonzero(rows & (codes == UNKNOWN))
        if len(strange):
            raise Failure("%s, line %d, column 1: '%s' is not a class of the training data." % (
                name, cells.line(strange[0]), cells.text(strange[0], 0)[:40]))
        return codes


class RawRows:
    """Rows for the linear family: the cells as they are, without keys, blank ones filled."""

    def __init__(self, metadata):
        self._features = metadata.features
        used = {one.place for one in metadata.features}
        self._left_out = [i for i in range(1, metadata.columns) if i not in used]
        self._fills = [number_text(one.mean) if one.is_numeric else MISSING.encode() for one in metadata.features]

    def of(self, cells, rows, name):
        texts = cells.rows_without(self._left_out)
        blank = cells.missing()
        places = [one.place for one in self._features]
        for row in np.flatnonzero(rows & blank[:, places].any(axis=1)):
            filled = [fill if blank[row, place] else cells.raw(row, place) for place, fill in zip(places, self._fills)]
            texts[row] = b",".join([cells.raw(row, 0)] + filled)
        return [texts]


class EncodedRows:
    """Rows for XGBoost: the target's number, the numeric cells, and a 0 or 1 for each category."""

    def __init__(self, metadata):
        self._metadata = metadata
        self._numeric, self._categorical = metadata.numeric, metadata.categorical
        self._classes = Classes(metadata.classes) if metadata.classes else None
        self._class_texts = np.array([b"%d" % i for i in range(len(metadata.classes or []))] + [b""], object)
        kept = {one.place for one in self._numeric}
        self._left_out = [i for i in range(metadata.columns) if i not in kept and (i or self._classes)]
        self._codes = [Codes(one) for one in self._categorical]
        widths = [one.width for one in self._categorical]
        self._ones = [2 * sum(widths[:i]) + 1 for i in range(len(widths))]  # where the first one stands
        self._zeros = np.frombuffer(b",0" * sum(widths), np.uint8)

    def of(self, cells, rows, name):
        texts = cells.rows_without(self._left_out)
        self._fill(cells, rows, texts)
        ends = self._one_hot(cells)
        if not self._classes:
            return [texts, ends]
        return [self._class_texts[self._classes.of(cells, rows, name)], texts, ends]

    def _one_hot(self, cells):
        """The texts ",0,1,0" of the categories of each row. An unknown category has no 1."""
        if not len(self._zeros):
            return np.full(cells.count, b"")
        block = np.empty((cells.count, len(self._zeros)), np.uint8)
        block[:] = self._zeros
        flat, starts = block.reshape(-1), np.arange(cells.count) * len(self._zeros)
        for one, codes, place in zip(self._categorical, self._codes, self._ones):
            found = codes.of(cells, one.place)
            at = starts + (2 * found + place)
            flat[at if found.max() < one.width else at[found < one.width]] = ord("1")
        return block.view("S%d" % block.shape[1]).ravel()

    def features(self, cells, name):
        """The columns that the model takes, as numbers: those that `of` writes, without target and weight."""
        columns, fills = [], self._metadata.extra.get("preprocessed")
        for one in self._numeric:
            if one.place == 1 and self._metadata.extra.get("weighted"):
                continue
            values = numbers_of(cells, one.place, name, blanks_allowed=True)
            columns.append(np.where(np.isnan(values), one.mean if fills else np.nan, values)[:, None])
        columns += [np.eye(one.width + 1, one.width)[codes.of(cells, one.place)]
                    for one, codes in zip(self._categorical, self._codes)]
        return np.concatenate(columns, axis=1).astype(np.float32)

    def _fill(self, cells, rows, texts):
        if not self._numeric:
            return
        places = [one.place for one in self._numeric]
        blank = cells.missing()[:, places]
        for row in np.flatnonzero(rows & blank.any(axis=1)):
            filled = [number_text(one.mean) if blank[row, i] else cells.raw(row, one.place)
                      for i, one in enumerate(self._numeric)]
            texts[row] = b",".join([b"" if self._classes else cells.raw(row, 0)] + filled)


class Arrays:
    """Rows as arrays for the linear family: standardized numbers (float32), codes of categories (int32) and
    targets. A category that the training data lacks has the number after the last one."""

    def __init__(self, metadata):
        self._metadata = metadata
        self._codes = [Codes(one) for one in metadata.categorical]
        self._classes = Classes(metadata.classes) if metadata.classes else None

    def features(self, cells, name):
        numbers = [self._numbers(cells, one, name) for one in self._metadata.numeric]
        codes = [codes.of(cells, one.place) for one, codes in zip(self._metadata.categorical, self._codes)]
        return (np.stack(numbers, 1).astype(np.float32) if numbers else np.zeros((cells.count, 0), np.float32),
                np.stack(codes, 1).astype(np.int32) if codes else np.zeros((cells.count, 0), np.int32))

    def targets(self, cells, name):
        if self._classes:
            return self._classes.of(cells, np.ones(cells.count, bool), name)
        return numbers_of(cells, 0, name)

    @staticmethod
    def _numbers(cells, feature, name):
        values = numbers_of(cells, feature.place, name, blanks_allowed=True)
        values[np.isnan(values)] = feature.mean
        return (values - feature.mean) / feature.deviation


def numbers_of(cells, column, name, blanks_allowed=False):
    """The numbers of a column; a Failure names the first cell that is none."""
    digits = digits_of(cells, column)
    if digits is not None:
        return digits.astype(np.float64)
    numerals = Numerals(cells, column)
    wrong = numerals.wrong if blanks_allowed else numerals.wrong | np.isnan(numerals.values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise Failure(not_a_number(name, cells.line(row), column, cells.text(row, column)))
    return numerals.values
