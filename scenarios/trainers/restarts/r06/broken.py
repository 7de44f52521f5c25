"""R06, broken: the weights are restored, but momentum and the schedule start over."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY, WARM_UP, HIGHEST = 40, 5, 10, 0.1


class Schedule:
    """Rises to the highest rate during the warm-up, then falls to 0 at the last step."""

    def __init__(self):
        self.count = 0

    def rate(self):
        self.count += 1
        if self.count <= WARM_UP:
            return HIGHEST * self.count / WARM_UP
        return HIGHEST * (STEPS - self.count) / (STEPS - WARM_UP)


def newest(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return None
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def main():
    job = folder(flag("job-dir"))
    step, w, momentum, schedule = 0, 1.0, 0.0, Schedule()
    state = newest(job)
    if state:
        step, w = state["step"], state["w"]
    while step < STEPS:
        step, rate = step + 1, schedule.rate()
        momentum = 0.9 * momentum + (w - 1.0 / step)
        w -= rate * momentum
        record(step, lr=rate, w=w)
        if step % SAVE_EVERY == 0:
            job.put("ckpt-%d" % step, {"step": step, "w": w})


main()
