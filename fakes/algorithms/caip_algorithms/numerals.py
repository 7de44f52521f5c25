"""Numbers in cells, read eight digits at a time. The values are those of Python's float()."""
import numpy as np

DIGITS_EXACT = 15  # a double holds any integer of so many digits, and their quotient by a power of ten is exact
_BYTES = np.arange(9, dtype=np.uint64)
_KEPT = np.array([((1 << 64) - 1) << (8 * (8 - n)) & ((1 << 64) - 1) for n in range(9)], np.uint64)  # the last n bytes
_ZEROS = np.uint64(0x3030303030303030) & ~_KEPT
_POWERS = 10.0 ** np.arange(DIGITS_EXACT + 1)
POINT, MINUS, PLUS = b".-+"
_BEGINS = np.zeros(256, bool)  # the bytes with which a number begins
_BEGINS[list(b"0123456789.-+")] = True


def _u(number):
    return np.uint64(number)


def _eight(words, ends, lengths):
    """The values of the `lengths` (0 to 8) bytes before `ends`, and whether all are digits."""
    word = (words[ends - 8] & _KEPT[lengths]) | _ZEROS[lengths]
    word = word ^ _u(0x3030303030303030)
    good = ((word + _u(0x0606060606060606)) | word) & _u(0xF0F0F0F0F0F0F0F0) == 0
    word = (word * _u(2561)) >> _u(8)
    word = ((word & _u(0x00FF00FF00FF00FF)) * _u(6553601)) >> _u(16)
    word = ((word & _u(0x0000FFFF0000FFFF)) * _u(42949672960001)) >> _u(32)
    return word, good


def _digits(words, ends, lengths):
    """The same for up to 15 bytes, as doubles."""
    low, good = _eight(words, ends, np.minimum(lengths, 8))
    value = low.astype(np.float64)
    long = np.flatnonzero(lengths > 8)
    if len(long):
        high, high_good = _eight(words, ends[long] - 8, lengths[long] - 8)
        value[long] += high.astype(np.float64) * 1e8
        good[long] &= high_good
    return value, good


def digits_of(cells, column):
    """The values of a column whose cells have one digit each, such as a one-hot column; None for other columns."""
    starts, ends = cells.starts[:, column], cells.ends[:, column]
    if not (ends - starts == 1).all():
        return None
    digits = cells.bytes[starts] - np.uint8(ord("0"))
    return digits if (digits <= 9).all() else None


class Numerals:
    """A column of cells as numbers: `values` (NaN where a cell is blank or not a number), `wrong` (not blank,
    not a number) and `integral` (digits with or without a sign)."""

    def __init__(self, cells, column):
        starts, ends = cells.starts[:, column], cells.ends[:, column]
        present = starts < ends
        first = cells.bytes[starts]
        signed = present & ((first == MINUS) | (first == PLUS))
        lengths = ends - starts - signed
        short = (lengths > 0) & (lengths <= DIGITS_EXACT)
        self.values, good = _digits(cells.words, ends, np.where(short, lengths, 0))
        self.integral = short & good
        is_text = present & ~_BEGINS[first]
        others = np.flatnonzero(present & ~self.integral & ~is_text)
        if len(others):
            others = self._read_fractions(cells, others, starts + signed, ends)
        np.negative(self.values, out=self.values, where=signed & (first == MINUS))
        self.wrong = is_text
        self.values[~present | is_text] = np.nan
        for row in others:
            self._read_any(row, cells.raw(row, column))

    def _read_fractions(self, cells, rows, starts, ends):
        """Reads those of the cells that are digits with a point; returns the others."""
        points = np.flatnonzero(cells.bytes == POINT)
        if not len(points):
            return rows
        nearest = points[np.minimum(np.searchsorted(points, starts[rows]), len(points) - 1)]
        whole, part = nearest - starts[rows], ends[rows] - nearest - 1
        fit = (whole >= 0) & (part >= 0) & (whole + part > 0) & (whole + part <= DIGITS_EXACT)
        kept, nearest, whole, part = rows[fit], nearest[fit], whole[fit], part[fit]
        left, left_good = _digits(cells.words, nearest, whole)
        right, right_good = _digits(cells.words, ends[kept], part)
        good = left_good & right_good
        self.values[kept[good]] = ((left * _POWERS[part] + right) / _POWERS[part])[good]
        return np.concatenate([rows[~fit], kept[~good]])

    def _read_any(self, row, raw):
        """What is rare: exponents, many digits; `nan` and `inf` are texts."""
        value = np.nan
        if not raw.strip(b"0123456789+-.eE"):
            try:
                value = float(raw)
            except ValueError:
                pass
        self.values[row] = value
        self.wrong[row] = np.isnan(value)
        self.integral[row] = not np.isnan(value) and not raw.strip(b"0123456789+-")
