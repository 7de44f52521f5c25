"""Orders of a data set, one for each epoch. Importing `random` would take longer than using it."""


class Shuffle:
    """A generator of orders. Restoring its state continues the sequence."""

    def __init__(self, state):
        self.state = state

    def order(self, count):
        ids = list(range(count))
        for last in range(count - 1, 0, -1):
            self.state = (self.state * 1103515245 + 12345) % 2 ** 31
            other = (self.state >> 8) % (last + 1)
            ids[last], ids[other] = ids[other], ids[last]
        return ids
