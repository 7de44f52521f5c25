"""R05, broken: it skips as many micro-batches as optimizer steps were done, in epoch 0's order."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from shuffle import Shuffle
from storage import folder

EPOCHS, IDS, BATCH, ACCUMULATION, SEED = 2, 24, 2, 4, 20
MICRO_BATCHES = IDS // BATCH


def restore(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return {"step": 0, "w": 0.0, "epoch": 0, "steps_of_epoch": 0}
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def main():
    job = folder(flag("job-dir"))
    state = restore(job)
    step, w, first = state["step"], state["w"], state["steps_of_epoch"]
    shuffle = Shuffle(SEED)
    for epoch in range(state["epoch"], EPOCHS):
        ids, gathered, steps_of_epoch = shuffle.order(IDS), [], first
        for micro_batch in range(first, MICRO_BATCHES):
            gathered += ids[micro_batch * BATCH:][:BATCH]
            if len(gathered) < ACCUMULATION * BATCH and micro_batch + 1 < MICRO_BATCHES:
                continue
            step, w = step + 1, 0.9 * w + sum(gathered) / len(gathered)
            record(step, epoch=epoch, sample_ids=gathered, w=w)
            ended, steps_of_epoch = micro_batch + 1 == MICRO_BATCHES, steps_of_epoch + 1
            job.put("ckpt-%d" % step, {
                "step": step, "w": w,
                "epoch": epoch + ended, "steps_of_epoch": 0 if ended else steps_of_epoch})
            gathered = []
        first = 0


main()
