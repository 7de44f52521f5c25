"""The chief's record of steps and of the workers that do them.

Steps are numbered from 1. Each is handed out as a ticket and returned when it is done. A ticket of a
lost worker is handed out again; the shards apply each step only once. No ticket goes beyond the next
checkpoint's step until that checkpoint's values have been taken. So a checkpoint holds exactly the steps
up to its own.
"""
import threading
import time
from collections import namedtuple

from trainer import wire

# After this time a worker's ticket is given to another worker, too.
OVERDUE_SECONDS = 60.0
# A waiting worker gets an answer at this interval, or else it would consider the chief dead.
WAIT_SECONDS = 20.0

Ticket = namedtuple("Ticket", "kind generation step")


class Tickets:
    """Any thread may call. An `owner` is one connection of a worker."""

    def __init__(self, progress=lambda step, loss: None):
        self._changed = threading.Condition()
        self._progress = progress
        self._generation = 0
        self._next, self._boundary = 1, 0
        self._open, self._returned = {}, []
        self._stale = self._finished = False

    def begin(self, generation, step, boundary):
        """Begins a generation: `step` steps are done, and no step beyond the boundary may be."""
        with self._changed:
            self._generation, self._next, self._boundary = generation, step + 1, boundary
            self._open, self._returned = {}, []
            self._stale = False
            self._changed.notify_all()

    def extend(self, boundary):
        """Moves to the next boundary, after the values at the old one were taken."""
        with self._changed:
            self._boundary = boundary
            self._changed.notify_all()

    def finish(self):
        """Ends training: every later request is answered with the end."""
        with self._changed:
            self._finished = True
            self._changed.notify_all()

    def next(self, owner, generation, done, loss):
        """Takes back the done step (0 for none) and gives the next ticket, when there is one."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._changed:
            if generation == self._generation and done in self._open:
                del self._open[done]
                self._progress(done, loss)
                self._changed.notify_all()
            self._give_back(owner)
            while not self._finished:
                step = None if self._stale else self._take()
                if step is not None:
                    self._open[step] = (owner, time.monotonic())
                    return Ticket(wire.OK, self._generation, step)
                left = deadline - time.monotonic()
                if left <= 0:
                    return Ticket(wire.WAIT, self._generation, 0)
                self._changed.wait(left)
            return Ticket(wire.FINISHED, self._generation, 0)

    def _take(self):
        if self._returned:
            return self._returned.pop()
        if self._generation and self._next <= self._boundary:
            self._next += 1
            return self._next - 1
        overdue = time.monotonic() - OVERDUE_SECONDS
        return next((step for step, (_, given) in self._open.items() if given < overdue), None)

    def leave(self, owner):
        """Frees the ticket of a closed connection, because its worker may never return."""
        with self._changed:
            self._give_back(owner)

    def _give_back(self, owner):
        for step in [step for step, (holder, _) in self._open.items() if holder is owner]:
            del self._open[step]
            self._returned.append(step)
            self._changed.notify_all()

    def report_stale(self, owner, generation):
        """A shard did not know the generation. If it is the current one, a server was restarted."""
        with self._changed:
            self._give_back(owner)
            if generation == self._generation and not self._stale:
                self._stale = True
                self._changed.notify_all()

    def wait_for_boundary(self):
        """Waits until every step up to the boundary is done (True) or a shard is stale (False)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stale or (
                self._next > self._boundary and not self._open and not self._returned))
            return not self._stale
