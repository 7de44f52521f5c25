"""The rows of processed files as arrays in memory, and the batches of a run."""
import numpy as np

from .cells import read_cells
from .encoding import Arrays
from .report import Failure
from .splitting import SEED


class Rows:
    """`numbers` (float32, standardized), `codes` of categories (int32) and `targets` (int32 classes or float32)."""

    def __init__(self, numbers, codes, targets):
        self.numbers, self.codes, self.targets = numbers, codes, targets

    def __len__(self):
        return len(self.targets)

    def part(self, rows):
        return Rows(self.numbers[rows], self.codes[rows], self.targets[rows])


def load(sources, metadata, part):
    """All rows of these files."""
    arrays, found = Arrays(metadata), []
    for source in sources:
        for cells in read_cells(source.local, source.name, metadata.columns):
            found.append((*arrays.features(cells, source.name), arrays.targets(cells, source.name)))
    if not found:
        raise Failure("The %s part has no rows. Give more rows, or a larger share." % part)
    numbers, codes, targets = (np.concatenate(one) for one in zip(*found))
    return Rows(numbers, codes, targets.astype(np.int32 if metadata.classes else np.float32))


class Batches:
    """Rows in random order, each once before any comes again: the batch of a step depends on the seed and the step
    alone, so a replica that restarts continues with the next one."""

    def __init__(self, count, size):
        self._count, self._size = count, min(size, count)
        self._epoch, self._order = -1, None

    def at(self, step):
        """The rows of a step, from 0 on."""
        each = self._count // self._size
        epoch, place = divmod(step, each)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, np.random.RandomState(SEED + epoch).permutation(self._count)
        return self._order[place * self._size:(place + 1) * self._size]


def auc(scores, positive):
    """The area under the ROC curve: ranks with ties, as Mann and Whitney count."""
    order = np.argsort(scores, kind="mergesort")
    ordered = scores[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, len(ordered)])
    ranks = np.empty(len(scores))
    ranks[order] = np.repeat(starts + (sizes + 1) / 2, sizes)
    count = int(positive.sum())
    others = len(scores) - count
    if not count or not others:
        return float("nan")
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others))
