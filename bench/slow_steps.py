"""Runs a trainer of scenarios/trainers/restarts whose steps take longer: slow_steps.py MILLISECONDS TRAINER [ARGUMENTS...]"""

import pathlib
import runpy
import sys
import time

seconds, trainer = float(sys.argv[1]) / 1000, pathlib.Path(sys.argv[2]).resolve()
sys.argv = sys.argv[2:]
sys.path[0] = str(trainer.parent)
sys.path.insert(1, str(trainer.parent.parent))

import console  # noqa: E402: beside the trainer

record = console.record


def record_slowly(*words, **fields):
    time.sleep(seconds)
    record(*words, **fields)


console.record = record_slowly
runpy.run_path(str(trainer), run_name="__main__")
