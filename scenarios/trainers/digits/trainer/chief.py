"""The master: hands out steps, fills the shards, writes checkpoints, exports the model."""
import json
import logging
import os
import threading
import time

from trainer import parameter_server, storage, wire
from trainer.checkpoint import State
from trainer.parameter_server import RemoteShard, Shard, Stale, Vectors, bounds
from trainer.tickets import Tickets
from trainer.worker import train

STEPS_A_LINE = 50
FAREWELL_SECONDS = 10.0


class Chief:
    """One run of the master process."""

    def __init__(self, cluster, model, examples, options, steps, checkpoints, export):
        self._cluster, self._model, self._options, self._steps = cluster, model, options, steps
        self._train_examples, self._held_out = examples
        self._checkpoints, self._export = checkpoints, export
        self._losses = []
        self._tickets = Tickets(self._progress)
        self._local = None if cluster.servers else Shard()
        self._shards = ([RemoteShard(address) for address in cluster.servers]
                        if cluster.servers else [self._local])
        self._parts = bounds(model.size, len(self._shards))
        self._owners = set()
        self._generation = 0

    def run(self):
        """Trains unless a predecessor has finished; returns the exit status."""
        self._listen()
        metrics = self._export.metrics(self._steps)
        if metrics:
            logging.info("the model is there already: nothing is left to train")
        else:
            metrics = self._write_export(self._train())
        self._say_farewell()
        logging.info("accuracy on the held-out digits: %.4f after %d steps and %.1f seconds of "
                     "training", metrics["accuracy"], metrics["steps"], metrics["train_seconds"])
        target = self._options.target_accuracy
        if target is not None and metrics["accuracy"] < target:
            logging.error("the accuracy is below --target-accuracy %.4f", target)
            return 1
        return 0

    def _listen(self):
        if self._cluster.chief is None:
            return
        server = wire.Server(self._cluster.chief, self._answer, self._left)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        logging.info("chief listens on %s:%d", *self._cluster.chief)

    def _answer(self, request, owner):
        if request.op == wire.NEXT:
            self._owners.add(owner)
            return wire.message(*self._tickets.next(owner, request.generation, request.step,
                                                    request.number))
        if request.op == wire.REPORT_STALE:
            self._tickets.report_stale(owner, request.generation)
            return wire.message(wire.OK)
        if self._local:
            return parameter_server.answer(self._local, request)
        return wire.message(wire.UNKNOWN)

    def _left(self, owner):
        self._owners.discard(owner)
        self._tickets.leave(owner)

    def _progress(self, step, loss):
        self._losses.append(loss)
        if len(self._losses) == STEPS_A_LINE:
            mean = sum(self._losses) / STEPS_A_LINE
            self._losses = []
            logging.info(json.dumps({"step": step, "loss": round(mean, 4)}))

    def _train(self):
        """Each round is a generation: from the newest checkpoint until the end or a lost shard."""
        if not self._cluster.workers:
            self._train_here()
        while True:
            state = self._restore()
            try:
                return self._train_generation(state)
            except Stale as stale:
                self._generation = max(self._generation, stale.generation)
                logging.info("a parameter server lost its values: back to the newest checkpoint")

    def _train_here(self):
        """Without workers the chief takes the tickets itself, in another thread."""
        shards = [RemoteShard(address) for address in self._cluster.servers] or [self._local]

        def train_or_die():
            try:
                train(self._tickets, shards, self._model, self._train_examples, self._options,
                      self._steps)
            except BaseException:
                logging.exception("the training thread failed")
                os._exit(1)

        threading.Thread(target=train_or_die, daemon=True).start()

    def _restore(self):
        state = self._checkpoints.newest()
        if state is None:
            values = self._model.initial(self._options.seed)
            nothing = [0.0] * len(values)
            state = State(0, Vectors(values, nothing, nothing), 0.0)
            logging.info("no checkpoint yet: training begins at step 1 of %d", self._steps)
        else:
            logging.info("restored checkpoint %d of %d steps", state.step, self._steps)
        self._checkpoints.discard_after(state.step)
        return state

    def _train_generation(self, state):
        if state.step >= self._steps:
            return state
        # A later generation has a higher number, also after a restart of the chief.
        self._generation = max(self._generation + 1, int(time.time() * 1000))
        for shard, part in zip(self._shards, self._parts):
            shard.fill(self._generation, [vector[part] for vector in state.vectors])
        first, before, started = state.step, state.seconds, time.monotonic()
        self._tickets.begin(self._generation, first, self._boundary_after(first))
        while state.step < self._steps:
            if not self._tickets.wait_for_boundary():
                raise Stale(0)
            boundary = self._boundary_after(state.step)
            vectors = self._snapshot(boundary - first)
            state = State(boundary, vectors, before + time.monotonic() - started)
            self._tickets.extend(self._boundary_after(boundary))
            self._checkpoints.write(state)
            logging.info("checkpoint %d written", boundary)
        return state

    def _boundary_after(self, step):
        every = self._options.checkpoint_every
        return min((step // every + 1) * every, self._steps)

    def _snapshot(self, due):
        """The joined vectors of all shards, after exactly the expected steps."""
        parts = []
        for shard in self._shards:
            vectors, applied = shard.snapshot(self._generation)
            if applied != due:
                raise RuntimeError("a shard applied %d steps where %d were due" % (applied, due))
            parts.append(vectors)
        return Vectors(*([value for part in parts for value in part[i]] for i in range(3)))

    def _write_export(self, state):
        values = list(state.vectors.values)
        metrics = {"accuracy": self._model.accuracy(values, self._held_out),
                   "held_out": len(self._held_out.labels), "steps": state.step,
                   "train_seconds": round(state.seconds, 3)}
        self._export.write({"kind": "perceptron 64-%d-10" % self._options.hidden,
                            "hidden": self._options.hidden, "seed": self._options.seed,
                            "metrics": metrics, "parameters": values}, metrics)
        logging.info("model exported")
        return metrics

    def _say_farewell(self):
        """Waits until workers and servers have ended, and an evaluator has evaluated the last steps."""
        self._tickets.finish()
        deadline = time.monotonic() + FAREWELL_SECONDS
        while self._owners and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._cluster.servers:
            for shard in self._shards:
                shard.dismiss()
        root = self._options.job_dir.rstrip("/") + "/eval/"
        last = "%s%d.json" % (root, self._steps)
        while time.monotonic() < deadline:
            judged = storage.list_all(root)
            if not judged or last in judged:
                return
            time.sleep(0.25)
