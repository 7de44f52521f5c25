"""A shard of the parameters: Adam's rule, each step applied once, nothing stored on disk.

Every request names a generation, which the chief assigns when it fills the shards. A restarted server
has none, so it answers "stale" to every request, and the chief then resets every shard to the newest
complete checkpoint. A gradient of an earlier generation never reaches a newer one.
"""
import logging
import math
import threading
from collections import namedtuple

from trainer import wire

MEAN_KEPT = 0.9
SQUARE_KEPT = 0.99
TINY = 1e-6
PATIENCE_SECONDS = 600.0

# Three vectors: the values, and the running means of their gradients and of the squared gradients.
Vectors = namedtuple("Vectors", "values means squares")


class Stale(Exception):
    """The shard has another generation than the caller, or none (generation 0)."""

    def __init__(self, generation):
        super().__init__("the shard holds generation %d" % generation)
        self.generation = generation


class Shard:
    """The values in this process. Any thread may call."""

    def __init__(self):
        self._lock = threading.Lock()
        self._generation = 0
        self._vectors, self._applied = Vectors([], [], []), set()

    def fill(self, generation, vectors):
        with self._lock:
            if generation < self._generation:
                raise Stale(self._generation)
            self._generation = generation
            self._vectors, self._applied = Vectors(*map(list, vectors)), set()

    def pull(self, generation):
        with self._lock:
            self._check(generation)
            return self._vectors.values

    def push(self, generation, step, rate, gradient):
        """Applies the step's gradient unless it was applied before, and returns the values."""
        with self._lock:
            self._check(generation)
            if step not in self._applied:
                self._applied.add(step)
                self._apply(rate, gradient)
            return self._vectors.values

    def _apply(self, rate, gradient):
        values, means, squares = self._vectors
        means = [MEAN_KEPT * mean + (1.0 - MEAN_KEPT) * slope
                 for mean, slope in zip(means, gradient)]
        squares = [SQUARE_KEPT * square + (1.0 - SQUARE_KEPT) * slope * slope
                   for square, slope in zip(squares, gradient)]
        values = [value - rate * mean / (math.sqrt(square) + TINY)
                  for value, mean, square in zip(values, means, squares)]
        self._vectors = Vectors(values, means, squares)

    def snapshot(self, generation):
        """The vectors, and the number of steps that were applied since the shard was filled."""
        with self._lock:
            self._check(generation)
            return self._vectors, len(self._applied)

    def _check(self, generation):
        if generation == 0 or generation != self._generation:
            raise Stale(self._generation)


class RemoteShard:
    """The same, on a server at an address. For one thread."""

    def __init__(self, address):
        self._peer = wire.Peer(address)

    def _ask(self, op, generation, step=0, number=0.0, vector=()):
        request = wire.message(op, generation, step, number, vector)
        answer = self._peer.ask(request, PATIENCE_SECONDS)
        if answer.op != wire.OK:
            raise Stale(answer.generation)
        return answer

    def fill(self, generation, vectors):
        self._ask(wire.INIT, generation, vector=_joined(vectors))

    def pull(self, generation):
        return self._ask(wire.PULL, generation).vector

    def push(self, generation, step, rate, gradient):
        return self._ask(wire.PUSH, generation, step, rate, gradient).vector

    def snapshot(self, generation):
        answer = self._ask(wire.SNAPSHOT, generation)
        return _split(answer.vector), answer.step

    def dismiss(self):
        """Tells the server to end, unless it has ended already."""
        try:
            self._peer.ask(wire.message(wire.LEAVE_OFF), patience=0.0)
        except wire.Unreachable:
            pass


def answer(shard, request):
    """The answer of a shard to a message from a RemoteShard."""
    try:
        if request.op == wire.INIT:
            shard.fill(request.generation, _split(request.vector))
            return wire.message(wire.OK)
        if request.op == wire.PULL:
            return wire.message(wire.OK, vector=shard.pull(request.generation))
        if request.op == wire.PUSH:
            return wire.message(wire.OK, vector=shard.push(
                request.generation, request.step, request.number, request.vector))
        if request.op == wire.SNAPSHOT:
            vectors, applied = shard.snapshot(request.generation)
            return wire.message(wire.OK, step=applied, vector=_joined(vectors))
    except Stale as stale:
        return wire.message(wire.STALE, stale.generation)
    return wire.message(wire.UNKNOWN)


def _joined(vectors):
    return [value for vector in vectors for value in vector]


def _split(joined):
    third = len(joined) // 3
    return Vectors(joined[:third], joined[third:2 * third], joined[2 * third:])


def bounds(size, count):
    """Divides a vector of so many parameters among the shards: a list of slices."""
    return [slice(size * i // count, size * (i + 1) // count) for i in range(count)]


def run(cluster):
    """Serves this replica's shard until the chief reports that training is over."""
    shard, over = Shard(), threading.Event()

    def respond(request, _):
        if request.op == wire.LEAVE_OFF:
            over.set()
            return wire.message(wire.OK)
        if request.op == wire.INIT:
            logging.info("shard %d filled with %d parameters, generation %d", cluster.index,
                         len(request.vector) // 3, request.generation)
        return answer(shard, request)

    server = wire.Server(cluster.own_address, respond)
    logging.info("parameter server %d listens on %s:%d, empty", cluster.index,
                 *cluster.own_address)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    over.wait()
    logging.info("training is over")
