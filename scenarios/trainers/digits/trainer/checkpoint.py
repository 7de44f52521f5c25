"""Checkpoints of several objects, complete only with their manifest, and the final export.

`<job-dir>/checkpoints/ckpt-<step>/` holds values.f64, means.f64 and squares.f64 (little-endian
doubles), state.json and, written last, manifest.json: names, sizes and MD5 sums of the others. A
set of objects without a matching manifest was left by a stopped replica, and is never restored.
"""
import array
import hashlib
import json
import logging
import re
import sys
from collections import namedtuple

from trainer import storage
from trainer.parameter_server import Vectors

KEPT = 3

# `step` steps are done; the next one is step + 1. `seconds` of training went into them.
State = namedtuple("State", "step vectors seconds")


class Broken(Exception):
    """The checkpoint is incomplete: partly written, being deleted, or mixed."""


class Checkpoints:
    """The checkpoints under a job directory. One process writes, any process may read."""

    def __init__(self, job_dir, shape):
        """`shape` (a dict) is what a checkpoint and the run that restores it must share."""
        self._root = job_dir.rstrip("/") + "/checkpoints/"
        self._shape = shape

    def steps(self):
        """The steps that have a manifest, ascending by number."""
        return sorted(step for step, name in self._listed() if name == "manifest.json")

    def write(self, state):
        """Stores the state, its manifest last, and removes all but the newest few."""
        content = {name + ".f64": _pack(vector)
                   for name, vector in state.vectors._asdict().items()}
        content["state.json"] = _json({"step": state.step, "seconds": state.seconds,
                                       "shape": self._shape})
        for name, data in content.items():
            storage.write(self._url(state.step, name), data)
        manifest = {"step": state.step, "objects": [
            {"name": name, "size": len(data), "md5": hashlib.md5(data).hexdigest()}
            for name, data in content.items()]}
        storage.write(self._url(state.step, "manifest.json"), _json(manifest))
        self._discard_before(min(self.steps()[-KEPT:], default=0))

    def read(self, step):
        """The state of a checkpoint; raises Broken."""
        try:
            manifest = json.loads(storage.read(self._url(step, "manifest.json")).decode("utf-8"))
            content = {}
            for entry in manifest["objects"]:
                data = storage.read(self._url(step, entry["name"]))
                if len(data) != entry["size"] or hashlib.md5(data).hexdigest() != entry["md5"]:
                    raise Broken("%s does not fit the manifest" % self._url(step, entry["name"]))
                content[entry["name"]] = data
            state = json.loads(content["state.json"].decode("utf-8"))
            vectors = Vectors(*(_unpack(content[name + ".f64"]) for name in Vectors._fields))
        except FileNotFoundError as error:
            raise Broken(str(error))
        except (ValueError, KeyError, TypeError) as error:
            raise Broken("%s: %r" % (self._url(step, "manifest.json"), error))
        if state["shape"] != self._shape:
            raise SystemExit(
                "%s was made with %s, and this job has %s: use the same flags or another --job-dir"
                % (self._url(step, ""), state["shape"], self._shape))
        return State(state["step"], vectors, state["seconds"])

    def newest(self):
        """The newest complete checkpoint, or None."""
        for step in reversed(self.steps()):
            try:
                return self.read(step)
            except Broken as error:
                logging.info("checkpoint %d is passed over: %s", step, error)
        return None

    def discard_after(self, step):
        """Removes remains of later checkpoints, so that no new one mixes with them."""
        self._discard({found for found, _ in self._listed() if found > step})

    def _discard_before(self, step):
        """Removes all earlier checkpoints, also those that a stopped predecessor removed in part."""
        self._discard({found for found, _ in self._listed() if found < step})

    def _discard(self, steps):
        if not steps:
            return
        listed = self._listed()
        for step in sorted(steps):
            # The manifest goes first: without it, the rest is not a checkpoint.
            names = [name for found, name in listed if found == step]
            for name in sorted(names, key=lambda name: name != "manifest.json"):
                storage.delete(self._url(step, name))
            storage.sweep(self._url(step, ""))

    def _listed(self):
        found = (re.match(r"ckpt-(\d+)/(.+)$", url[len(self._root):])
                 for url in storage.list_all(self._root))
        return [(int(match.group(1)), match.group(2)) for match in found if match]

    def _url(self, step, name):
        return "%sckpt-%d/%s" % (self._root, step, name)


class Export:
    """The trained model: metrics.json first, then model.json, which means "finished"."""

    def __init__(self, job_dir):
        self._root = job_dir.rstrip("/") + "/model/"

    def write(self, model, metrics):
        storage.write(self._root + "metrics.json", _json(metrics))
        storage.write(self._root + "model.json", _json(model))

    def metrics(self, steps):
        """The metrics of a model that was trained for at least so many steps, or None."""
        try:
            model = json.loads(storage.read(self._root + "model.json").decode("utf-8"))
        except FileNotFoundError:
            return None
        return model["metrics"] if model["metrics"]["steps"] >= steps else None


def _json(value):
    return (json.dumps(value, sort_keys=True) + "\n").encode("utf-8")


def _pack(values):
    return _little_endian(array.array("d", values)).tobytes()


def _unpack(data):
    values = array.array("d")
    values.frombytes(data)
    return _little_endian(values)


def _little_endian(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values
