#!/usr/bin/env python3
"""Measures the explorer: on the corpus of restart bugs, and in a sweep of two hundred crash points.

Prints a table of the corpus (bug, found by its scenario, found by the explorer, points, seconds). Then
prints the time of N recoveries one by one and on all cores. The second should be little more than the
first divided by the number of cores.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESTARTS = ROOT / "scenarios" / "restarts"
PAIRS = ["r01_half_a_checkpoint", "r02_temporary_alone", "r03_newest_by_name", "r04_mid_epoch",
         "r05_mid_epoch", "r06_schedule", "r07_patience", "r08_warm_start", "r09_chief",
         "r10_empty_server", "r12_mixed_shards", "r13_before_export"]


def run(*words):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout, time.monotonic() - begin


def processor_seconds():
    """Processor time of all processes that have run so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def tried(text):
    found = re.search(r"(\d+) tried in (\S+(?: \d+s)?)", text)
    return int(found.group(1)) if found else 0


def corpus(caip, work):
    print("| bug | its scenario | the explorer, without hints | points | seconds | on the fixed trainer |")
    print("|---|---|---|---|---|---|")
    for name in PAIRS:
        words = ("--state", work / "state", "--max-points", "20")
        shown, _, _ = run(caip, "scenario", "run", RESTARTS / f"{name}_broken.yaml", "--state",
                          work / "state")
        _, text, seconds = run(caip, "explore", RESTARTS / f"{name}_broken.yaml", "--out",
                               work / name, *words)
        clean, _, _ = run(caip, "explore", RESTARTS / f"{name}_fixed.yaml", "--out",
                          work / (name + "-fixed"), *words)
        cause = re.search(r"^1\. (.*?)  \(", text, re.M)
        print(f"| {name.replace('_', ' ', 1)} | {'shows it' if shown == 0 else 'does not'} | "
              f"{cause.group(1) if cause else 'nothing'} | {tried(text)} | {seconds:.1f} | "
              f"{'nothing' if clean == 0 else 'something'} |", flush=True)


def sweep(caip, work, steps):
    trainers = work / "trainers"
    shutil.copytree(ROOT / "scenarios" / "trainers" / "restarts", trainers)
    program = trainers / "r01" / "fixed.py"
    program.write_text(program.read_text().replace("STEPS, SAVE_EVERY = 40", f"STEPS, SAVE_EVERY = {steps}"))
    scenario = work / "sweep.yaml"
    scenario.write_text("description: Three objects every ten steps.\n"
                        f"trainer: {{command: [/usr/bin/python3, {program}]}}\n")
    took = {}
    cores = os.cpu_count()
    for jobs in (1, cores):
        before = processor_seconds()
        code, text, seconds = run(caip, "explore", scenario, "--state", work / "state", "--out",
                                  work / f"sweep-{jobs}", "--jobs", jobs)
        if code != 0:
            raise SystemExit(text)
        took[jobs] = seconds
        print(f"{tried(text)} points, {jobs} at once: {seconds:.1f} s, "
              f"{seconds / tried(text) * 1e3:.0f} ms each; "
              f"{(processor_seconds() - before) / tried(text) * 1e3:.0f} ms of processor time each")
    print(f"on {cores} cores: {took[cores] / (took[1] / cores):.2f} of the one-by-one time over the cores")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--caip", default="build/release/caip")
    parser.add_argument("--steps", type=int, default=670, help="of the sweep; three points every ten")
    parser.add_argument("--part", choices=["corpus", "sweep"], help="only that")
    options = parser.parse_args()
    caip = pathlib.Path(options.caip).resolve()
    work = pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-"))
    try:
        if options.part != "sweep":
            corpus(caip, work)
        if options.part != "corpus":
            sweep(caip, work, options.steps)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
