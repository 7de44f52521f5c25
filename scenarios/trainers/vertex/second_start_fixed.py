"""Fixed: a model stays until a newer one replaces it."""
import os
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from console import record
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def restore(checkpoints):
    steps = [int(name[len("ckpt-"):]) for name in checkpoints.list("ckpt-")]
    if not steps:
        return 0, 0.0
    state = checkpoints.get("ckpt-%d" % max(steps))
    return state["step"], state["w"]


def main():
    checkpoints = folder(os.environ["AIP_CHECKPOINT_DIR"])
    models = folder(os.environ["AIP_MODEL_DIR"])
    step, w = restore(checkpoints)
    while step < STEPS:
        step += 1
        w -= 0.01 * (w - step)
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            models.put("model.json", {"step": step, "w": w})
            checkpoints.put("ckpt-%d" % step, {"step": step, "w": w})
    models.put("model.json", {"step": step, "w": w})


main()
