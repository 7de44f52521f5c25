"""The distinct texts of a column, found by 64-bit keys of the cells' bytes."""
import numpy as np

_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # the first n bytes of a word
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF, _SLOT_SHIFT = np.uint64(32), np.uint64(48)
UNKNOWN = -1


def _mixed(word):
    word = word * _FACTOR
    return word ^ (word >> _HALF)


def keys_of(cells, column):
    """A key for each cell, equal for equal bytes, the same in each process; 0 for a blank cell. Cells of up to
    eight bytes have different keys; longer ones have equal ones with a probability of 2**-64."""
    starts = cells.starts[:, column]
    lengths = cells.ends[:, column] - starts
    keys = _mixed(cells.words[starts] & _FIRST[np.minimum(lengths, 8)])
    done = 8
    rows = np.flatnonzero(lengths > done)
    while len(rows):
        more = cells.words[starts[rows] + done] & _FIRST[np.minimum(lengths[rows] - done, 8)]
        keys[rows] = _mixed(keys[rows] ^ _mixed(more + np.uint64(done)))
        done += 8
        rows = rows[lengths[rows] > done]
    return keys


class Categories:
    """Numbers the texts of a column in the order of their first rows, up to `most` of them."""

    def __init__(self, most):
        self.most = most
        self.texts = []
        self.overflowed = False
        self._codes = {}
        self._slots = np.full(1 << 16, UNKNOWN, np.int32)
        self._keys = np.zeros(1, np.uint64)  # by code; the last one belongs to no category
        self._closed = False

    @classmethod
    def of(cls, texts):
        """Those of a list, whose numbers are their places; others are UNKNOWN."""
        from .cells import PADDING, Cells, padded, quoted
        found = cls(len(texts))
        raw = [quoted(text) for text in texts]
        ends = np.cumsum(np.array([len(one) + 1 for one in raw], np.int64)) - 1 + PADDING
        cells = Cells(padded(b"".join(one + b"\n" for one in raw)), ends[:, None], 1)
        cells.starts, cells.ends = cells.raw_starts, cells.raw_ends
        for key, text in zip(keys_of(cells, 0).tolist(), texts):
            found._add(key, text)
        found._closed = True
        return found

    def codes(self, cells, column, keys=None):
        """The number of each cell's text; UNKNOWN for those above `most`."""
        keys = keys_of(cells, column) if keys is None else keys
        self._grow()
        codes = self._slots[keys >> _SLOT_SHIFT]
        strange = np.flatnonzero((codes == UNKNOWN) | (self._keys[codes] != keys))
        if len(strange):
            distinct, first, inverse = np.unique(keys[strange], return_index=True, return_inverse=True)
            found = [self._find(int(key), cells, strange[at], column) for key, at in zip(distinct, first)]
            codes[strange] = np.array(found, np.int32)[inverse.reshape(-1)]
        return codes

    def _find(self, key, cells, row, column):
        code = self._codes.get(key, UNKNOWN)
        if code != UNKNOWN or self._closed:
            return code
        if len(self.texts) >= self.most:
            self.overflowed = True
            return UNKNOWN
        return self._add(key, cells.text(row, column))

    def _add(self, key, text):
        code = self._codes[key] = len(self.texts)
        self.texts.append(text)
        slot = key >> 48
        if self._slots[slot] == UNKNOWN:
            self._slots[slot] = code
        return code

    def _grow(self):
        if len(self._keys) <= len(self.texts):
            self._keys = np.zeros(len(self.texts) + 1, np.uint64)
            self._keys[:-1] = np.fromiter(self._codes, np.uint64, len(self._codes))
