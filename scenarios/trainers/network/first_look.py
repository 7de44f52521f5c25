"""Six steps, each of which is saved. A new machine looks for the state before its first step.

With `--careless`, storage that does not answer counts as storage without a state.
"""
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from console import flag, record, say
from storage import folder

STEPS = 6
CARELESS = "--careless" in sys.argv
NEW = {"step": 0, "w": 0.0}


def saved(job):
    while True:
        try:
            return job.get("state")
        except FileNotFoundError:
            return NEW
        except OSError:
            say("storage does not answer")
            if CARELESS:
                return NEW


def main():
    job = folder(flag("job-dir"))
    state = saved(job)
    while state["step"] < STEPS:
        step = state["step"] + 1
        state = {"step": step, "w": 0.5 * state["w"] + step}
        record(step, w=state["w"])
        job.put("state", state)


main()
