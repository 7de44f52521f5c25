"""A trainer that keeps its state in files of a folder, for tests of the explorer with commands."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Does its steps. {save} saves a step, and {load} sets `step` to the last one that was saved.
TRAINER = """
import json, mmap, os, pathlib, shutil
{begin}
step = 0
{load}
while step < 4:
    step += 1
    print("step", step, flush=True)
{save}
"""

SAFE_SAVE = """
        with open("new", "w") as f:
            f.write(str(step))
            f.flush()
            os.fsync(f.fileno())
        os.replace("new", "state")
        """
UNSYNCED_SAVE = """
        with open("new", "w") as f:
            f.write(str(step))
        os.replace("new", "state")
        """
LOAD = """
        if os.path.exists("state"):
            step = int(open("state").read())
        """


class Options:
    """What the command line of the test gives."""
    caip = None


def indented(text, spaces):
    return textwrap.indent(textwrap.dedent(text), " " * spaces)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="caip-files-")
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name).resolve()
        self.work = self.folder / "work"
        self.work.mkdir()

    def write(self, save, load, begin=""):
        (self.work / "train.py").write_text(TRAINER.format(
            begin=textwrap.dedent(begin), load=indented(load, 0), save=indented(save, 4)))

    def caip(self, *words):
        done = subprocess.run([Options.caip, "--state", str(self.folder / "state"), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                              cwd=self.work)
        return done.returncode, done.stdout

    def validate(self, scenario):
        done = subprocess.run([Options.caip, "scenario", "validate", str(scenario)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, cwd=self.work)
        return done.returncode, done.stdout

    def explore(self, *words, pairs="--no-pairs"):
        return self.caip("explore", pairs, *words, "--", "python3", "train.py")


def main():
    """Runs the tests of the calling script: `--caip PROGRAM [words of unittest]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    Options.caip = str(pathlib.Path(options.caip).resolve())
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
