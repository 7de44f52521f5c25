"""The cells of a CSV file, as positions in blocks of its bytes. NumPy finds them without a loop over rows."""
import csv
import io

import numpy as np

from .report import Failure

BLOCK = 1 << 20  # its arrays fit into the caches of a core
LINE_MAX = 64 << 20
PADDING = 16  # line ends before and after a block, so that words around a cell can be read
_PAD = b"\n" * PADDING
COMMA, NEWLINE, BLANK = b",\n "
UTF8_MARK = b"\xef\xbb\xbf"
np.empty(16 << 20, np.uint8)  # is freed at once, after which the C library keeps freed blocks up to this size for others


def padded(block):
    return _PAD + block + _PAD


class Cells:
    """Some whole rows of a file, whose padded() bytes are `data`. Row `i`, column `j` is data[starts[i, j]:ends[i, j]];
    blanks around it are left out. A cell that needs quotation marks has them. The arrays are ordered by columns."""

    def __init__(self, data, ends, lines):
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.words = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))  # at each position
        self.ends = np.ascontiguousarray(ends.T).T
        self.starts = np.empty_like(self.ends)
        self.starts[0, 0] = PADDING
        self.starts[1:, 0] = self.ends[:-1, -1] + 1
        self.starts[:, 1:] = self.ends[:, :-1] + 1
        self.raw_starts, self.raw_ends = self.starts, self.ends
        self.lines = lines  # the number of the first line, or of each row's
        if b" " in data:
            self._trim()

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
        size = len(self.data) - 2 * PADDING
        if not intervals:
            return self.data[PADDING:PADDING + size]
        edges = np.stack([edge for interval in intervals for edge in interval], 1)
        edges = (edges if self.raw_starts is self.starts else np.sort(edges)).ravel() - PADDING
        kept = np.zeros(len(edges) + 1, bool)
        kept[::2] = True
        return self.bytes[PADDING:PADDING + size][np.repeat(kept, np.diff(edges, prepend=0, append=size))].tobytes()

    def _trim(self):
        self.starts, self.ends = self.starts.copy("K"), self.ends.copy("K")
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
            lines = np.count_nonzero(np.frombuffer(block, np.uint8) == NEWLINE)
            cells = _split(block, name, line, columns) if block else None
            if cells is not None:
                columns = cells.columns
                yield cells
            line += lines


def _end_of_rows(block):
    """Where the last whole row ends. A line end between quotation marks is part of a cell."""
    end = len(block)
    quotes = block.count(b'"')  # before `end`
    while True:
        at = block.rfind(b"\n", 0, end)
        if at < 0 or not quotes:
            return at + 1
        quotes -= block.count(b'"', at, end)
        if quotes % 2 == 0:
            return at + 1
        end = at


def _refuse_endless(block, name, line):
    if len(block) < LINE_MAX:
        return
    _refuse_row(name, line, block[:block.find(b"\n") + 1] or block, "is longer than 64 MiB")


def _refuse_row(name, line, row, reason):
    """`row`: its bytes up to the first line end. An open quotation mark in them is the reason for any other."""
    mark = row.rfind(b'"') if row.count(b'"') % 2 else row.find(b"\r")
    raise Failure("%s, line %d, column %d: the row %s. The file must be CSV with one row a line." % (
        name, line, row.count(b",", 0, max(mark, 0)) + 1,
        "has a quotation mark that is never closed" if row.count(b'"') % 2 else reason))


def _line_of(lines, row):
    return lines[row] if isinstance(lines, list) else lines + row


def _marks_of(data):
    """Where the cells of a padded block end, and the number of cells in each row."""
    found = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero((found == COMMA) | (found == NEWLINE))[PADDING:-PADDING]
    return marks, np.diff(np.flatnonzero(found[marks] == NEWLINE), prepend=-1)


def _split(block, name, lines, columns):
    """The cells of whole rows. `lines` is the number of the first line, or a list with that of each."""
    _check_text(block, name, lines)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if b'"' in block:
        return _split_quoted(block, name, lines, columns)
    data = padded(block)
    marks, widths = _marks_of(data)
    if (widths == 1).any() and (block.startswith(b"\n") or b"\n\n" in block):  # blank lines are left out
        kept = [(lines + i, row) for i, row in enumerate(block.split(b"\n")[:-1]) if row]
        data, lines = padded(b"".join(row + b"\n" for _, row in kept)), [line for line, _ in kept]
        if not kept:
            return None
        marks, widths = _marks_of(data)
    columns = columns or int(widths[0])
    wrong = np.flatnonzero(widths != columns)
    if len(wrong):
        _refuse_ragged(name, _line_of(lines, int(wrong[0])), int(widths[wrong[0]]), columns)
    return Cells(data, marks.reshape(-1, columns), lines)


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
        _refuse_row(name, first_line + before, block.split(b"\n")[before], "is not valid CSV: %s" % error)
    if not lines:
        return None
    ends = np.cumsum(np.array([len(cell) + 1 for cell in cells], np.int64)) - 1 + PADDING
    rows = [b",".join(cells[i:i + columns]) for i in range(0, len(cells), columns)]
    return Cells(padded(b"\n".join(rows) + b"\n"), ends.reshape(-1, columns), lines)


def _refuse_ragged(name, line, width, columns):
    raise Failure("%s, line %d, column %d: the row has %d columns, but the first row has %d. Every row needs the same columns; "
                  "a cell with a comma needs quotation marks." % (name, line, min(width, columns) + 1, width, columns))


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
