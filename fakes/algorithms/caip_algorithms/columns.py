"""What the columns of a table hold: the target, a key, numbers or categories."""
import math

import numpy as np

from .categories import Categories
from .numerals import Numerals
from .report import Failure, listed

FEW = 10  # integers with so many distinct values at most are categories
VOCABULARY_MAX = 10000
SAMPLE = 1000
KEY, NUMERIC, CATEGORICAL = "key", "numeric", "categorical"


class Column:
    """One column, described by all rows of the training file and, for means and vocabularies, by its part for
    training."""

    def __init__(self, index, is_text=False, is_number=False, detects=True):
        self.index = index
        self.is_text = is_text          # categories, whatever the cells look like
        self.is_number = is_number      # numbers: other texts are errors
        self.detects = detects          # integers may be keys or categories
        self.missing = self.rows = 0
        self.first_wrong = None         # (line, text) of the first cell that is not a number
        self.wrong_after_first_row = False
        self.all_integral = True
        self.categories = Categories(VOCABULARY_MAX if is_text else FEW + 1)
        self.trained = np.zeros(0, np.int64)  # rows of the training part, by category
        self.total = self.squares = self.numbers = 0.0
        self._keys = []
        self._may_be_key = not is_text

    def take(self, cells, kept, trained, name):
        """Counts the rows of a block. `kept`: rows that are not dropped; `trained`: those of the training part.
        Returns False where the column is text and was read as numbers so far."""
        is_first = self.rows == 0
        blank = cells.starts[:, self.index] == cells.ends[:, self.index]
        self.rows += int(kept.sum())
        self.missing += int((blank & kept).sum())
        if not self.is_text:
            numerals = Numerals(cells, self.index)
            self._note_wrong(cells, numerals.wrong & kept, is_first, kept, name)
            if self.wrong_after_first_row:
                return False
            self._take_numbers(numerals, kept, trained)
        if self.is_text or (self.detects and self.all_integral and not self._is_many):
            self._take_categories(cells, kept, trained)
        return True

    @property
    def _is_many(self):
        return len([text for text in self.categories.texts if text]) > FEW

    def _note_wrong(self, cells, wrong, is_first, kept, name):
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        head = int(np.flatnonzero(kept)[0]) if is_first else -1
        if self.first_wrong is None:
            self.first_wrong = (cells.line(rows[0]), cells.text(rows[0], self.index))
        after = rows[rows != head]
        if len(after):
            self.wrong_after_first_row = True
            if self.is_number:
                raise Failure(not_a_number(name, cells.line(after[0]), self.index, cells.text(after[0], self.index)))

    def _take_numbers(self, numerals, kept, trained):
        known = kept & ~np.isnan(numerals.values)
        values = numerals.values[known & trained]
        self.total += float(values.sum())
        self.squares += float((values * values).sum())
        self.numbers += len(values)
        if not numerals.integral[known].all():
            self.all_integral = self._may_be_key = False
        if self._may_be_key:
            self._take_keys(numerals.values[known])

    def _take_keys(self, values):
        for some in (values[:SAMPLE], values):
            if self.missing or len(np.unique(some)) < len(some):
                self._may_be_key = False
                self._keys = []
                return
        self._keys.append(values)  # distinct in this block; `is_key` compares the blocks

    def _take_categories(self, cells, kept, trained):
        codes = self.categories.codes(cells, self.index)
        wanted = codes[kept & trained & (codes >= 0)]
        counts = np.bincount(wanted, minlength=len(self.categories.texts))
        counts[:len(self.trained)] += self.trained
        self.trained = counts

    def is_key(self):
        if not (self.detects and self._may_be_key and self._keys and not self.missing) or self.is_number:
            return False
        values = np.concatenate(self._keys)
        return len(np.unique(values)) == len(values)

    def kind(self):
        if self.is_text:
            return CATEGORICAL
        if self.is_number:
            return NUMERIC
        if self.is_key():
            return KEY
        if self.detects and self.all_integral and not self._is_many and self.rows > self.missing:
            return CATEGORICAL
        return NUMERIC

    def vocabulary(self):
        """The texts of the training part, sorted: by their values, if all are numbers."""
        counts = self.trained
        texts = [text for code, text in enumerate(self.categories.texts) if code < len(counts) and counts[code]]
        try:
            return sorted(texts, key=lambda text: (float(text), text))
        except ValueError:
            return sorted(texts)

    def mean(self):
        return self.total / self.numbers if self.numbers else 0.0

    def deviation(self):
        if not self.numbers:
            return 1.0
        variance = max(self.squares / self.numbers - self.mean() ** 2, 0.0)
        return math.sqrt(variance) or 1.0


def not_a_number(name, line, column, text):
    return "%s, line %d, column %d: '%s' is not a number. The column must hold numbers in all rows%s." % (
        name, line, column + 1, text[:40], "" if line > 1 else "; remove the line if it is a header")


def check_header(columns, name):
    """The first line is a header where it alone has texts in columns of numbers."""
    odd = [one for one in columns if one.first_wrong and not one.wrong_after_first_row and not one.is_text and
           (one.numbers or one.is_number)]
    if odd:
        line = odd[0].first_wrong[0]
        raise Failure("%s, line %d, column %d: the line is a header: '%s' stands in a column of numbers%s. Remove the line; "
                      "input files have no header." % (
                          name, line, odd[0].index + 1, odd[0].first_wrong[1][:40],
                          "" if len(odd) == 1 else " (also: columns %s)" % listed(str(one.index + 1) for one in odd[1:])))
