"""The training loop of a worker, and of a chief without workers: ticket, gradient, push."""
import logging
import threading
import time

from trainer import wire
from trainer.data import Batches
from trainer.model import learning_rate
from trainer.parameter_server import RemoteShard, Stale, bounds
from trainer.tickets import Ticket

PATIENCE_SECONDS = 600.0
LOOK_FOR_MODEL_SECONDS = 5.0
STEPS_A_LINE = 50


class RemoteTickets:
    """Asks the chief. While it is unreachable, a finished model in the job directory means the end."""

    def __init__(self, address, is_finished):
        self._peer = wire.Peer(address)
        self._is_finished = is_finished

    def next(self, _, generation, done, loss):
        answer = self._ask(wire.message(wire.NEXT, generation, done, loss))
        return Ticket(answer.op, answer.generation, answer.step)

    def report_stale(self, _, generation):
        self._ask(wire.message(wire.REPORT_STALE, generation))

    def _ask(self, request):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._peer.ask(request, LOOK_FOR_MODEL_SECONDS)
            except wire.Unreachable as error:
                if self._is_finished():
                    return wire.message(wire.FINISHED)
                if time.monotonic() > deadline:
                    raise
                logging.info("waiting for the chief: %s", error)


def train(tickets, shards, model, examples, options, steps):
    """Does steps until the tickets end, and returns their number."""
    batches = Batches(examples, options.batch_size, options.seed)
    parts = bounds(model.size, len(shards))
    me, generation, done, loss, count, values = object(), 0, 0, 0.0, 0, None
    while True:
        kind, ticket_generation, step = tickets.next(me, generation, done, loss)
        if kind == wire.FINISHED:
            return count
        done = 0
        if kind != wire.OK:
            continue
        if ticket_generation != generation:
            generation, values = ticket_generation, None
            logging.info("generation %d, beginning at step %d", generation, step)
        try:
            if values is None:
                values = _joined(shard.pull(generation) for shard in shards)
            loss, gradient = model.loss_and_gradient(values, batches.of(step))
            rate = learning_rate(options.learning_rate, step, steps)
            values = _joined(shard.push(generation, step, rate, gradient[part])
                             for shard, part in zip(shards, parts))
        except Stale:
            logging.info("step %d is given back: a parameter server has no generation %d",
                         step, generation)
            values = None
            tickets.report_stale(me, generation)
            continue
        done, count = step, count + 1
        if count % STEPS_A_LINE == 0:
            logging.info("%d steps done here, the last one step %d with loss %.4f",
                         count, step, loss)


def _joined(parts):
    return [value for part in parts for value in part]


def run(cluster, model, examples, options, steps, is_finished):
    """A worker replica. It listens at its own address only to detect a conflict."""
    server = wire.Server(cluster.own_address, lambda request, owner: wire.message(wire.UNKNOWN))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    logging.info("worker %d listens on %s:%d", cluster.index, *cluster.own_address)
    tickets = RemoteTickets(cluster.chief, is_finished)
    shards = [RemoteShard(address) for address in cluster.shards]
    count = train(tickets, shards, model, examples, options, steps)
    logging.info("training is over, %d steps were done here", count)
