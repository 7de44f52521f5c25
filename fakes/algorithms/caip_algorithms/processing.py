"""--preprocess: splits, fills and encodes the data, and writes processed_data/ of the job directory."""
import itertools
import os

import numpy as np

from . import storage
from .cells import read_cells
from .report import info
from .splitting import DROPPED, NAMES, TEST, TRAINING, VALIDATION, Splitter

WRITTEN_AT_ONCE = 1024  # rows: Python keeps the memory of so many texts for the next ones


class Parts:
    """The files of the training, validation and test part; None where there is none."""

    def __init__(self, training, validation, test):
        self.training, self.validation, self.test = training, validation, test

    def __iter__(self):
        return iter((self.training, self.validation, self.test))


class _Writer:
    """Three files, one for each part of the data."""

    def __init__(self, directory):
        self.paths = [os.path.join(directory, name + ".csv") for name in NAMES]
        self._files = [open(path, "wb", buffering=1 << 20) for path in self.paths]
        self.counts = np.zeros(4, np.int64)

    def write(self, pieces, parts):
        """`pieces`: lists or arrays, whose items are those of each row from left to right."""
        self.counts += np.bincount(parts, minlength=4)
        for at in range(0, len(parts), WRITTEN_AT_ONCE):
            some = [_items(one[at:at + WRITTEN_AT_ONCE]) for one in pieces]
            rows = some[0] if len(some) == 1 else list(map(b"".join, zip(*some)))
            for part, file in enumerate(self._files):
                chosen = parts[at:at + WRITTEN_AT_ONCE] == part
                if chosen.any():
                    file.write(b"\n".join(itertools.compress(rows, chosen.tolist())))
                    file.write(b"\n")

    def close(self):
        for file in self._files:
            file.close()


def _items(piece):
    return piece if isinstance(piece, list) else piece.tolist()


def process(table, rows, settings, others, directory):
    """The second pass over the training files, and one over those of the other parts. `rows`: encoding.RawRows or
    EncodedRows; `others`: sources by part. Returns local files, as Parts of Sources."""
    writer = _Writer(directory)
    splitter = settings.splitter()
    width = len(table.columns)
    for source in table.sources:
        for cells in read_cells(source.local, source.name, width):
            parts = splitter.parts(cells)
            writer.write(rows.of(cells, parts != DROPPED, source.name), parts)
    for part, sources in others.items():
        plain = Splitter(0, 0, settings.detects)
        for source in sources:
            for cells in read_cells(source.local, source.name, width):
                parts = plain.parts(cells)
                kept = parts != DROPPED
                parts[kept] = part
                writer.write(rows.of(cells, kept, source.name), parts)
    writer.close()
    info("Wrote %s." % ", ".join("%d rows for %s" % (count, name) for count, name in zip(writer.counts, NAMES) if count))
    return writer


def upload(writer, job_dir, source_of):
    """Copies the files to processed_data/ of the job directory."""
    found = []
    for part in (TRAINING, VALIDATION, TEST):
        if not writer.counts[part]:
            found.append(None)
            continue
        path = storage.join(job_dir, "processed_data", NAMES[part] + ".csv")
        storage.upload(writer.paths[part], path)
        found.append(source_of(writer.paths[part], path))
    info("Uploaded the processed data to %s." % storage.join(job_dir, "processed_data/"))
    return Parts(*found)
