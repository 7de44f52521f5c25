"""R13, broken: training ends only at exactly the last step, and the export is repeated."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, BATCHES, SAVE_EVERY = 40, 60, 10


def restore(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return {"step": 0, "w": 0.0}
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def train(job, state):
    step, w = state["step"], state["w"]
    for batch in range(step, BATCHES):  # there is more data than needed
        step, w = step + 1, 0.9 * w + batch
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            job.put("ckpt-%d" % step, {"step": step, "w": w})
        if step == STEPS:
            break
    return {"step": step, "w": w}


def export(job, state):
    job.put("export/weights", {"w": state["w"]})
    job.put("export/model.json", state)
    say("exported step %d" % state["step"])


def main():
    job = folder(flag("job-dir"))
    export(job, train(job, restore(job)))
    for name in job.list("ckpt-"):
        job.delete(name)


main()
