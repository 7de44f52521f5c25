"""R05, fixed: the position is saved in micro-batches, with the state of the shuffle."""
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
        return {"step": 0, "w": 0.0, "epoch": 0, "micro_batch": 0, "shuffle": SEED}
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def main():
    job = folder(flag("job-dir"))
    state = restore(job)
    step, w, first = state["step"], state["w"], state["micro_batch"]
    shuffle = Shuffle(state["shuffle"])
    for epoch in range(state["epoch"], EPOCHS):
        before = shuffle.state
        ids, gathered = shuffle.order(IDS), []
        for micro_batch in range(first, MICRO_BATCHES):
            gathered += ids[micro_batch * BATCH:][:BATCH]
            if len(gathered) < ACCUMULATION * BATCH and micro_batch + 1 < MICRO_BATCHES:
                continue
            step, w = step + 1, 0.9 * w + sum(gathered) / len(gathered)
            record(step, epoch=epoch, sample_ids=gathered, w=w)
            ended = micro_batch + 1 == MICRO_BATCHES
            job.put("ckpt-%d" % step, {
                "step": step, "w": w,
                "epoch": epoch + ended, "micro_batch": 0 if ended else micro_batch + 1,
                "shuffle": shuffle.state if ended else before})
            gathered = []
        first = 0


main()
