"""Shared by the tests of the explorer with real processes: a folder for each test, and what an exploration left there."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import trainers

RESTARTS = trainers.ROOT / "scenarios" / "restarts"
PATIENCE = 60


def await_that(what, condition):
    """Waits for the condition, and names it if it does not come true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"awaited in vain: {what}")
        time.sleep(0.01)


def processes_of(folder):
    """Live processes whose command line or environment mentions the folder."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if entry.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z":
                continue
            words = entry.joinpath("cmdline").read_bytes() + entry.joinpath("environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words and int(entry.name) != os.getpid():
            found.append(words.split(b"\0")[0].decode())
    return found


def memory_directory_of(process_id):
    """The explorer's temporary directory in memory, or None. It is an argument of its guard process."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = entry.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            words = entry.joinpath("cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if parent == str(process_id) and len(words) > 3 and words[3].startswith("/dev/shm/caip-"):
            return pathlib.Path(words[3])
    return None


def caip():
    """The program under test."""
    return ExplorerCase.program


class ExplorerCase(unittest.TestCase):
    program = None

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="caip-explore-")
        self.folder = pathlib.Path(self.directory.name)
        self.addCleanup(self.directory.cleanup)

    def configure(self, text):
        (self.folder / "state").mkdir(exist_ok=True)
        (self.folder / "state" / "config.yaml").write_text(text)

    def use_processes(self):
        """For trainers that write files of this host, which machines do not share."""
        self.configure("isolation: process\n")

    def command(self, file, *words, out="out"):
        return [self.program, "explore", str(file), "--state", str(self.folder / "state"), "--out",
                str(self.folder / out), *words]

    def explore(self, file, *words, out="out", prefix=()):
        done = subprocess.run([*prefix, *self.command(file, *words, out=out)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def explore_here(self, *words):
        """Runs in the folder of the test, and names no folder except the state directory."""
        done = subprocess.run([self.program, "explore", "--state", str(self.folder / "state"), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, cwd=self.folder)
        return done.returncode, done.stdout

    def half_a_checkpoint(self):
        file = self.folder / "r01.yaml"
        file.write_text(f"extends: {RESTARTS / 'r01_half_a_checkpoint_broken.yaml'}\n"
                        + trainers.LIMITS)
        return file

    def play(self, file):
        """Runs a scenario, and returns its part of the JSON report."""
        report = self.folder / "report.json"
        subprocess.run([self.program, "scenario", "run", str(file), "--state", str(self.folder / "state"),
                        "--json", str(report)], stdout=subprocess.DEVNULL, timeout=120)
        return json.loads(report.read_text())["scenarios"][0]

    def findings(self, out="out"):
        """The texts of the finding files, without paths."""
        return [re.sub(r"extends: .*", "", file.read_text())
                for file in sorted((self.folder / out).glob("finding-*.yaml"))]

    def verdicts(self, out="out"):
        """For each point, whether a flaw was found."""
        lines = (self.folder / out / "progress.jsonl").read_text().splitlines()[1:]
        return {point["point"]: bool(point["flaws"]) for point in map(json.loads, lines)}

    def points_tried(self, out="out"):
        file = self.folder / out / "progress.jsonl"
        return max(0, len(file.read_text().splitlines()) - 1) if file.exists() else 0

    def assert_nothing_is_left(self):
        await_that("no process of the exploration", lambda: not processes_of(self.folder))
        left = list((self.folder / "state" / "scenarios").iterdir())
        self.assertEqual(left, [], "directories of runs are left")


def main():
    """Like unittest.main, with the program as an argument."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    ExplorerCase.program = str(pathlib.Path(options.caip).resolve())
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
