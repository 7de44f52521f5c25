"""R08, fixed: the job's own newest checkpoint has precedence over --init-from."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def newest(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return None
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def warm_start():
    place, _, name = flag("init-from").rpartition("/")
    say("starting from %s/%s" % (place, name))
    return {"step": 0, "w": folder(place).get(name)["w"]}


def begin(job):
    state = newest(job)
    if state is None and flag("init-from"):
        state = warm_start()
    return state or {"step": 0, "w": 0}


def main():
    job = folder(flag("job-dir"))
    state = begin(job)
    step, w = state["step"], state["w"]
    while step < STEPS:
        step, w = step + 1, w + 1
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            job.put("ckpt-%d" % step, {"step": step, "w": w})


main()
