#!/usr/bin/env python3
"""Measures the cost of a trial of a tuning job beyond the start of its process.

Runs one tuning job of trivial trials, four at a time, and the same processes by themselves, four at
a time: once /bin/true, once a Python trainer that reports. The overhead of a trial is the whole
command's time, less that of the bare processes, over the number of trials.

    bench/tuning_overhead.py [--caip build/release/caip] [--trials 200] [--parallel 4] [--algorithm RANDOM_SEARCH]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

REPORT = """
import json, os, sys
with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w") as file:
    file.write(json.dumps({os.environ["CLOUD_ML_HP_METRIC_TAG"]: "0.5", "global_step": "1",
                           "timestamp": 1.0, "trial": os.environ["CLOUD_ML_TRIAL_ID"]}) + "\\n")
"""


def job(name, options):
    return {"jobId": name, "trainingInput": {
        "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "region": "us-central1",
        "masterConfig": {"imageUri": f"gcr.io/bench/{name}:v1"}, "jobDir": "gs://bench/" + name,
        "hyperparameters": {"goal": "MAXIMIZE", "hyperparameterMetricTag": "m",
                            "algorithm": options.algorithm, "maxTrials": options.trials,
                            "maxParallelTrials": options.parallel,
                            "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0,
                                        "maxValue": 1}]}}}


def play(caip, env, name, options, commands, work):
    config = work / f"{name}.json"
    config.write_text(json.dumps(job(name, options)))
    words = [caip, "jobs", "submit", "training", name, "--stream-logs", "--config", str(config),
             "--project", "demo", "--region", "us-central1", "--map-image", f"gcr.io/bench/{name}:v1={commands}"]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    study = json.loads(subprocess.run(
        [caip, "jobs", "describe", name, "--project", "demo", "--format", "json"], env=env,
        capture_output=True, text=True, check=True).stdout)
    trials = study["trainingOutput"]["trials"]
    if study["trainingOutput"]["completedTrialCount"] != str(options.trials):
        sys.exit(f"{name}: not all trials succeeded")
    if "python" in commands and any("finalMetric" not in trial for trial in trials):
        sys.exit(f"{name}: a report was lost")


def bare_seconds(argv, options, work):
    env = dict(os.environ, CLOUD_ML_HP_METRIC_TAG="m", CLOUD_ML_TRIAL_ID="1",
               CLOUD_ML_HP_METRIC_FILE=str(work / "metric"))
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        list(pool.map(lambda _: subprocess.run(argv, env=env, check=True,
                                               stdout=subprocess.DEVNULL),
                      range(options.trials)))
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--caip", default="build/release/caip")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--algorithm", default="RANDOM_SEARCH")
    options = parser.parse_args()
    caip = str(pathlib.Path(options.caip).resolve())
    work = pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-"))
    try:
        run(caip, options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run(caip, options, work):
    env = dict(os.environ, CAIP_STATE=str(work / "state"))
    subprocess.run([caip, "buckets", "create", "bench"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    script = work / "report.py"
    script.write_text(REPORT)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else shutil.which("python3")
    for name, argv in {"shell": ["/bin/true"], "python": [python, "-S", str(script)]}.items():
        begin = time.monotonic()
        play(caip, env, name, options, " ".join(argv), work)
        whole = time.monotonic() - begin
        bare = bare_seconds(argv, options, work)
        print(f"{name}: {options.trials} trials, {options.parallel} at a time: {whole:.2f} s, the "
              f"processes alone {bare:.2f} s; {(whole - bare) / options.trials * 1e3:.1f} ms a "
              "trial over plain starts, with all that the command itself does")


if __name__ == "__main__":
    main()
