"""R03, fixed: checkpoints are ordered by number."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY, KEPT = 1200, 100, 2


def checkpoints(job):
    """The names of the checkpoints, the newest last."""
    return sorted(job.list("step-"), key=lambda name: int(name[len("step-"):]))


def restore(job):
    names = checkpoints(job)
    if not names:
        return {"step": 0, "w": 0.0}
    say("restoring %s" % names[-1])
    return job.get(names[-1])


def rotate(job):
    for name in checkpoints(job)[:-KEPT]:
        job.delete(name)


def main():
    job = folder(flag("job-dir"))
    state = restore(job)
    rotate(job)  # the last save may have written its object and removed none
    for step in range(state["step"] + 1, STEPS + 1):
        state = {"step": step, "w": 0.9 * state["w"] + step}
        record(step, w=state["w"])
        if step % SAVE_EVERY == 0:
            job.put("step-%d" % step, state)
            rotate(job)


main()
