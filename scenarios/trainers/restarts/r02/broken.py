"""R02, broken: the newest of the listing is restored, temporary names included."""
import re
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def restore(job):
    names = [name for name in job.list() if re.search(r"ckpt_\d+$", name)]
    if not names:
        return {"step": 0, "w": 0.0}
    newest = sorted(names, key=lambda name: int(name.rpartition("_")[2]))[-1]
    say("restoring %s" % newest)
    return job.get(newest)


def save(job, state):
    job.put("tmp_ckpt_%d" % state["step"], state)
    job.rename("tmp_ckpt_%d" % state["step"], "ckpt_%d" % state["step"])


def main():
    job = folder(flag("job-dir"))
    state = restore(job)
    for step in range(state["step"] + 1, STEPS + 1):
        state = {"step": step, "w": 0.9 * state["w"] + step}
        record(step, w=state["w"])
        if step % SAVE_EVERY == 0:
            save(job, state)


main()
