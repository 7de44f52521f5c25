"""R04, fixed: writer and reader both mean the next epoch and batch."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

EPOCHS, BATCHES, EXTRA_SAVE = 3, 5, 7


def restore(job):
    found = [job.get(name) for name in job.list("epoch-") + job.list("step-")]
    state = max(found, key=lambda state: state["step"], default=None)
    if state is None:
        return {"step": 0, "epoch": 0, "batch": 0, "w": 0.0}
    say("restoring the checkpoint of step %d" % state["step"])
    return state


def save(job, name, step, epoch, batch, w):
    if batch == BATCHES:
        epoch, batch = epoch + 1, 0
    job.put(name, {"step": step, "epoch": epoch, "batch": batch, "w": w})


def main():
    job = folder(flag("job-dir"))
    state = restore(job)
    step, w, batch = state["step"], state["w"], state["batch"]
    for epoch in range(state["epoch"], EPOCHS):
        while batch < BATCHES:
            batch, step = batch + 1, step + 1
            w = 0.9 * w + batch
            record(step, epoch=epoch, batch=batch, w=w)
            if step == EXTRA_SAVE:
                save(job, "step-%d" % step, step, epoch, batch, w)
        save(job, "epoch-%d" % epoch, step, epoch, batch, w)
        batch = 0


main()
