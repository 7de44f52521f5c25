"""Which part of the data each row belongs to: training, validation, test, or none."""
import numpy as np

TRAINING, VALIDATION, TEST, DROPPED = 0, 1, 2, 3
NAMES = ("training", "validation", "test")
SEED = 1
MISSING_MAX = 0.1  # of a row's columns


class Splitter:
    """Assigns the rows of a file, block by block: the same rows get the same parts in each pass. The shares are
    exact over all rows so far, and the rows of each part are chosen at random with seed 1."""

    def __init__(self, validation_share, test_share, drops):
        self._shares = (validation_share, test_share)
        self._drops = drops
        self._random = np.random.RandomState(SEED)
        self._kept, self._given = 0, [0, 0]
        self.dropped = self.targetless = 0
        self.first_dropped = None  # the line of the first row without a part, and its first blank column, from 1 on

    def parts(self, cells):
        missing = cells.missing()
        parts = np.zeros(cells.count, np.int8)
        if self._drops:
            too_many = missing.sum(axis=1) > MISSING_MAX * cells.columns
            self.dropped += int(too_many.sum())
            parts[too_many] = DROPPED
        targetless = missing[:, 0] & (parts != DROPPED)
        self.targetless += int(targetless.sum())
        parts[targetless] = DROPPED
        if self.first_dropped is None and (parts == DROPPED).any():
            row = int(np.flatnonzero(parts == DROPPED)[0])
            self.first_dropped = (cells.line(row), int(np.flatnonzero(missing[row])[0]) + 1)
        rows = np.flatnonzero(parts == TRAINING)
        self._kept += len(rows)
        drawn = np.zeros(len(rows), np.int8)
        at = 0
        for i, part in enumerate((VALIDATION, TEST)):
            wanted = min(int(self._kept * self._shares[i] + 0.5) - self._given[i], len(rows) - at)
            drawn[at:at + wanted] = part
            self._given[i] += wanted
            at += wanted
        self._random.shuffle(drawn)
        parts[rows] = drawn
        return parts
