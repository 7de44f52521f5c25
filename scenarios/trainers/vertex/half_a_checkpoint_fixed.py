"""R01 as a custom job, fixed: a checkpoint counts only with its last part, state.json."""
import os
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from console import record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def newest(checkpoints):
    """The step of the newest checkpoint, 0 if there is none."""
    parts = (name.split("/") for name in checkpoints.list("ckpt-"))
    return max((int(place[len("ckpt-"):]) for place, part in parts if part == "state.json"),
               default=0)


def restore(checkpoints):
    step = newest(checkpoints)
    if step == 0:
        return 0, 0.0
    say("restoring ckpt-%d" % step)
    weights, state = (checkpoints.get("ckpt-%d/%s" % (step, part))
                      for part in ("weights", "state.json"))
    return state["step"], weights["w"]


def save(checkpoints, step, w):
    checkpoints.put("ckpt-%d/weights" % step, {"w": w})
    checkpoints.put("ckpt-%d/state.json" % step, {"step": step})


def main():
    checkpoints = folder(os.environ["AIP_CHECKPOINT_DIR"])
    step, w = restore(checkpoints)
    while step < STEPS:
        step += 1
        w -= 0.01 * (w - step)
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            save(checkpoints, step, w)


main()
