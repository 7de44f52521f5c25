#!/usr/bin/env python3
"""Measures the time to a trainer's first line and to the end of the command.

Compares, in one run on one machine, `python3 -m trainer.task` (of the interpreter that the job gets),
`caip jobs submit training --stream-logs` (cold: new state directory; warm: the environment is cached;
with the package in the bucket, with --package-path of an unchanged tree, and of one with an edited line, without and
with a setup.py; the first two also with `--isolation process` where replicas otherwise have machines), custom jobs of Vertex AI
(a package in the bucket and a container, created by one request to a running emulator; the time begins with the
request) and `gcloud ai-platform local train` where gcloud is installed. Prints medians, differences to plain Python and ratios, and
the parts of a submit: start of the program, start of an emulator for this command, the job. A second list of parts is between
moments of the job's log: the request, the start of the replica, its first line, the job's end, the command's end.

    bench/submit_latency.py [--caip build/release/caip] [--rounds 15]
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

IMAGE = "gcr.io/bench/task:v1"
EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest"
TASK = """
import sys, time
print("FIRST-LINE %.6f" % time.time(), flush=True)
"""

SETUP = """
from setuptools import find_packages, setup
setup(name="trainer", version="0.1", packages=find_packages())
"""


def timed(argv, cwd, env, moments=None):
    """Seconds to the user's first line, and to the command's end. `moments` gets the job's id, and start, line and end."""
    start = time.time()
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.time()
    if done.returncode != 0 or "FIRST-LINE " not in done.stdout:
        sys.exit(f"{' '.join(argv)} exited {done.returncode}:\n{done.stdout}")
    first = float(done.stdout.split("FIRST-LINE ")[1].split()[0])
    if moments is not None:
        moments.append((argv[4], start, first, end))
    return first - start, end - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--caip", default="build/release/caip")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    caip = str(pathlib.Path(options.caip).resolve())
    work = pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-"))
    try:
        run(caip, options.rounds, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run(caip, rounds, work):
    package = work / "src" / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(TASK)
    state = work / "state"
    env = dict(os.environ, CAIP_STATE=str(state))
    subprocess.run([caip, "buckets", "create", "bench"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    numbers = iter(range(1, 1_000_000))

    def submit(*words):
        return [caip, "jobs", "submit", "training", f"bench_{next(numbers)}", "--stream-logs",
                "--project", "demo", "--region", "us-central1", "--runtime-version", "2.11",
                "--python-version", "3.7", "--module-name", "trainer.task", *words]

    from_tree = ("--package-path", str(package), "--staging-bucket", "gs://bench")
    cold = timed(submit(*from_tree), work, env)
    (uploaded,) = (state / "buckets" / "bench").rglob("*.tar.gz")
    # The interpreter of the job's environment, so that the comparison is fair.
    python = str(next((state / "environments").glob("*/bin/python3")).resolve())
    uri = "gs://bench/" + str(uploaded.relative_to(state / "buckets" / "bench"))
    moments = {"package in bucket": []}
    cases = {
        "python3 -m": lambda: timed([python, "-m", "trainer.task"], work / "src", env),
        "caip, package in bucket": lambda: timed(submit("--packages", uri), work, env, moments["package in bucket"]),
        "caip, --package-path": lambda: timed(submit(*from_tree), work, env),
    }

    def edited():
        (package / "task.py").write_text(f"{TASK}# {next(numbers)}\n")
        return timed(submit(*from_tree), work, env)

    cases["caip, one line edited"] = edited
    cases["caip, edited, setup.py"] = edits_beside_setup(submit, work / "declared", env, numbers)
    facts = json.loads(subprocess.run([caip, "doctor", "--format", "json"], env=env, check=True,
                                      stdout=subprocess.PIPE).stdout)
    if any(fact["name"] == "isolation" and fact["found"] == "yes" for fact in facts):  # the other cases run on machines
        process = ("--isolation", "process")
        moments["bucket, process"] = []
        cases["caip, bucket, process"] = lambda: timed(submit("--packages", uri, *process), work, env,
                                                       moments["bucket, process"])
        cases["caip, path, process"] = lambda: timed(submit(*from_tree, *process), work, env)
    cases["caip --version"] = lambda: ended([caip, "--version"], env)
    cases["caip jobs list"] = lambda: ended([caip, "jobs", "list", "--project", "demo"], env)
    results = {name: [] for name in cases}
    for _ in range(rounds):  # interleaved, so that a noisy minute hits all alike
        for name, case in cases.items():
            results[name].append(case())
    if shutil.which("gcloud"):
        config = work / "gcloud"
        config.mkdir()
        (config / "gce").write_text("False")
        genv = dict(env, CLOUDSDK_CONFIG=str(config), CLOUDSDK_ML_ENGINE_LOCAL_PYTHON=python,
                    CLOUDSDK_CORE_DISABLE_PROMPTS="1")
        argv = ["gcloud", "ai-platform", "local", "train", "--module-name", "trainer.task",
                "--package-path", str(package)]
        results["gcloud local train"] = [timed(argv, work, genv) for _ in range(min(rounds, 5))]
    # The same with an emulator that runs already, so that the command does not start one.
    server = subprocess.Popen([caip, "serve", "--state", str(state), "--port", "0",
                               "--access-log", "off", "--map-image", f"{IMAGE}={python} -m trainer.task"],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = ""
        while "serves" not in line:
            line = server.stdout.readline()
            if server.poll() is not None:
                sys.exit("caip serve ended")
        custom = CustomJobs(next(word for word in line.split() if word.startswith("http://")))
        programs = {
            "Vertex AI, package": {"pythonPackageSpec": {
                "executorImageUri": EXECUTOR, "packageUris": [uri], "pythonModule": "trainer.task"}},
            "Vertex AI, container": {"containerSpec": {
                "imageUri": IMAGE, "env": [{"name": "PYTHONPATH", "value": str(work / "src")}]}}}
        for program in programs.values():
            custom.run(program)  # makes the environment
        for name in programs:
            results[name] = []
        timelines = {name: [custom.timeline(*row) for row in rows] for name, rows in moments.items()}
        results["python3 -m, again"] = []
        for _ in range(rounds):
            for name, program in programs.items():
                results[name].append(custom.run(program))
            results["python3 -m, again"].append(cases["python3 -m"]())
        for name in SERVED:
            results[f"{name}, served"] = [cases[name]() for _ in range(rounds)]
    finally:
        server.terminate()
        server.communicate()
    report(results, cold)
    for name, rows in timelines.items():
        report_timeline(name, rows, results["python3 -m"])


def edits_beside_setup(submit, tree, env, numbers):
    """A submit of a package with a setup.py, of which one line was edited since the last one."""
    package = tree / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tree / "setup.py").write_text(SETUP)

    def edited():
        (package / "task.py").write_text(f"{TASK}# {next(numbers)}\n")
        return timed(submit("--package-path", str(package), "--staging-bucket", "gs://bench"), tree, env)

    edited()  # with pip
    return edited


class CustomJobs:
    """Custom jobs of one replica on a running emulator."""

    def __init__(self, url):
        self.url = url.rstrip("/.,")

    def ask(self, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + target, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def timeline(self, job, start, first, end):
        """Seconds from the command's start to the request, the replica's start, its line, the job's end, the command's end."""
        log = self.ask("/v2/entries:list", {"resourceNames": ["projects/demo"], "pageSize": 1000,
                                            "filter": f'resource.labels.job_id="{job}"'})
        at = {entry.get("textPayload") or entry["jsonPayload"]["message"]: seconds_of(entry["timestamp"])
              for entry in log["entries"]}
        starts = next(moment for text, moment in at.items() if text.startswith("Running command: "))
        return [moment - start for moment in (at["Validating job requirements..."], starts, first,
                                              at["Job completed successfully."], end)]

    def run(self, program):
        """Seconds from the request to the user's first line, and to the end of the job."""
        pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, **program}
        start = time.time()
        job = self.ask("/v1/projects/demo/locations/us-central1/customJobs",
                       {"displayName": "bench", "jobSpec": {"workerPoolSpecs": [pool]}})
        while "endTime" not in job:
            job = self.ask("/v1/" + job["name"])
        end = time.time()
        number = job["name"].rpartition("/")[2]
        log = self.ask("/v2/entries:list", {"resourceNames": ["projects/demo"],
                                            "filter": f'resource.labels.job_id="{number}"'})
        texts = [entry.get("textPayload") or entry["jsonPayload"]["message"] for entry in log["entries"]]
        first = next((text for text in texts if text.startswith("FIRST-LINE ")), None)
        if first is None:
            sys.exit(f"{job}\n{texts}")
        return float(first.split()[1]) - start, end - start


def seconds_of(timestamp):
    """The seconds since 1970 of 2026-11-21T08:20:00.123456789Z."""
    whole, _, fraction = timestamp.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole + "+00:00").timestamp() + float(f"0.{fraction or 0}")


def load():
    """The load of the host, which the figures depend on."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


# The cases that are measured again with a running emulator.
SERVED = ("caip, package in bucket", "caip jobs list")


def ended(argv, env):
    """Seconds to the end of a command that runs no trainer, as `timed` returns them."""
    start = time.time()
    subprocess.run(argv, env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    seconds = time.time() - start
    return seconds, seconds


def report_parts(medians):
    """Prints the parts of a submit of a package in the bucket, beyond plain Python."""
    program = medians["caip --version"][1]
    emulator = medians["caip jobs list"][1] - medians["caip jobs list, served"][1]
    job = medians["caip, package in bucket, served"][1] - program - medians["python3 -m"][1]
    print("package in bucket, beyond python3 -m: "
          f"{program * 1e3:.1f} ms start of the program, "
          f"{emulator * 1e3:.1f} ms start and end of an emulator, "
          f"{job * 1e3:.1f} ms request, job and log")


def report_timeline(name, rows, python):
    """Prints the times between the moments of a submit, and what plain Python needs of them."""
    request, starts, first, ends, end = (statistics.median(column) * 1e3 for column in zip(*rows))
    line, rest = (statistics.median(column) * 1e3 for column in zip(*((row[0], row[1] - row[0]) for row in python)))
    print(f"{name}: {request:.1f} ms to the request, {starts - request:.1f} ms to the replica's start, "
          f"{first - starts:.1f} ms to its first line (python3 -m: {line:.1f}), {ends - first:.1f} ms to the job's end "
          f"(python3 -m: {rest:.1f}), {end - ends:.1f} ms to the command's end")


def report(results, cold):
    medians = {name: tuple(statistics.median(column) for column in zip(*rows))
               for name, rows in results.items()}
    base = medians["python3 -m"]
    print(f"load of the host: {load()}")
    print(f"{'':26}{'first line':>12}{'end':>10}{'over python':>14}{'ratio':>8}")
    print(f"{'caip, cold (with pip)':26}{cold[0] * 1e3:9.1f} ms{cold[1] * 1e3:7.1f} ms"
          f"{(cold[1] - base[1]) * 1e3:11.1f} ms{cold[1] / base[1]:8.1f}")
    for name, (first, end) in medians.items():
        print(f"{name:26}{first * 1e3:9.1f} ms{end * 1e3:7.1f} ms"
              f"{(end - base[1]) * 1e3:11.1f} ms{end / base[1]:8.1f}")
    report_parts(medians)
    plain = medians["python3 -m, again"][0]
    for name in ("Vertex AI, package", "Vertex AI, container"):
        print(f"{name}: first line {(medians[name][0] - plain) * 1e3:.1f} ms after that of python3 -m")
    if "gcloud local train" in medians:
        warm = medians["caip, package in bucket"]
        print(f"gcloud local train takes {medians['gcloud local train'][1] / warm[1]:.1f} times "
              "as long as caip with the package in the bucket")


if __name__ == "__main__":
    main()
