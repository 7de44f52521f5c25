"""R14, broken: reports are only in memory, so repeated steps are reported again."""
import json
import os
import sys
import time

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY, REPORT_EVERY = 40, 20, 10


def restore(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return {"step": 0, "w": 0.0}
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


class Reports:
    """The reports of this trial, and the file from which the service reads them."""

    def __init__(self):
        self._reports = []

    def add(self, step, value):
        self._reports.append({
            os.environ.get("CLOUD_ML_HP_METRIC_TAG", "accuracy"): str(value),
            "global_step": str(step), "timestamp": time.time(),
            "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0")})
        self._write()

    def _write(self):
        path = os.environ.get("CLOUD_ML_HP_METRIC_FILE", "/tmp/hypertune/output.metrics")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("".join(json.dumps(report, sort_keys=True) + "\n"
                               for report in self._reports))


def main():
    # A trial of Vertex AI gets no --job-dir, but a folder for its checkpoints.
    job, rate = folder(flag("job-dir", os.environ.get("AIP_CHECKPOINT_DIR"))), float(flag("rate", 0.1))
    state = restore(job)
    step, w, reports = state["step"], state["w"], Reports()
    while step < STEPS:
        step, w = step + 1, w + rate * (1.0 - w)
        record(step, w=w)
        if step % REPORT_EVERY == 0:
            reports.add(step, w)
        if step % SAVE_EVERY == 0:
            job.put("ckpt-%d" % step, {"step": step, "w": w})


main()
