#!/usr/bin/env python3
"""Measures the time to a trainer's first line and to the end of the command.

Compares, in one run on one machine, `python3 -m trainer.task` (of the interpreter that the job gets),
`caip jobs submit training --stream-logs` (cold: new state directory; warm: the environment is cached;
with the package in the bucket, with --package-path of an unchanged tree, and of one with an edit; the first two also with
`--isolation process` where replicas otherwise have machines; the first one also with the state in memory), custom jobs of
Vertex AI (a package in the bucket and a container, created by one request to a running emulator; the time begins with the
request) and `gcloud ai-platform local train` where gcloud is installed.

The edits: a line without a setup.py and beside one with constants (neither setuptools nor pip runs), a line beside a setup.py
that computes a value (setuptools builds the package again, pip does not run), and the version, which setup.cfg takes from a
module (both run; these submits and those of gcloud have at most 5 rounds).

Prints medians, differences to plain Python and ratios, and the parts of a submit: start of the program, start of an emulator for
this command, the job. A second list of parts is between moments of the job's log: the request, the start of the replica, its
first line, the job's end, the command's end. A table splits the time into processes, waiting, files and state.

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

from file_system import IN_MEMORY, file_system_of, mount_of
from submit_split import Split

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

# A resolved path may lead to another tree, so setuptools builds this package after each edit. pip does not run: in a source
# distribution the path leads nowhere else (docs/limitations.md, "pip does not run").
COMPUTING_SETUP = """
from pathlib import Path
from setuptools import find_packages, setup
here = Path(__file__).resolve().parent
text = (here / "README.md").read_text().strip().upper()
setup(name="trainer", version="0.2", description=text, packages=find_packages())
"""

VERSION_OF_MODULE = """
[metadata]
name = trainer
version = attr: trainer.__version__
[options]
packages = find:
"""

WITHOUT_PIP = "they were replaced without pip"  # in the job's log
SLOW = "caip, version edited, pip"
SLOW_ROUNDS = 5  # of a case that takes seconds
STATE_IN_MEMORY = "caip, state in memory"
STATE_BYTES = 256 << 20  # a small /dev/shm, as in many containers, has no room for the environment
# The cases whose time is split into processes, waiting, files and state.
SPLIT = ("python3 -m", "caip, package in bucket", "caip, --package-path", "caip, bucket, process")


def timed(argv, cwd, env, moments=None, pip=None):
    """Seconds to the user's first line, and to the command's end. `moments` gets the job's id, and start, line and end.

    `pip`: whether pip must run after an edit. The times of another path would have the wrong name.
    """
    start = time.time()
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.time()
    if done.returncode != 0 or "FIRST-LINE " not in done.stdout:
        sys.exit(f"{' '.join(argv)} exited {done.returncode}:\n{done.stdout}")
    if pip is not None and pip == (WITHOUT_PIP in done.stdout):
        sys.exit(f"{' '.join(argv)}: pip {'did not run' if pip else 'ran'}:\n{done.stdout}")
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
    memory = directory_in_memory(work)
    try:
        run(caip, options.rounds, work, memory)
    finally:
        for directory in (work, memory):
            if directory:
                shutil.rmtree(directory, ignore_errors=True)


def directory_in_memory(work):
    """A new directory for a state in memory; None if `work` is in memory already, or the host has no room there."""
    shared = pathlib.Path("/dev/shm")
    if mount_of(work)[0] in IN_MEMORY or not os.access(shared, os.W_OK):
        return None
    kind, mount_options = mount_of(shared)
    if kind not in IN_MEMORY or "noexec" in mount_options or shutil.disk_usage(shared).free < STATE_BYTES:
        return None
    return pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-", dir=shared))


class Submits:
    """Submits of packages to an emulator of their own, with one state directory."""

    numbers = iter(range(1, 1_000_000))

    def __init__(self, caip, state):
        self.caip, self.state = caip, state
        self.env = dict(os.environ, CAIP_STATE=str(state))
        subprocess.run([caip, "buckets", "create", "bench"], env=self.env, check=True, stdout=subprocess.DEVNULL)

    def run(self, *words, **more):
        argv = [self.caip, "jobs", "submit", "training", f"bench_{next(self.numbers)}", "--stream-logs",
                "--project", "demo", "--region", "us-central1", "--runtime-version", "2.11",
                "--python-version", "3.7", "--module-name", "trainer.task", *words]
        return timed(argv, self.state.parent, self.env, **more)

    def run_tree(self, tree, *words, **more):
        """A submit of the package `trainer` in `tree`."""
        from_tree = ("--package-path", str(tree / "trainer"), "--staging-bucket", "gs://bench")
        return self.run(*from_tree, *words, **more)

    def uploaded(self):
        """The URI of the only package in the bucket."""
        bucket = self.state / "buckets" / "bench"
        (package,) = bucket.rglob("*.tar.gz")
        return f"gs://bench/{package.relative_to(bucket)}"

    def edits(self, tree, files, edited, text, pip):
        """A case: a submit after an edit of a file. `text` makes its text of a number. `pip`: whether pip then runs."""
        if not tree.exists():
            write_package(tree, files)
            self.run_tree(tree)  # with pip

        def case():
            (tree / edited).write_text(text(next(self.numbers)))
            return self.run_tree(tree, pip=pip)

        return case


def write_package(tree, files):
    for name, text in {"trainer/__init__.py": "", "trainer/task.py": TASK, **files}.items():
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def edit_cases(submits, work):
    """A submit after an edit, once for each way to the new environment."""
    line, task = (lambda number: f"{TASK}# {number}\n"), "trainer/task.py"
    computing = {"setup.py": COMPUTING_SETUP, "README.md": "words\n"}
    from_module = {"setup.py": "from setuptools import setup\nsetup()\n", "setup.cfg": VERSION_OF_MODULE,
                   "trainer/__init__.py": '__version__ = "1.0"\n'}
    return {
        "caip, one line edited": submits.edits(work / "src", {}, task, line, pip=False),
        "caip, edited, setup.py": submits.edits(work / "declared", {"setup.py": SETUP}, task, line, pip=False),
        "caip, setup.py computes": submits.edits(work / "computed", computing, task, line, pip=False),
        SLOW: submits.edits(work / "versioned", from_module, "trainer/__init__.py",
                            lambda number: f'__version__ = "1.{number}"\n', pip=True),
    }


def process_cases(submits, uri, tree, moments):
    """The same without machines; none if the other cases have no machines either."""
    facts = json.loads(subprocess.run([submits.caip, "doctor", "--format", "json"], env=submits.env, check=True,
                                      stdout=subprocess.PIPE).stdout)
    if not any(fact["name"] == "isolation" and fact["found"] == "yes" for fact in facts):
        return {}
    process = ("--isolation", "process")
    moments["bucket, process"] = []
    return {"caip, bucket, process": lambda: submits.run("--packages", uri, *process,
                                                         moments=moments["bucket, process"]),
            "caip, path, process": lambda: submits.run_tree(tree, *process)}


def memory_cases(caip, memory, tree):
    """The package in the bucket with the state in memory; none without a directory in memory."""
    if not memory:
        print("the state is not compared with one in memory: it is in memory, or /dev/shm has no room for it")
        return {}
    submits = Submits(caip, memory / "state")
    submits.run_tree(tree)
    uri = submits.uploaded()
    return {STATE_IN_MEMORY: lambda: submits.run("--packages", uri)}


def run(caip, rounds, work, memory):
    tree = work / "src"
    write_package(tree, {})
    submits = Submits(caip, work / "state")
    cold = submits.run_tree(tree)
    uri = submits.uploaded()
    # The interpreter of the job's environment, so that the comparison is fair.
    python = str(next((submits.state / "environments").glob("*/bin/python3")).resolve())
    moments = {"package in bucket": []}
    cases = {
        "python3 -m": lambda: timed([python, "-m", "trainer.task"], tree, submits.env),
        "caip, package in bucket": lambda: submits.run("--packages", uri, moments=moments["package in bucket"]),
        "caip, --package-path": lambda: submits.run_tree(tree),
        **memory_cases(caip, memory, tree),
        **edit_cases(submits, work),
        **process_cases(submits, uri, tree, moments),
        "caip --version": lambda: ended([caip, "--version"], submits.env),
        "caip jobs list": lambda: ended([caip, "jobs", "list", "--project", "demo"], submits.env),
    }
    results, split = {name: [] for name in cases}, Split()
    for number in range(rounds):  # interleaved, so that a noisy minute hits all alike
        for name, case in cases.items():
            if name != SLOW or number < SLOW_ROUNDS:
                results[name].append(split.measure(name, case))
    if shutil.which("gcloud"):
        results["gcloud local train"] = [train_with_gcloud(work, python, submits.env)
                                         for _ in range(min(rounds, SLOW_ROUNDS))]
    timelines = measure_served(submits, python, uri, moments, cases, results, rounds)
    print(f"state on {file_system_of(submits.state)}")
    report(results, cold)
    for name, rows in timelines.items():
        report_timeline(name, rows, results["python3 -m"])
    split.report({name: STATE_IN_MEMORY if name == "caip, package in bucket" else None for name in SPLIT if name in cases})


def train_with_gcloud(work, python, env):
    config = work / "gcloud"
    config.mkdir(exist_ok=True)
    (config / "gce").write_text("False")
    genv = dict(env, CLOUDSDK_CONFIG=str(config), CLOUDSDK_ML_ENGINE_LOCAL_PYTHON=python,
                CLOUDSDK_CORE_DISABLE_PROMPTS="1")
    argv = ["gcloud", "ai-platform", "local", "train", "--module-name", "trainer.task",
            "--package-path", str(work / "src" / "trainer")]
    return timed(argv, work, genv)


def measure_served(submits, python, uri, moments, cases, results, rounds):
    """The same with an emulator that runs already, so that the command does not start one. Returns the times of moments."""
    server = subprocess.Popen([submits.caip, "serve", "--state", str(submits.state), "--port", "0",
                               "--access-log", "off", "--map-image", f"{IMAGE}={python} -m trainer.task"],
                              env=submits.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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
                "imageUri": IMAGE, "env": [{"name": "PYTHONPATH", "value": str(submits.state.parent / "src")}]}}}
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
        return timelines
    finally:
        server.terminate()
        server.communicate()


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
