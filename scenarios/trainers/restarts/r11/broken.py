"""R11, broken: checkpoints that exist at the start count as evaluated, and are expected to stay."""
import sys
import time

sys.path.insert(1, sys.path[0] + "/..")

from cluster import Cluster, wait_to_be_stopped
from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY, KEPT, PARTS = 20, 5, 2, 3
LOOK_SECONDS = 0.02


def step_of(name):
    return int(name.split("/")[0][len("ckpt-"):])


def whole(job):
    """The steps whose checkpoint has all its parts, ascending."""
    steps = [step_of(name) for name in job.list("ckpt-")]
    return sorted(step for step in set(steps) if steps.count(step) == PARTS)


def rotate(job):
    """Removes all but the newest, and the remains of incomplete saves and removals."""
    kept = whole(job)[-KEPT:]
    for name in job.list("ckpt-"):
        if step_of(name) not in kept:
            job.delete(name)


def save(job, step, w):
    for part in range(PARTS):
        job.put("ckpt-%d/part-%d" % (step, part), {"step": step, "w": w[part]})
    rotate(job)


def restore(job):
    steps = whole(job)
    if not steps:
        return 0, [0.0] * PARTS
    say("restoring ckpt-%d" % steps[-1])
    return steps[-1], [job.get("ckpt-%d/part-%d" % (steps[-1], part))["w"]
                       for part in range(PARTS)]


def master(job, patience):
    rotate(job)
    step, w = restore(job)
    while step < STEPS:
        step, w = step + 1, [0.9 * value + part for part, value in enumerate(w)]
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            save(job, step, w)
    deadline = time.monotonic() + patience
    while not job.list("eval/%d" % STEPS) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)


def evaluate(job, step):
    loss = sum(job.get("ckpt-%d/part-%d" % (step, part))["w"] for part in range(PARTS))
    job.put("eval/%d" % step, {"step": step, "loss": loss})
    record(step, loss=loss)


def evaluator(job):
    """Works until the service stops it with the job."""
    last = max(whole(job), default=0)
    say("looking for checkpoints after step %d" % last)
    while last < STEPS:
        newest = max(whole(job), default=0)
        if newest <= last:
            time.sleep(LOOK_SECONDS)
            continue
        evaluate(job, newest)
        last = newest
    wait_to_be_stopped()


def main():
    job = folder(flag("job-dir"))
    if Cluster().role == "master":
        master(job, float(flag("patience", 60)))
    else:
        evaluator(job)


main()
