"""The first pass over a table: what its columns hold, and how its rows are split."""
import os

import numpy as np

from .cells import read_cells
from .columns import CATEGORICAL, KEY, NUMERIC, VOCABULARY_MAX, Column, check_header
from .report import Failure, info, listed
from .splitting import DROPPED, TRAINING, Splitter


class Source:
    """A file of the job's data: `local` is its copy on the disk, `name` what people call it. `shared`: other replicas
    take rows of it, too."""

    def __init__(self, local, name, shared=False):
        self.local, self.name, self.shared = local, name, shared


class Table:
    """What is known about the training data. `columns` has a Column for each; the first one is the target."""

    def __init__(self, sources, columns, classes, counts):
        self.sources, self.columns, self.classes, self.counts = sources, columns, classes, counts
        self.kinds = [column.kind() for column in columns]
        self.features = [i for i in range(1, len(columns)) if self.kinds[i] != KEY]
        self.numeric = [i for i in self.features if self.kinds[i] == NUMERIC]
        self.categorical = [i for i in self.features if self.kinds[i] == CATEGORICAL]


class Settings:
    """How a table is read. `classes`: the target's texts are classes; `detects`: integers may be keys or
    categories (--preprocess); `numbers_only`: every cell is a number; `weighted`: column 2 is the row's weight."""

    def __init__(self, classes, detects, numbers_only=False, weighted=False, validation_share=0.0, test_share=0.0):
        self.classes, self.detects, self.numbers_only, self.weighted = classes, detects, numbers_only, weighted
        self.validation_share, self.test_share = validation_share, test_share

    def splitter(self):
        return Splitter(self.validation_share, self.test_share, self.detects)


def scan(sources, settings):
    """The Table of these files. A column that turns out to be text after its first rows makes it begin again."""
    texts = set()
    while True:
        table = _scan_once(sources, settings, texts)
        if table is not None:
            _check(table, settings)
            return table


def _scan_once(sources, settings, texts):
    columns, splitter = None, settings.splitter()
    parts_seen = np.zeros(4, np.int64)
    for source in sources:
        for cells in read_cells(source.local, source.name, len(columns) if columns else None):
            if columns is None:
                columns = _new_columns(cells.columns, settings, texts, source)
            parts = splitter.parts(cells)
            parts_seen += np.bincount(parts, minlength=4)
            kept, trained = parts != DROPPED, parts == TRAINING
            late = [one.index for one in columns
                    if not one.take(cells, kept, trained if one.index else kept, source.name)]
            if late:
                texts.update(late)
                return None
    if columns is None:
        raise Failure("%s, line 1: the file is empty. It must have a row for each example, with the target in column 1." %
                      listed(source.name for source in sources))
    classes = columns[0].vocabulary() if settings.classes else None
    counts = dict(zip(("training", "validation", "test"), parts_seen.tolist()),
                  dropped=splitter.dropped, targetless=splitter.targetless, first_dropped=splitter.first_dropped)
    return Table(sources, columns, classes, counts)


def _new_columns(count, settings, texts, source):
    if count < 2:
        raise Failure("%s, line 1, column 2: the row has one column. A row needs the target and at least one more column, "
                      "separated by commas." % source.name)
    columns = []
    for i in range(count):
        is_class = i == 0 and settings.classes and not settings.numbers_only
        is_number = settings.numbers_only or (i == 0 and not settings.classes) or (i == 1 and settings.weighted)
        columns.append(Column(i, is_text=is_class or i in texts, is_number=is_number, detects=settings.detects and i > 0))
    return columns


def _check(table, settings):
    name = table.sources[0].name
    check_header(table.columns, name)
    if not sum(table.counts[part] for part in ("training", "validation", "test")):
        raise Failure("%s, line %d, column %d: the cell is blank, and no row of the file can be used: %d rows have more than "
                      "10 %% of their columns missing, and %d have no target in column 1." % (
                          name, *table.counts["first_dropped"], table.counts["dropped"], table.counts["targetless"]))
    if not table.features:
        raise Failure("%s has no column to learn from: each column but the target holds a distinct integer in each row, "
                      "which makes it a key. Write 101.0 for 101 to make a column numeric." % name)
    for column in (table.columns[i] for i in table.features):
        if column.rows == column.missing:
            raise Failure("%s, line 1, column %d: the column is blank in all rows. Remove the column, or give it values." %
                          (name, column.index + 1))
    if settings.classes and not settings.numbers_only:
        if table.columns[0].categories.overflowed:
            raise Failure("%s, column 1: the target has more than %d classes. Use --model_type=regression for a numeric "
                          "target." % (name, VOCABULARY_MAX))
        if len(table.classes) < 2:
            raise Failure("%s, line 1, column 1: the target is '%s' in all rows. Classification needs at least two classes in "
                          "the rows for training." % (name, listed(table.classes)))


def describe(table):
    """Logs the kinds of the columns and the sizes of the parts."""
    counts = table.counts
    dropped = counts["dropped"] + counts["targetless"]
    info("Read %d rows with %d columns; dropped %d rows (%d with more than 10 %% of their columns missing, %d without a "
         "target)." % (sum(counts[part] for part in ("training", "validation", "test")) + dropped, len(table.columns),
                       dropped, counts["dropped"], counts["targetless"]))
    for i, column in enumerate(table.columns):
        kind = table.kinds[i]
        detail = ", mean %.6g" % column.mean() if kind == NUMERIC else ""
        if kind == CATEGORICAL:
            detail = ", %d categories" % len(column.vocabulary())
        name = "target" if i == 0 else kind
        info("Column %d: %s%s, %d missing." % (i + 1, name, detail, column.missing))
    if table.kinds.count(KEY):
        info("Columns %s hold keys of the instances and are left out." %
             listed(str(i + 1) for i, kind in enumerate(table.kinds) if kind == KEY))


def size_of(sources):
    return sum(os.path.getsize(source.local) for source in sources)
