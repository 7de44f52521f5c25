"""What a job leaves for others: reports of its metrics, and model/deployment_config.yaml."""
import json
import os
import time

from . import storage
from .report import info

REPORTS_MAX = 100
DEFAULT_FILE = "/tmp/hypertune/output.metrics"


class Metrics:
    """Reports metrics as cloudml-hypertune does: the file holds the last 100 of them, and is written whole."""

    def __init__(self):
        self._file = os.environ.get("CLOUD_ML_HP_METRIC_FILE", DEFAULT_FILE if "CLOUD_ML_TRIAL_ID" in os.environ else "")
        self._lines = []

    def report(self, step, values):
        """Reports each of the values by its tag, and logs them."""
        info("Step %d: %s." % (step, ", ".join("%s %.6g" % pair for pair in values.items())))
        if not self._file:
            return
        for tag, value in values.items():
            self._lines.append(json.dumps({tag: str(float(value)), "global_step": str(int(step)), "timestamp": time.time(),
                                           "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0")}, sort_keys=True))
        self._lines = self._lines[-REPORTS_MAX:]
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        with open(self._file, "w") as file:
            file.write("".join(line + "\n" for line in self._lines))


def write_deployment(job_dir, framework, step, values):
    """`values`: the metrics of the last evaluation; accuracy becomes a percentage, as the service writes it."""
    labels = {"job_id": os.environ.get("CLOUD_ML_JOB_ID", "local").lower(), "global_step": str(step)}
    if "accuracy" in values:
        labels["accuracy"] = "%.4f" % (100 * values["accuracy"])
    else:
        labels["loss"] = "%.6g" % values["loss"]
    lines = ["framework: %s" % framework, "labels:"]
    lines += ["  %s: '%s'" % pair for pair in sorted(labels.items())]
    lines += ["python_version: '3.7'", "runtime_version: '1.15'"]
    storage.upload_text("\n".join(lines) + "\n", storage.join(job_dir, "model", "deployment_config.yaml"))
