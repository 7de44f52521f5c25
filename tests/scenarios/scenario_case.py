"""A scenario and its trainer in a folder, for tests of `caip scenario run`."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import shared_modules

PATIENCE = 60
LIMITS = "limits: {wall: 4m, no_progress: 2m}\n"

HEAD = """
import http.client, json, os, signal, subprocess, sys, time, urllib.error, urllib.request
from console import flag, record, say
from storage import folder
BASE = os.environ["STORAGE_EMULATOR_HOST"]
JOB_API = os.environ["CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"]

def ask(url, method="GET", data=None):
    # Returns status and body; for an answer that breaks off, minus the number of bytes received.
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except http.client.IncompleteRead as error:
        return -len(error.partial), error.partial

def upload(name, data=b"x"):
    return ask(BASE + "/upload/storage/v1/b/job/o?uploadType=media&name=" + name, "POST", data)

def download(name):
    return ask(BASE + "/storage/v1/b/job/o/" + name + "?alt=media")
"""


def processes_with(word):
    """The living processes of this host, also those of machines, that have this argument."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in entry.joinpath("cmdline").read_bytes().split(b"\0"):
                found.append(entry.name)
        except OSError:
            continue
    return found


class Options:
    """What the command line of the test gives."""
    caip = None


def caip():
    return Options.caip


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-faults-")
        self.folder = pathlib.Path(directory.name)
        self.addCleanup(directory.cleanup)

    def configure(self, text):
        (self.folder / "state").mkdir(exist_ok=True)
        (self.folder / "state" / "config.yaml").write_text(text)

    def use_processes(self):
        """For trainers that meet the test in files of this host, which machines do not share."""
        self.configure("isolation: process\n")

    def scenario(self, trainer, rest):
        """Writes a scenario. Limits are wide unless they are tested, because the host may be busy."""
        if "limits:" not in rest:
            rest = textwrap.dedent(rest) + "\n" + LIMITS
        (self.folder / "trainer.py").write_text(HEAD + textwrap.dedent(trainer))
        shared_modules.copy_to(self.folder)
        file = self.folder / "scenario.yaml"
        file.write_text("description: A scenario of the test.\ntrainer: {command: [/usr/bin/python3, "
                        f"{self.folder / 'trainer.py'}]}}\n" + textwrap.dedent(rest))
        return file

    def run_scenario(self, file, *words, environment=()):
        """Returns exit code, output, report and event list."""
        report, events = self.folder / "report.json", self.folder / "events.jsonl"
        for old in (report, events):
            old.unlink(missing_ok=True)
        done = subprocess.run([caip(), "scenario", "run", str(file), "--state",
                               str(self.folder / "state"), "--json", str(report), "--events",
                               str(events), "--verbose", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300,
                              env=dict(os.environ, **dict(environment)))
        played = json.loads(report.read_text())["scenarios"][0] if report.exists() else None
        lines = [json.loads(line) for line in events.read_text().splitlines()] \
            if events.exists() else []
        return done.returncode, done.stdout, played, lines

    def play(self, trainer, rest, *words):
        """Plays a scenario that must pass; returns the trainer's lines and the events."""
        code, text, _, events = self.run_scenario(self.scenario(trainer, rest), *words)
        if code == 3:
            self.skipTest(text.strip().splitlines()[1].strip())
        self.assertEqual(code, 0, text)
        said = [event["message"] for event in events
                if event["kind"] == "log" and event["replica"] == "master-0"]
        return said, events


def main():
    """Runs the tests of the calling script: `--caip PROGRAM [words of unittest]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    Options.caip = str(pathlib.Path(options.caip).resolve())
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
