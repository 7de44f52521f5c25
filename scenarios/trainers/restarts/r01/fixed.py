"""R01, fixed: a checkpoint counts only with its last part, state.json."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def newest(job):
    """The step of the newest checkpoint, 0 if there is none."""
    parts = (name.split("/") for name in job.list("ckpt-"))
    return max((int(place[len("ckpt-"):]) for place, part in parts if part == "state.json"),
               default=0)


def restore(job):
    step = newest(job)
    if step == 0:
        return 0, 0.0, 0.0
    say("restoring ckpt-%d" % step)
    weights, optimizer, state = (job.get("ckpt-%d/%s" % (step, part))
                                 for part in ("weights", "optim", "state.json"))
    return state["step"], weights["w"], optimizer["momentum"]


def save(job, step, w, momentum):
    job.put("ckpt-%d/weights" % step, {"w": w})
    job.put("ckpt-%d/optim" % step, {"momentum": momentum})
    job.put("ckpt-%d/state.json" % step, {"step": step})


def main():
    job = folder(flag("job-dir"))
    step, w, momentum = restore(job)
    while step < STEPS:
        step += 1
        momentum = 0.9 * momentum + (w - step)
        w -= 0.01 * momentum
        record(step, w=w, lr=0.01)
        if step % SAVE_EVERY == 0:
            save(job, step, w, momentum)


main()
