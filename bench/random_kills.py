#!/usr/bin/env python3
"""Compares the explorer with random killing on the corpus of restart bugs.

The trainers' steps take so long that a training lasts a second (slow_steps.py): without work, most of a run is start-up. The explorer
tries N restarts of each bug's trainer, in T seconds. The same trainer then runs N times more. Each time, one replica
loses its machine at a random instant, and the job recovers as in the explorer. A loss counts if it comes between the replica's first
line or operation and its end. Random killing does not pay for losses that do not count. A random run shows the bug if its job does not succeed, if its steps or objects differ from those of a run without faults,
or if the replica resumes before its last save but one. `caip scenario run` makes the run without faults again for each comparison;
random killing does not pay for that either.

Prints a table, and one JSON line for each bug with --log.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

import yaml

from explore import PAIRS, RESTARTS, ROOT

TRAINING_MILLISECONDS = 1000
ROUNDS = 6  # of draws, until enough losses count
WRITES = ("create", "overwrite", "copy", "move", "rename")


def load(file):
    """The keys of a scenario, with those of the ones that it extends."""
    keys = yaml.safe_load(file.read_text())
    base = keys.pop("extends", None)
    return {**(load(file.parent / base) if base else {}), **keys}


def events_of(file):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if "time" in line]


def instant(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def lives(events):
    """From the first step or operation of each replica to its end, in seconds since the job was sent."""
    sent = instant(next(event for event in events if event["kind"] == "state"))
    begins, ends = {}, {}
    for event in events:
        if event["kind"] in ("step", "storage", "log") and event.get("boot") == 1:
            begins.setdefault(event["replica"], instant(event) - sent)
        elif event["kind"] == "exit":
            ends[event["replica"]] = instant(event) - sent
    return {replica: (begin, ends[replica]) for replica, begin in begins.items() if replica in ends}


def is_hit(events):
    """Whether the loss came after the replica's first step or operation."""
    [replica, *_] = [event["replica"] for event in events if event["kind"] == "fault"] or [None]
    for event in events:
        if event["kind"] == "fault":
            return False
        if event["kind"] in ("step", "storage", "log") and event.get("replica") == replica:
            return replica is not None
    return False


def loses_progress(events):
    """Whether a replica's second boot begins at or before the step of its last save but one."""
    step, saves = {}, {}
    for event in events:
        replica = event.get("replica")
        if event["kind"] == "step" and event["boot"] == 1:
            step[replica] = event["step"]
        elif event["kind"] == "step" and event["boot"] == 2:
            saved = sorted(saves.get(replica, ()))
            if replica in saves and len(saved) > 1 and event["step"] <= saved[-2]:
                return True
            saves.pop(replica, None)  # only its first step counts
        elif event["kind"] == "storage" and event["op"] in WRITES and event["boot"] == 1 and replica in step:
            saves.setdefault(replica, set()).add(step[replica])
    return False


