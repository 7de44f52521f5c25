#!/usr/bin/env python3
"""Reports of `caip check`, command lines that it refuses, and interruptions."""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import fixture
import json_schema
import small_disk
import trainers

SCHEMA = trainers.ROOT / "docs" / "check-report.schema.json"
def await_that(what, condition):
    """Waits for the condition, and names it if it does not come true."""
    deadline = time.monotonic() + fixture.PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"awaited in vain: {what}")
        time.sleep(0.02)


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
            found.append(words.replace(b"\0", b" ")[:100].decode(errors="replace"))
    return found


class Reports(fixture.WithFolder):
    FEW = ("--filter", "start/*", "--filter", "roles/ps", "--filter", "package/complete")

    def broken(self):
        return trainers.write(self.folder / "source", trainers.BROKEN["start/succeeds"])

    def test_all_formats_agree(self):
        report, done = self.report(*self.FEW, "--junit", self.folder / "report.xml", "--tap",
                                   self.folder / "report.tap", *self.as_image(self.broken()))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list(json_schema.misfits(report, json.loads(SCHEMA.read_text()))), [])
        self.assertEqual((report["failed"], report["skipped"], report["passed"]), (1, 2, 0))
        suites = xml.etree.ElementTree.parse(self.folder / "report.xml").getroot()
        self.assertEqual({suite.get("name"): suite.get("failures") for suite in suites},
                         {"start": "1", "package": "0", "roles": "0"})
        self.assertIn("no data", suites.find(".//failure").text)
        tap = (self.folder / "report.tap").read_text().splitlines()
        self.assertEqual(tap[:2], ["TAP version 13", "1..3"])
        self.assertTrue(tap[2].startswith("not ok 1 - start/succeeds"), tap[2])
        self.assertEqual(sum(" # SKIP " in line for line in tap), 2)
        self.assertLess(done.stdout.index("FAIL"), done.stdout.index("SKIPPED"), "failures first")
        self.assertNotIn("\033", done.stdout, "no colours in a file")

    def test_a_report_can_be_printed(self):
        done = self.run_caip("--json", "-", *self.FEW, *self.as_image(self.broken()))
        self.assertEqual(json.loads(done.stdout)["failed"], 1)
        self.assertIn("start/succeeds", done.stderr)

    def test_github_gets_annotations(self):
        done = self.run_caip(*self.FEW, *self.as_image(self.broken()),
                             env=dict(os.environ, GITHUB_ACTIONS="true"))
        lines = [line for line in done.stdout.splitlines() if line.startswith("::")]
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("::error title=caip check%3A start/succeeds::The job"))
        self.assertIn("%0A| master-0: RuntimeError: no data", lines[0])

    def test_the_replay_runs_only_that_check(self):
        report, _ = self.report(*self.FEW, *self.as_image(self.broken()), "--", "--steps", "6")
        words = shlex.split(report["checks"][0]["replay"])
        self.assertEqual((words[0], words[-2:]), ("caip", ["--steps", "6"]))
        again = subprocess.run([self.caip, *words[1:]], stdout=subprocess.PIPE, text=True,
                               timeout=fixture.PATIENCE, cwd=self.folder)
        self.assertEqual(again.returncode, 1)
        self.assertIn("1 check: 0 passed, 1 failed", again.stdout)

    def test_the_list_names_all_checks_and_shards_divide_them(self):
        def ids(*words):
            return [line.split()[0] for line in self.run_caip("--list", *words).stdout.splitlines()]
        everything = ids()
        self.assertGreater(len(everything), 15)
        self.assertEqual(sorted(ids("--shard", "1/2") + ids("--shard", "2/2")), sorted(everything))
        self.assertEqual(ids("--filter", "exit/*"), ["exit/failure", "exit/sigterm"])

    def test_wrong_arguments_are_reported_before_any_run(self):
        package = trainers.write(self.folder / "source")
        for words, named in [
                (["--filter", "nothing/*"], "--list prints all ids"),
                (["--shard", "3/2"], "is not a valid shard"),
                (["--run-timeout", "soon"], "is not a valid duration"),
                (["--bucket", "data"], "NAME=FOLDER"),
                (["--bucket", "job=."], "contains the output of the job"),
                (["--packages", "gs://bucket/trainer.tar.gz"], "Give the archive as a file of this host"),
                (["--storage-view", "tape"], "--storage-view"),
                (["--scale-tier", "huge"], "huge"),
                (["--create-buckets"], "unrecognized arguments"),
        ]:
            done = self.run_caip(*self.as_image(package), *words)
            self.assertEqual(done.returncode, 2, (words, done.stdout, done.stderr))
            self.assertIn(named, done.stderr)
        done = self.run_caip("--package-path", self.folder / "nowhere", "--module-name", "t.t")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_full_disk_is_a_failure_of_the_host(self):
        fills = [("        step += 1\n", "        step += 1\n"
                                          "        job.put('big-%d' % step, 'x' * 5_000_000)\n")]
        package = trainers.write(self.folder / "source", fills)
        self.state.mkdir()
        done = subprocess.run(
            [*small_disk.prefix(self.state, "12m"), *self.command(*self.FEW,
                                                                  *self.as_image(package))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=fixture.PATIENCE,
            cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("The disk is full", done.stderr)

    def test_a_failure_of_caip_is_not_a_verdict(self):
        """Without caip-launcher, no verdict on the trainer is possible."""
        alone = self.folder / "caip"
        shutil.copy(self.caip, alone)
        package = trainers.write(self.folder / "source")
        done = subprocess.run([alone, *self.command(*self.FEW, *self.as_image(package))[1:]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=fixture.PATIENCE, cwd=self.folder)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("caip-launcher", done.stderr)

    def test_a_failing_start_shows_the_last_lines(self):
        done = self.run_caip("--filter", "start/*", *self.as_image(self.broken()))
        self.assertIn("Traceback (most recent call last):", done.stdout)
        self.assertIn("raise RuntimeError('no data')", done.stdout)
        self.assertIn("RuntimeError: no data", done.stdout)

    def test_an_interruption_reports_completed_checks(self):
        slow = [("    job = folder(", "    time.sleep(PATIENCE)\n    job = folder(")]
        package = trainers.write(self.folder / "source", slow)
        process = subprocess.Popen(
            self.command(*self.as_image(package), "--json", self.folder / "report.json"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        await_that("the trainer", lambda: any("-m trainer.task" in one
                                              for one in processes_of(self.folder)))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=fixture.PATIENCE)
        self.assertEqual(process.returncode, 130, out)
        self.assertIn("Interrupted", out)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertTrue(report["interrupted"])
        self.assertEqual(report["not_run"], len(report["checks"]))
        await_that("nothing is left", lambda: not processes_of(self.folder))
        self.assertEqual(list(self.state.glob("scenarios/*")), [])

    def test_data_is_read_from_a_folder(self):
        reads = [("    job = folder(", "    print(folder('gs://data/').get('numbers.json'))\n"
                                       "    job = folder(")]
        package = trainers.write(self.folder / "source", reads)
        (self.folder / "data").mkdir()
        (self.folder / "data" / "numbers.json").write_text("[1, 2]")
        words = ["--filter", "start/succeeds", *self.as_image(package)]
        self.assertEqual(self.run_caip(*words).returncode, 1)
        done = self.run_caip(*words, "--bucket", f"data={self.folder / 'data'}")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_trainer_may_use_directories(self):
        """In a directory an incomplete file is visible; the trainer's storage module permits that."""
        report, done = self.report("--storage-view", "path", "--filter", "exit/*", "--filter",
                                   "restart/*", *self.as_image(trainers.write(self.folder / "s")))
        self.assertEqual(list(self.verdicts(report, "FAIL", "WARN", "SKIPPED")),
                         ["restart/explored"], done.stdout)
        self.assertIn(" bytes of create job/out/ckpt-0002", done.stdout)


if __name__ == "__main__":
    fixture.main()
