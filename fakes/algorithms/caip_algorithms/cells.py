"""The cells of a CSV file, as positions in blocks of its bytes. NumPy finds them without a loop over rows."""
import csv
import io

import numpy as np

from .report import Failure

BLOCK = 1 << 20  # its arrays fit into the caches of a core
LINE_MAX = 64 << 20
PADDING = 16  # bytes before and after a block, so that words around a cell can be read
COMMA, NEWLINE, BLANK = b",\n "
UTF8_MARK = b"\xef\xbb\xbf"


class Cells:
    """Some whole rows of a file. Row `i`, column `j` is data[starts[i, j]:ends[i, j]]; blanks around it
    are left out. A cell that needs quotation marks has them."""

    def __init__(self, block, starts, ends, lines):
        self.data = b"\n" * PADDING + block + b"\n" * PADDING
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.words = np.ndarray((len(self.data) - 7,), "<u8", self.data, strides=(1,))  # at each position
        self.starts, self.ends = starts + PADDING, ends + PADDING
        self.raw_starts, self.raw_ends = self.starts, self.ends
        self.lines = lines  # the number of the first line, or of each row's
        self.size = len(block)
        self._trim(block)

    @property
    def count(self):
        return len(self.starts)

    @property
    def columns(self):
        return self.starts.shape[1]

    def line(self, row):
        return _line_of(self.lines, int(row))

    def raw(self, row, column):
        return self.data[self.starts[row, column]:self.ends[row, column]]

    def text(self, row, column):
        return text_of(self.raw(row, column))

    def missing(self):
        """Whether each cell is blank."""
        return self.starts == self.ends

    def rows_without(self, columns):
        """The rows as bytes, without the cells of these columns and the commas before them; of column 0
        only the cell is left out."""
        kept = [j for j in range(self.columns) if j not in columns]
        firsts = [j for j in columns if j - 1 not in columns]
        lasts = [j for j in columns if j + 1 not in columns]
        intervals = [(self.ends[:, i - 1] if i else self.raw_starts[:, 0], self.raw_ends[:, j])
                     for i, j in zip(sorted(firsts), sorted(lasts))]
        if self.raw_starts is not self.starts:
            intervals += [(self.raw_starts[:, j], self.starts[:, j]) for j in kept]
            intervals += [(self.ends[:, j], self.raw_ends[:, j]) for j in kept if j + 1 not in columns]
        rows = self._bytes_without(intervals).split(b"\n")[:-1]
        if len(rows) == self.count:
            return rows
        cells = [[self.raw(i, j) for j in kept] for i in range(self.count)]  # some have line ends in them
        return [b",".join([b""] + row if 0 in columns else row) for row in cells]

    def _bytes_without(self, intervals):
        """The block without these intervals, which do not overlap."""
        if not intervals:
            return self.data[PADDING:PADDING + self.size]
        change = np.zeros(len(self.data) + 1, np.int8)
        for begin, end in intervals:
            change[begin] += 1
            change[end] -= 1
        keep = np.cumsum(change[PADDING:PADDING + self.size], dtype=np.int8) == 0
        return self.bytes[PADDING:PADDING + self.size][keep].tobytes()

    def _trim(self, block):
        if b" " not in block:
            return
        self.starts, self.ends = self.starts.copy(), self.ends.copy()
        while True:
            before = (self.bytes[self.starts] == BLANK) & (self.starts < self.ends)
            self.starts += before
            after = (self.bytes[self.ends - 1] == BLANK) & (self.starts < self.ends)
            self.ends -= after
            if not (before.any() or after.any()):
                return


def text_of(raw):
    """The text of a cell's bytes."""
    if raw.startswith(b'"'):
        raw = raw[1:-1].replace(b'""', b'"')
    return raw.decode()


def quoted(text):
    """The bytes of a cell with this text."""
    if any(mark in text for mark in ',"\n\r') or text != text.strip(" "):
        text = '"%s"' % text.replace('"', '""')
    return text.encode()


