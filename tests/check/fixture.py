"""Shared by the tests of `caip check`: a folder, the command, and its report."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

IMAGE = "gcr.io/p/trainer:v1"
PATIENCE = 300


class WithFolder(unittest.TestCase):
    maxDiff = None
    caip = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-check-")
        self.folder = pathlib.Path(directory.name)
        self.state = self.folder / "state"
        self.addCleanup(directory.cleanup)

    def command(self, *words):
        return [self.caip, "check", *map(str, words)]

    def run_caip(self, *words, **surroundings):
        return subprocess.run(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=PATIENCE, cwd=self.folder, **surroundings)

    def play(self, scenario):
        return subprocess.run([self.caip, "scenario", "run", str(scenario), "--state",
                               str(self.state)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=PATIENCE)

    def as_image(self, package):
        """Arguments for a job whose trainer replaces an image, so that nothing must be installed."""
        command = f"env PYTHONPATH={package.parent} /usr/bin/python3 -B -m trainer.task"
        return ["--master-image-uri", IMAGE, "--map-image", f"{IMAGE}={command}", "--state",
                self.state]

    def as_package(self, package):
        return ["--package-path", package, "--module-name", "trainer.task", "--state", self.state]

    def report(self, *words, **surroundings):
        """The JSON report, and the finished process."""
        done = self.run_caip("--json", self.folder / "report.json", *words, **surroundings)
        if done.returncode not in (0, 1):
            self.fail(f"exit code {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads((self.folder / "report.json").read_text()), done

    @staticmethod
    def verdicts(report, *kinds):
        return {check["id"]: check["found"] for check in report["checks"]
                if check["verdict"] in kinds}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    WithFolder.caip = str(pathlib.Path(options.caip).resolve())
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