class Trial:
    """One bug, explored and killed at random."""

    def __init__(self, options, name, work):
        self.options, self.name, self.work = options, name, work / name
        self.work.mkdir()
        self.scenario = RESTARTS / f"{name}_{'fixed' if options.fixed else 'broken'}.yaml"
        self.known = load(self.scenario)
        self.flags = ("--state", work / "state", "--jobs", "1")
        self.slow_down()

    def slow_down(self):
        """Replaces the scenario by one whose trainer takes a second for its steps."""
        self.baseline()
        steps = max(event["step"] for event in events_of(self.work / "baseline.jsonl") if event["kind"] == "step")
        trainer = dict(self.known["trainer"])
        python, program, *words = trainer["command"]
        trainer["command"] = [python, str(ROOT / "bench/slow_steps.py"), str(TRAINING_MILLISECONDS / steps),
                              str((self.scenario.parent / program).resolve()), *words]
        slow = self.work / f"{self.name}.yaml"
        slow.write_text(json.dumps({"extends": os.path.relpath(self.scenario, self.work), "description": "Steps that take time.",
                                    "trainer": trainer}))
        self.scenario = slow

    def run(self, *words):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in (self.options.caip, *words, *self.flags)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout, time.monotonic() - begin

    def explore(self):
        report = self.work / "explored.json"
        _, said, seconds = self.run("explore", self.scenario, "--out", self.work / "findings", "--json", report, "--max-points",
                                    self.options.max_points)
        if not report.exists():
            raise SystemExit(said)
        found = json.loads(report.read_text())
        sure = [finding["cause"] for finding in found["findings"] if finding["sure"]]
        return {"runs": found["tried"], "seconds": seconds, "cause": sure[0] if sure else ""}

    def write(self, file, faults):
        known = self.known.get("expect", {})
        expected = {"state": "SUCCEEDED", **{key: value for key, value in known.items() if key.startswith("same_")}}
        file.write_text(json.dumps({"extends": os.path.relpath(self.scenario, file.parent), "description": "A loss at a random instant.",
                                    "faults": faults, "expect": expected, "shows_bug": []}))

    def baseline(self):
        """The lives of the replicas in a run without faults, and its seconds."""
        file = self.work / "baseline.yaml"
        self.write(file, [])
        file.write_text(json.dumps({**json.loads(file.read_text()), "expect": {"state": "SUCCEEDED"}}))
        code, said, _ = self.run("scenario", "run", file, "--events", self.work / "baseline.jsonl", "--json",
                                 self.work / "baseline.json")
        if code != 0:
            raise SystemExit(said)
        [one] = json.loads((self.work / "baseline.json").read_text())["scenarios"]
        return lives(events_of(self.work / "baseline.jsonl")), one["seconds"]

    def kill(self, count, chance):
        """`count` random runs: whether each shows the bug, and its seconds without its baseline run."""
        alive, baseline_seconds = self.baseline()
        runs = []
        for turn in range(ROUNDS):
            drawn = self.draw(count - len(runs), chance, alive, self.work / f"round-{turn}")
            runs += [(shows, max(0.0, seconds - baseline_seconds)) for hit, shows, seconds in drawn if hit]
            if len(runs) == count:
                break
        return [{"shows": shows, "seconds": seconds} for shows, seconds in runs]

    def draw(self, count, chance, alive, place):
        """Triples: whether the loss counts, whether the run shows the bug, its seconds."""
        folder, events = place / "kills", place / "events"
        folder.mkdir(parents=True)
        events.mkdir()
        for number in range(count):
            replica = chance.choice(sorted(alive))
            at = chance.uniform(*alive[replica])
            when = {"at": f"{int(at * 1000)}ms"}
            self.write(folder / f"{number:03}.yaml", [{"kill": {"replica": replica}, "when": when, "if_reached": True}])
        _, said, _ = self.run("scenario", "run", folder, "--events", events, "--json", place / "kills.json")
        results = json.loads((place / "kills.json").read_text())["scenarios"]
        if len(results) != count or any("error" in one or "not_run" in one for one in results):
            raise SystemExit(said)
        drawn = []
        for one in results:
            number = pathlib.Path(one["file"]).stem
            [file] = events.iterdir() if count == 1 else [each for each in events.iterdir() if each.stem.endswith(number)]
            happened = events_of(file)
            drawn.append((is_hit(happened), not one["passed"] or loses_progress(happened), one["seconds"]))
        return drawn


def percent(chance):
    return f"{chance * 100:.0f}%"


def row(name, explored, runs):
    shown = sum(one["shows"] for one in runs)
    spent, in_time = 0.0, []
    for one in runs:
        spent += one["seconds"]
        if spent <= explored["seconds"]:
            in_time.append(one)
    chance = shown / len(runs) if runs else 0
    at_least_once = 1 - (1 - chance) ** len(in_time)
    cause = re.sub(r": .*", "", explored["cause"]) or "nothing"
    return (f"| {name.replace('_', ' ', 1)} | {explored['runs']} | {explored['seconds']:.1f} | {cause} | {shown} of {len(runs)} | "
            f"{percent(chance)} | {spent:.1f} | {sum(one['shows'] for one in in_time)} of {len(in_time)} | {percent(at_least_once)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--caip", default="build/release/caip")
    parser.add_argument("--bugs", default=",".join(PAIRS), help="names of the corpus, with commas between them")
    parser.add_argument("--max-points", default="20", help="of the explorer")
    parser.add_argument("--seed", type=int, default=1, help="of the random instants")
    parser.add_argument("--fixed", action="store_true", help="the fixed trainers: no run may show a bug")
    parser.add_argument("--log", type=pathlib.Path, help="a file for all results")
    options = parser.parse_args()
    options.caip = pathlib.Path(options.caip).resolve()
    work = pathlib.Path(tempfile.mkdtemp(prefix="caip-bench-"))
    print("| bug | explorer: restarts | seconds | finding | random: runs that show it | chance of a run | seconds | "
          "in the explorer's time | chance to see it in that time |")
    print("|---|---|---|---|---|---|---|---|---|")
    try:
        for name in options.bugs.split(","):
            trial = Trial(options, name, work)
            explored = trial.explore()
            runs = trial.kill(explored["runs"], random.Random(f"{options.seed} {name}"))
            print(row(name, explored, runs), flush=True)
            if options.log:
                with options.log.open("a") as log:
                    log.write(json.dumps({"bug": name, "explored": explored, "runs": runs, "load": os.getloadavg()}) + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
