"""A trainer that survives the service, and for each check a variant that fails only that check."""
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORAGE = ROOT / "scenarios" / "trainers" / "restarts" / "storage.py"

SOUND = '''"""Trains for a few steps, saves every other one, and ends with an export."""
import argparse
import json
import os
import sys
import time

from trainer.storage import folder

PATIENCE = 60


def task():
    """The role and index of this replica; without TF_CONFIG it is the only one."""
    described = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
    return described.get("type", "master"), described.get("index", 0)


def newest(job):
    return max((int(name[len("ckpt-"):]) for name in job.list("ckpt-")), default=0)


def report(step, value):
    """Reports as cloudml-hypertune does: it replaces the file, and writes numbers as strings."""
    file = os.environ.get("CLOUD_ML_HP_METRIC_FILE")
    if not file:
        return
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as out:
        out.write(json.dumps({"accuracy": str(value), "global_step": str(step),
                              "timestamp": time.time(), "trial": "1"}) + "\\n")


def train(job, steps):
    step = newest(job)
    while step < steps:
        step += 1
        print(json.dumps({"step": step, "w": step / 4}), flush=True)
        if step % 2 == 0:
            job.put("ckpt-%04d" % step, {"step": step})
    report(steps, steps / 4)
    if not job.list("export/"):
        job.put("export/model", {"w": steps / 4})


def wait_for_export(job):
    """The task of replicas that do not train."""
    deadline = time.monotonic() + PATIENCE
    while not job.list("export/") and time.monotonic() < deadline:
        time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--steps", type=int, default=8)
    args, _ = parser.parse_known_args()
    job = folder(args.job_dir)
    role, index = task()
    if role in ("chief", "master"):
        train(job, args.steps)
    else:
        wait_for_export(job)


if __name__ == "__main__":
    main()
'''

# For each check, the replacements that break it.
BROKEN = {
    "start/succeeds": [("    job = folder(", "    raise RuntimeError('no data')\n    job = folder(")],
    "arguments/job-dir": [
        ('"--job-dir", required=True', '"--output", default="gs://job/out"'),
        ("args, _ = parser.parse_known_args()", "args = parser.parse_args()"),
        ("args.job_dir", "args.output")],
    "roles/without-tf-config": [
        ('os.environ.get("TF_CONFIG") or "{}"', 'os.environ["TF_CONFIG"]')],
    "roles/chief": [
        ('    if role in ("chief", "master"):',
         '    if role not in ("master", "worker", "ps", "evaluator"):\n'
         '        raise ValueError("no such role: " + role)\n    if role == "master":')],
    "roles/master": [
        ('    if role in ("chief", "master"):',
         '    if role == "master" and "TF_CONFIG" in os.environ and "worker" in os.environ["TF_CONFIG"]:\n'
         '        raise ValueError("no such role: " + role)\n    if role in ("chief", "master"):')],
    "roles/worker": [
        ("        wait_for_export(job)",
         '        if role == "worker":\n            raise ValueError("no such role")\n'
         "        wait_for_export(job)")],
    "roles/ps": [
        ("        wait_for_export(job)",
         '        if role == "ps":\n            raise ValueError("no such role")\n'
         "        wait_for_export(job)")],
    "roles/evaluator": [
        ("    role, index = task()",
         "    role, index = task()\n"
         '    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})\n'
         "    if cluster:\n        print(cluster[role][index], flush=True)")],
    "roles/stop-with-master": [
        ("        wait_for_export(job)",
         "        import signal\n        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
         "        time.sleep(PATIENCE)")],
    "exit/failure": [
        ("        train(job, args.steps)",
         "        try:\n            train(job, args.steps)\n"
         "        except OSError as error:\n            print('never mind', error, flush=True)")],
    "exit/sigterm": [
        ("    role, index = task()",
         "    import signal\n    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
         "    role, index = task()")],
    "restart/checkpoints": [("        if step % 2 == 0:", "        if step == steps:")],
    "restart/sigterm": [
        ("    step = newest(job)",
         "    step = newest(job)\n    if step:\n        raise RuntimeError('job-dir is not empty')")],
    "restart/resumes": [("    step = newest(job)", "    step = 0")],
    # A checkpoint of two objects counts as soon as the first exists.
    "restart/explored": [
        ("    step = newest(job)",
         "    step = newest(job)\n    if step:\n        job.get('state-%04d' % step)"),
        ('            job.put("ckpt-%04d" % step, {"step": step})',
         '            job.put("ckpt-%04d" % step, {})\n'
         '            job.put("state-%04d" % step, {"step": step})')],
    "logs/severity": [
        ("        if step % 2 == 0:",
         '        print("INFO: step %d is done" % step, file=sys.stderr, flush=True)\n'
         "        if step % 2 == 0:")],
    "machine/writes": [
        ("    job = folder(",
         "    with open('history.csv', 'w') as out:\n        out.write('step,w')\n    job = folder(")],
    "machine/processes": [
        ("    job = folder(",
         "    import subprocess\n    subprocess.Popen(['sleep', '600'])\n    job = folder(")],
    "machine/independent": [
        ('    if not job.list("export/"):',
         '    if not job.list("hosts/"):\n        job.put("hosts/" + os.environ["HOSTNAME"], {})\n'
         '    if not job.list("export/"):')],
}

# A tuning job whose trial reports another metric.
OTHER_METRIC = [('"accuracy"', '"loss"')]
TUNING = '''trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    params: [{parameterName: rate, type: DOUBLE, minValue: 0.1, maxValue: 1.0}]
'''

# This variant causes only a warning.
STRICT = [("args, _ = parser.parse_known_args()", "args = parser.parse_args()")]

# These save under another name first, and report no steps. The second one begins again each time.
BY_RENAMES = [
    ('        print(json.dumps({"step": step, "w": step / 4}), flush=True)\n', ""),
    ("    step = newest(job)", '    step = job.get("state")["step"] if job.list("state") else 0'),
    ('            job.put("ckpt-%04d" % step, {"step": step})',
     '            job.put("new", {"step": step})\n            job.rename("new", "state")')]
BY_RENAMES_FROM_THE_START = [*BY_RENAMES, ('if job.list("state") else 0', "if False else 0")]

# Variants that fail only as packages: replacements, and the sub-package with the storage module.
BROKEN_PACKAGES = {
    "package/installed": ([("from trainer.storage", "from trainer.store.storage")], "store"),
    "package/complete": ([
        ("def main():", "def export():\n    from trainer.store import storage\n"
                        "    return storage\n\n\ndef main():")], "store"),
    "package/dependencies": ([
        ("def main():", "def plot():\n    import a_library_of_the_office\n"
                        "    return a_library_of_the_office\n\n\ndef main():")], None),
}


def write(folder, replacements=(), sub_package=None):
    """Writes the package `trainer` with these replacements, and returns its path.

    If there is a sub-package, it gets a copy of the storage module."""
    source = SOUND
    for old, new in replacements:
        assert old in source, old
        source = source.replace(old, new)
    package = pathlib.Path(folder) / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(source)
    shutil.copy(STORAGE, package / "storage.py")
    if sub_package:
        (package / sub_package).mkdir()
        (package / sub_package / "__init__.py").write_text("")
        shutil.copy(STORAGE, package / sub_package / "storage.py")
    return package
