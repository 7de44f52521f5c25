"""Tables of numbers alone, as XGBoost takes them."""
import numpy as np

from .cells import read_cells
from .encoding import numbers_of
from .report import Failure

RANGES = {  # of the target, by objective: a rule and the numbers that keep it
    "reg:logistic": ("between 0 and 1", lambda target: (target >= 0) & (target <= 1)),
    "reg:gamma": ("above 0", lambda target: target > 0),
    "reg:tweedie": ("0 or more", lambda target: target >= 0),
}


class TargetRule:
    """What the numbers of the target must be. `classes`: how many there are; 0: it is a number."""

    def __init__(self, objective, classes):
        if classes:
            self.rule = "an integer between 0 and %d" % (classes - 1)
            self.keeps = lambda target: (target == np.floor(target)) & (target >= 0) & (target < classes)
        else:
            self.rule, self.keeps = RANGES.get(objective, ("a number", np.isfinite))
        self.objective = objective

    def check(self, target, cells, name):
        wrong = np.flatnonzero(~self.keeps(target))
        if len(wrong):
            raise Failure("%s, line %d, column 1: the target '%s' is not %s, which --objective=%s needs." % (
                name, cells.line(wrong[0]), cells.text(wrong[0], 0)[:40], self.rule, self.objective))


class Block:
    """Some rows: their targets, weights (None: all 1) and features (NaN: missing)."""

    def __init__(self, target, weight, features):
        self.target, self.weight, self.features = target, weight, features


def blocks(sources, rule, weighted, share):
    """The Blocks of these files, in order. `share`: (replica, replicas), of the rows of shared files."""
    columns = None
    for source in sources:
        first = 0
        for cells in read_cells(source.local, source.name, columns):
            columns = cells.columns
            target = numbers_of(cells, 0, source.name)
            rule.check(target, cells, source.name)
            weight = numbers_of(cells, 1, source.name).astype(np.float32) if weighted else None
            features = np.empty((cells.count, columns - 1 - weighted), np.float32)
            for i in range(features.shape[1]):
                features[:, i] = numbers_of(cells, i + 1 + weighted, source.name, blanks_allowed=True)
            target = target.astype(np.float32)
            if not source.shared:
                yield Block(target, weight, features)
                continue
            rows = np.arange(cells.count)[(np.arange(first, first + cells.count) % share[1]) == share[0]]
            first += cells.count
            yield Block(target[rows], weight[rows] if weighted else None, features[rows])


def whole(found, name):
    """All rows as one Block."""
    found = list(found)
    if not found:
        raise Failure("%s has no rows." % name)
    weight = np.concatenate([one.weight for one in found]) if found[0].weight is not None else None
    return Block(np.concatenate([one.target for one in found]), weight, np.concatenate([one.features for one in found]))