def read_cells(local, name, columns=None):
    """The Cells of a local CSV file, block by block. `name` is what people call the file."""
    rest, line = b"", 1
    with open(local, "rb") as file:
        while True:
            data = file.read(BLOCK)
            is_last = len(data) < BLOCK
            if line == 1 and not rest and data.startswith(UTF8_MARK):
                data = data[len(UTF8_MARK):]
            block = rest + data
            if not block:
                return
            if is_last and not block.endswith(b"\n"):
                block += b"\n"
            cut = len(block) if is_last else _end_of_rows(block)
            if cut == 0:
                _refuse_endless(block, name, line)
            rest, block = block[cut:], block[:cut]
            lines = block.count(b"\n")
            cells = _split(block, name, line, columns) if block else None
            if cells is not None:
                columns = cells.columns
                yield cells
            line += lines


def _end_of_rows(block):
    """Where the last whole row ends. A line end between quotation marks is part of a cell."""
    at = len(block)
    has_quotes = b'"' in block
    while True:
        at = block.rfind(b"\n", 0, at)
        if at < 0 or not has_quotes or block.count(b'"', 0, at) % 2 == 0:
            return at + 1


def _refuse_endless(block, name, line):
    if len(block) < LINE_MAX:
        return
    reason = "has a quotation mark that is never closed" if b'"' in block else "is longer than 64 MiB"
    raise Failure("%s, line %d: the row %s. The file must be CSV with one row a line." % (name, line, reason))


def _line_of(lines, row):
    return lines[row] if isinstance(lines, list) else lines + row


def _marks_of(block):
    """Where the cells end, and the number of cells in each row."""
    data = np.frombuffer(block, np.uint8)
    marks = np.flatnonzero((data == COMMA) | (data == NEWLINE))
    return marks, np.diff(np.flatnonzero(data[marks] == NEWLINE), prepend=-1)


def _split(block, name, lines, columns):
    """The cells of whole rows. `lines` is the number of the first line, or a list with that of each."""
    _check_text(block, name, lines)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if b'"' in block:
        return _split_quoted(block, name, lines, columns)
    marks, widths = _marks_of(block)
    if (widths == 1).any():
        kept = [(lines + i, row) for i, row in enumerate(block.split(b"\n")[:-1]) if row]  # blank lines are left out
        block, lines = b"".join(row + b"\n" for _, row in kept), [line for line, _ in kept]
        if not kept:
            return None
        marks, widths = _marks_of(block)
    columns = columns or int(widths[0])
    wrong = np.flatnonzero(widths != columns)
    if len(wrong):
        _refuse_ragged(name, _line_of(lines, int(wrong[0])), int(widths[wrong[0]]), columns)
    ends = marks.reshape(-1, columns)
    starts = np.empty_like(ends)
    starts[:, 1:] = ends[:, :-1] + 1
    starts[0, 0] = 0
    starts[1:, 0] = ends[:-1, -1] + 1
    return Cells(block, starts, ends, lines)


def _split_quoted(block, name, first_line, columns):
    """The slow way, for cells with commas and line ends in them."""
    cells, lines, before = [], [], 0
    reader = csv.reader(io.StringIO(block.decode(), newline=""), skipinitialspace=True)
    try:
        for row in reader:
            line, before = first_line + before, reader.line_num
            if not row:
                continue
            columns = columns or len(row)
            if len(row) != columns:
                _refuse_ragged(name, line, len(row), columns)
            cells += [quoted(text.strip(" ")) for text in row]
            lines.append(line)
    except csv.Error as error:
        raise Failure("%s, line %d: the row is not valid CSV: %s." % (name, first_line + before, error))
    if not lines:
        return None
    lengths = np.array([len(cell) for cell in cells], np.int64)
    ends = np.cumsum(lengths + 1) - 1
    rows = [b",".join(cells[i:i + columns]) for i in range(0, len(cells), columns)]
    return Cells(b"\n".join(rows) + b"\n", (ends - lengths).reshape(-1, columns), ends.reshape(-1, columns), lines)


def _refuse_ragged(name, line, width, columns):
    raise Failure("%s, line %d: the row has %d columns, but the first row has %d. Every row needs the same columns; a "
                  "cell with a comma needs quotation marks." % (name, line, width, columns))


def _check_text(block, name, line):
    if block.isascii():
        return
    try:
        block.decode()
    except UnicodeDecodeError as error:
        before = block[:error.start]
        row_start = before.rfind(b"\n") + 1
        raise Failure("%s, line %d, column %d: the byte 0x%02x is not valid UTF-8. Save the file as UTF-8." % (
            name, line + before.count(b"\n"), before.count(b",", row_start) + 1, block[error.start]))
