#!/usr/bin/env python3
"""The explorer with real processes: second restarts, both kinds of disks, interruptions and resumption.
No process may be left.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import json_schema
import machines
import small_disk
import trainers

RESTARTS = trainers.ROOT / "scenarios" / "restarts"
CAIP = None
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


class Explore(unittest.TestCase):
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
        return [CAIP, "explore", str(file), "--state", str(self.folder / "state"), "--out",
                str(self.folder / out), *words]

    def explore(self, file, *words, out="out", prefix=()):
        done = subprocess.run([*prefix, *self.command(file, *words, out=out)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def half_a_checkpoint(self):
        file = self.folder / "r01.yaml"
        file.write_text(f"extends: {RESTARTS / 'r01_half_a_checkpoint_broken.yaml'}\n"
                        + trainers.LIMITS)
        return file

    def play(self, file):
        """Runs a scenario, and returns its part of the JSON report."""
        report = self.folder / "report.json"
        subprocess.run([CAIP, "scenario", "run", str(file), "--state", str(self.folder / "state"),
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

    # A job as arguments of a submit.

    def explore_here(self, *words):
        """Runs in the folder of the test, and names no folder except the state directory."""
        done = subprocess.run([CAIP, "explore", "--state", str(self.folder / "state"), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, cwd=self.folder)
        return done.returncode, done.stdout

    def test_the_documented_command_runs_unchanged(self):
        trainers.write_package(self.folder, trainers.SOUND + "assert flag('epochs') == '3'\n")
        words = ["--module-name", "trainer.task", "--", "--epochs", "3"]
        for package in (["--package-path", "trainer"], ["--package-path=./trainer/"]):
            code, text = self.explore_here("--", *package, *words)
            self.assertEqual(code, 0, text)
            self.assertIn("nothing found", text)

    def test_relative_paths_in_arguments_start_at_the_current_directory(self):
        trainers.write_package(self.folder, trainers.SOUND
                               + "assert open(flag('data')).read() == 'words'\n"
                               + "assert open(flag('more')).read() == 'words'\n")
        (self.folder / "data").mkdir()
        (self.folder / "data" / "words.txt").write_text("words")
        (self.folder / "job.yaml").write_text("trainingInput: {runtimeVersion: '1.15'}\n")
        code, text = self.explore_here(
            "--out", "some/where", "--max-points", "2", "--", "--package-path", "trainer", "--config",
            "job.yaml", "--module-name", "trainer.task", "--", "--data", "data/words.txt",
            "--more=data/words.txt")
        self.assertEqual(code, 0, text)
        job = next((self.folder / "some" / "where").glob("job-*.yaml")).read_text()
        self.assertNotIn("--runtime-version", job, "the file has one")
        self.assertIn('"../../trainer"', job)

    def test_arguments_that_do_not_make_a_job_are_refused(self):
        for words, named in ((["--module-name", "trainer.task"], "package"),
                            (["--module-nam", "trainer.task"], "--module-nam")):
            code, text = self.explore_here("--", *words)
            self.assertEqual(code, 2, text)
            self.assertIn(named, text)

    def test_the_limits_of_a_job_in_words(self):
        trainers.write_package(self.folder, trainers.SOUND)
        code, text = self.explore_here("--max-points", "1", "--run-timeout", "5m", "--stall", "90s",
                                       "--", "--package-path", "trainer", "--module-name",
                                       "trainer.task")
        self.assertEqual(code, 0, text)
        job = next((self.folder / "caip-findings").glob("job-*.yaml")).read_text()
        self.assertIn("limits: {wall: 300000ms, no_progress: 90000ms}", job)
        code, text = self.explore(self.half_a_checkpoint(), "--stall", "1s")
        self.assertEqual(code, 2, text)
        self.assertIn("Set `limits` in the scenario", text)

    # Reports for programs.

    def test_the_reports_have_the_findings(self):
        reports = {kind: self.folder / f"report.{kind}" for kind in ("json", "junit", "sarif")}
        code, text = self.explore(self.half_a_checkpoint(), *(
            word for kind, file in reports.items() for word in (f"--{kind}", str(file))))
        self.assertEqual(code, 1, text)
        report = json.loads(reports["json"].read_text())
        schema = json.loads(
            (trainers.ROOT / "docs" / "explore-report.schema.json").read_text())
        self.assertEqual(list(json_schema.misfits(report, schema)), [])
        self.assertTrue(report["findings"][0]["sure"])
        self.assertIn("the job ends FAILED", report["findings"][0]["cause"])
        self.assertTrue(pathlib.Path(report["findings"][0]["scenario"]).is_file())
        suite = xml.etree.ElementTree.parse(reports["junit"]).getroot()[0]
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
        self.assertEqual(int(suite.get("tests")), len(report["findings"]) + 1)
        run = json.loads(reports["sarif"].read_text())["runs"][0]
        self.assertEqual(run["results"][0]["ruleId"], "the-job-ends-failed")
        self.assertEqual(run["results"][0]["level"], "error")

    def test_a_printed_report_is_alone_on_the_standard_output(self):
        done = subprocess.run(self.command(trainers.write(self.folder, trainers.WRITES_AGAIN),
                                           "--json", "-"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(json.loads(done.stdout)["findings"][0]["sure"])
        self.assertIn("may be harmless", done.stderr)

    def test_values_with_line_ends_stay_on_their_line(self):
        code, text = self.explore(trainers.write(self.folder, trainers.ENDS_LINES))
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"(?m)^   found    \{\\n .*$")

    # Second restarts.

    def test_a_second_restart_finds_what_one_does_not(self):
        file = trainers.write(self.folder, trainers.FEARS_ITS_OWN_MARK)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("another process is at work", text)
        self.assertIn("then", text)
        self.assert_nothing_is_left()

    def test_the_finding_of_a_second_restart_plays_both(self):
        file = trainers.write(self.folder, trainers.FEARS_ITS_OWN_MARK)
        self.explore(file, "--pairs")
        findings = sorted((self.folder / "out").glob("finding-*.yaml"))
        self.assertGreater(len(findings), 0)
        for finding in findings:
            played = self.play(finding)
            self.assertFalse(played["passed"], finding.read_text())
            struck = [len(fault["struck_at"]) for fault in played["faults"]]
            self.assertEqual(struck, [1, 1], finding.read_text())
            self.assertEqual(played["state"], "FAILED")

    def test_some_second_restarts_are_tried_by_default(self):
        code, text = self.explore(trainers.write(self.folder, trainers.FEARS_ITS_OWN_MARK))
        self.assertEqual(code, 1, text)
        self.assertIn("another process is at work", text)
        self.assertIn(",\n   then ", text)

    def test_some_restarts_keep_the_disk_by_default(self):
        code, text = self.explore(trainers.write(self.folder, trainers.LOCKS_ITS_DISK))
        self.assertEqual(code, 1, text)
        self.assertIn("the process dies and its disk stays", text)

    def test_a_notice_is_tried_when_asked_for(self):
        file = trainers.write(self.folder, trainers.SAVES_TOO_MUCH_AT_NOTICE)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "notice")
        self.assertEqual(code, 1, text)
        self.assertIn("SIGTERM announces the loss of the machine ", text)
        self.assertIn("maintenance: {replica: master-0}", self.findings()[0])

    def test_answers_that_are_lost_are_tried_when_asked_for(self):
        file = trainers.write(self.folder, trainers.FEARS_A_LOST_ANSWER)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "storage-errors")
        self.assertEqual(code, 1, text)
        self.assertIn("storage answers 503 after create job/out/ckpt-03", text)
        self.assertNotIn("storage answers 503 before", text)
        self.assertFalse(self.play(next((self.folder / "out").glob("finding-*.yaml")))["passed"])

    def test_cuts_between_a_replica_and_storage_are_tried_when_asked_for(self):
        machines.need(CAIP)
        file = trainers.write(self.folder, trainers.GIVES_UP_SOON)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "network-cuts")
        self.assertEqual(code, 1, text)
        self.assertIn("storage is out of reach for 3 seconds after create job/out/ckpt-02", text)
        self.assertIn("network_cut: {replica: master-0, peer: storage, for: 3s}", self.findings()[0])

    def test_a_directory_cannot_be_cut_off(self):
        code, text = self.explore(RESTARTS / "r02_posix_before_rename_fixed.yaml",
                                  "--faults", "network-cuts")
        self.assertEqual(code, 2, text)
        self.assertIn("needs `semantics: object`", text)

    def cluster(self, command):
        file = self.folder / "cluster.yaml"
        file.write_text("description: A master and a worker.\njob:\n  config: {scaleTier: CUSTOM, "
                        "masterType: n1-standard-4, workerCount: 1, workerType: n1-standard-4}\n"
                        f"trainer: {{command: [python3, {command}]}}\n" + trainers.LIMITS)
        return file

    def network_verdicts(self, file):
        """For each fault of the network that was tried, whether a flaw was found."""
        self.explore(file, "--faults", "network", "--points", "storage,steps", "--max-points", "50",
                     "--no-pairs")
        words = ("out of reach", "hears nothing", "refuses connections", "are lost", "are late")
        found = {}
        for point, flawed in self.verdicts().items():
            for word in words:
                if word in point:
                    found.setdefault(word, []).append(flawed)
        self.assertEqual(set(found), set(words))
        return found

    def test_faults_of_the_network_come_between_replicas(self):
        machines.need(CAIP)
        sound = trainers.ROOT / "scenarios" / "trainers" / "network" / "averaging.py"
        found = self.network_verdicts(self.cluster(sound))
        found.pop("refuses connections")  # its client of storage does not try again
        self.assertFalse(any(flawed for flaws in found.values() for flawed in flaws), found)
        fragile = self.folder / "fragile.py"
        fragile.write_text(trainers.DIES_WITH_ITS_CONNECTION)
        found = self.network_verdicts(self.cluster(fragile))
        self.assertTrue(any(found["refuses connections"]), found)
        self.assertFalse(any(found["are late"]), found)

    def test_a_directory_answers_no_503(self):
        code, text = self.explore(RESTARTS / "r02_posix_before_rename_fixed.yaml",
                                  "--faults", "storage-errors")
        self.assertEqual(code, 2, text)
        self.assertIn("needs `semantics: object`", text)

    def test_a_second_restart_is_tried_in_whole_runs_too(self):
        file = trainers.write(self.folder, trainers.FEARS_ITS_OWN_MARK)
        code, text = self.explore(file, "--pairs", "--full-runs")
        self.assertEqual(code, 1, text)
        self.assertIn("another process is at work", text)

    def test_progress_that_a_second_restart_loses_is_found(self):
        file = trainers.write(self.folder, trainers.FORGETS_AT_THE_SECOND_RESTART)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("a second restart loses progress that the first one kept", text)
        played = self.play(next((self.folder / "out").glob("finding-*.yaml")))
        self.assertFalse(played["passed"])

    def test_contents_that_depend_on_the_crash_point_are_a_sure_difference(self):
        file = trainers.write(self.folder, trainers.HIDES_ITS_DIFFERENCE)
        code, text = self.explore(file)
        self.assertEqual(code, 1, text)
        self.assertIn("objects have different contents: job/out/model", text)
        self.assertNotIn("may be harmless", text)

    def test_a_finding_quotes_the_trainer_and_says_where_the_restart_resumed(self):
        code, text = self.explore(trainers.write(self.folder, trainers.REFUSES_IN_A_SENTENCE))
        self.assertEqual(code, 1, text)
        self.assertIn("the job ends FAILED: the folder has # checkpoints", text)
        self.assertIn("then     boot 2 ", text)
        self.assertIn("reported no step", text)
        code, text = self.explore(trainers.write(self.folder, trainers.SKIPS_A_STEP))
        self.assertRegex(text, r"then     boot 2 read no object, then reported step \d+")

    def test_a_finding_passes_after_the_fixed_trainer_has_lost_its_crash_point(self):
        file = trainers.write(self.folder, trainers.DELETES_FIRST)
        code, text = self.explore(file)
        self.assertEqual(code, 1, text)
        finding = next((self.folder / "out").glob("finding-*.yaml"))
        self.assertFalse(self.play(finding)["passed"])
        trainers.write(self.folder, trainers.SOUND)
        done = subprocess.run([CAIP, "scenario", "run", str(finding), "--state",
                               str(self.folder / "state")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("fault kill 1 was not injected", done.stdout)

    def test_a_sound_trainer_survives_two_restarts(self):
        code, text = self.explore(trainers.write(self.folder, trainers.SOUND), "--pairs")
        self.assertEqual(code, 0, text)

    # Findings, and how certain they are.

    def test_a_checkpoint_that_is_deleted_before_the_next_is_written(self):
        code, text = self.explore(trainers.write(self.folder, trainers.DELETES_FIRST))
        self.assertEqual(code, 1, text)
        self.assertIn("all progress is lost after delete job/out/ckpt", text)
        played = self.play(self.folder / "out" / "finding-1.yaml")
        self.assertFalse(played["passed"])
        code, text = self.explore(self.folder / "job.yaml", "--full-runs", out="full")
        self.assertEqual(code, 1, text)
        self.assertIn("all progress is lost after delete job/out/ckpt", text)

    def test_repeated_entries_are_not_a_count_of_starts(self):
        code, text = self.explore(trainers.write(self.folder, trainers.APPENDS_FIRST))
        self.assertEqual(code, 0, text)
        self.assertIn("objects have different contents: job/out/history", text)
        self.assertIn("may be harmless: a restart before the first step", text)
        self.assertNotIn("not compared", text)

    def test_counts_of_starts_are_not_compared(self):
        code, text = self.explore(trainers.write(self.folder, trainers.COUNTS_STARTS))
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)
        self.assertIn("not compared, because it counts restarts: objects like job/out/attempt, "
                      "objects like job/out/starts/#", text)

    def test_a_finding_that_may_be_harmless_is_marked_and_is_not_a_failure(self):
        code, text = self.explore(trainers.write(self.folder, trainers.WRITES_AGAIN))
        self.assertEqual(code, 0, text)
        self.assertIn("a complete result is written again: job/out/done", text)
        self.assertIn("may be harmless: the object has the same bytes at the end", text)
        self.assertIn("1 cause, which may be harmless", text)
        self.assertIn("# May be harmless", self.findings()[0])

    def test_consequences_of_a_finding_are_listed_below_it(self):
        code, text = self.explore(trainers.write(self.folder, trainers.SKIPS_A_STEP))
        self.assertEqual(code, 1, text)
        self.assertIn("1. steps are missing", text)
        self.assertIn("also: steps differ in 'total'", text)

    def test_a_finding_that_does_not_repeat_is_marked(self):
        self.use_processes()
        file = trainers.write(self.folder, trainers.FAILS_ONCE_ON_A_HOST)
        code, text = self.explore(file, "--jobs", "1")
        self.assertEqual(code, 0, text)
        self.assertIn("the file is in use", text)
        self.assertIn("may be harmless: it did not appear again", text)

    def test_findings_stay_with_their_scenarios(self):
        for name in ("a", "b"):
            (self.folder / name).mkdir()
            file = trainers.write(self.folder / name, trainers.DELETES_FIRST)
            file.write_text(file.read_text().replace(str(self.folder / name), "."))
            self.explore(file)
        out = self.folder / "out"
        (out / "finding-9.yaml").write_text("extends: unknown\n")
        of = {name: [file for file in sorted(out.glob("finding-*.yaml"))
                     if f"/{name}/" in file.read_text()] for name in ("a", "b")}
        self.assertEqual([len(of["a"]), len(of["b"])], [1, 1])
        trainers.write(self.folder / "a", trainers.SOUND, "")
        code, text = self.explore(self.folder / "a" / "job.yaml")
        self.assertEqual(code, 0, text)
        self.assertEqual(sorted(out.glob("finding-*.yaml")), [*of["b"], out / "finding-9.yaml"])
        moved = self.folder / "moved"
        moved.mkdir()
        for name in ("a", "b", "out"):
            (self.folder / name).rename(moved / name)
        played = self.play(moved / "out" / of["b"][0].name)
        self.assertEqual((played["passed"], played["state"]), (False, "SUCCEEDED"))

    # Disks after a restart.

    def test_a_kept_disk_shows_a_bug_that_a_new_one_hides(self):
        file = trainers.write(self.folder, trainers.LOCKS_ITS_DISK)
        code, text = self.explore(file, "--disks", "new")
        self.assertEqual(code, 0, text)
        for number, words in enumerate((["--crash"], ["--disks", "kept"], ["--disks", "both"])):
            out = f"kept-{number}"
            code, text = self.explore(file, *words, out=out)
            self.assertEqual(code, 1, text)
            self.assertIn("the lock is held", text)
            self.assertIn("crash: {replica: master-0}", self.findings(out)[0])
        self.assertIn("distinct states of storage and", text)
        played = self.play(self.folder / "kept-0" / "finding-1.yaml")
        self.assertFalse(played["passed"])
        self.assertEqual([len(fault["struck_at"]) for fault in played["faults"]], [1])

    def test_writes_to_a_kept_disk_are_interrupted_without_being_asked(self):
        file = trainers.write(self.folder, trainers.CACHES_ON_ITS_DISK)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("JSONDecodeError", text)
        finding = next(f for f in self.findings("out") if "JSONDecodeError" in f)
        self.assertRegex(finding, r'crash: \{replica: master-0\}\n    if_reached: true\n'
                                  r'    when: \{mid: \{(create|overwrite): "disk:root/last.json"')
        played = self.play(self.folder / "out" / "finding-1.yaml")
        self.assertFalse(played["passed"])

    def test_writes_to_the_disk_of_a_machine_are_interrupted(self):
        machines.need(CAIP)
        self.configure(machines.ON_MACHINES)
        file = trainers.write(self.folder, trainers.CACHES_ON_ITS_DISK.replace(
            'os.environ["HOME"] + "/last.json"', '"/var/last.json"'))
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 1, text)
        finding = next(f for f in self.findings("out") if "JSONDecodeError" in f)
        self.assertIn('"disk:var/last.json"', finding)
        self.assertFalse(self.play(self.folder / "out" / "finding-1.yaml")["passed"])
        self.assert_nothing_is_left()

    def test_a_file_of_the_disk_that_is_renamed_into_place_is_no_finding(self):
        file = trainers.write(self.folder, trainers.CACHES_WHOLE_FILES)
        code, text = self.explore(file, "--no-pairs", "--disks", "kept")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--no-pairs", "--points", "disk", out="named")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"[1-9]\d* crash points")

    # Interruptions.

    def test_a_killed_exploration_leaves_nothing_and_resumes(self):
        file = self.half_a_checkpoint()
        self.explore(file, "--no-pairs", out="whole")
        running = subprocess.Popen(self.command(file, "--jobs", "1", "--no-pairs"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        await_that("three points noted", lambda: self.points_tried() >= 3)
        room = memory_directory_of(running.pid)
        running.send_signal(signal.SIGKILL)
        running.wait(PATIENCE)
        await_that("no process of the killed one", lambda: not processes_of(self.folder))
        if room:
            await_that(f"{room} is gone", lambda: not room.exists())
        known = self.points_tried()
        with open(self.folder / "out" / "progress.jsonl", "a") as progress:
            progress.write('{"point": "half a li')  # the kill came in the middle of a line
        code, text = self.explore(file, "--resume", "--no-pairs")
        self.assertEqual(code, 1, text)
        self.assertIn(f"({known} known from an earlier run)", text)
        self.assertEqual(self.verdicts(), self.verdicts("whole"))
        self.assertGreater(len(self.findings()), 0)
        self.assert_nothing_is_left()

    def test_it_resumes_only_with_the_same_trainer(self):
        file = trainers.write(self.folder, trainers.SOUND)
        self.explore(file)
        code, text = self.explore(file, "--resume")
        self.assertIn("known from an earlier run", text)
        trainers.write(self.folder, trainers.SOUND + "\nsay('done')\n")
        code, text = self.explore(file, "--resume")
        self.assertEqual(code, 0, text)
        self.assertNotIn("known from an earlier run", text)

    def test_it_resumes_although_runs_wrote_files_beside_the_trainer(self):
        trainers.write(self.folder, trainers.SOUND)
        (self.folder / "job.yaml").write_text(
            "description: A job of the test.\n"
            "trainer: {command: [/usr/bin/python3, ./trainer.py]}\n" + trainers.LIMITS)
        _, text = self.explore_here("job.yaml", "--no-pairs")
        tried = re.search(r"(\d+) tried", text)[1]
        (self.folder / "events.out.tfevents.1.host").write_text("x")
        for made in (".git", "__pycache__"):
            (self.folder / made).mkdir()
            (self.folder / made / "index").write_text("x")
        _, text = self.explore_here("job.yaml", "--no-pairs", "--resume")
        self.assertIn(f"({tried} known from an earlier run)", text)
        (self.folder / "model.py").write_text("x")
        _, text = self.explore_here("job.yaml", "--no-pairs", "--resume")
        self.assertNotIn("known from an earlier run", text)

    def test_a_changed_package_is_explored_again(self):
        package = trainers.write_package(self.folder, trainers.SOUND)
        words = ["--max-points", "2", "--resume", "--", "--package-path", "trainer",
                 "--module-name", "trainer.task"]
        self.explore_here(*words)
        _, text = self.explore_here(*words)
        self.assertIn("(2 known from an earlier run)", text)
        (package / "model.py").write_text("x")
        _, text = self.explore_here(*words)
        self.assertNotIn("known from an earlier run", text)

    def test_ctrl_c_reports_the_findings(self):
        file = self.half_a_checkpoint()
        running = subprocess.Popen(self.command(file, "--jobs", "1"), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        progress = self.folder / "out" / "progress.jsonl"
        await_that("a flaw noted", lambda: progress.exists() and '"cause"' in progress.read_text())
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, 130, text)
        self.assertIn("not all were tried: interrupted", text)
        self.assertIn("1. the job ends FAILED", text)
        self.assertGreater(len(self.findings()), 0)
        self.assert_nothing_is_left()

    def test_ctrl_c_in_the_baseline_run_is_reported(self):
        file = trainers.write(self.folder, "say('begun')\nwhile True:\n    time.sleep(0.1)\n",
                              "limits: {wall: 5m, no_progress: 5m}\n")
        running = subprocess.Popen(self.command(file), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        await_that("the trainer", lambda: any("python3" in p for p in processes_of(self.folder)))
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, 130, text)
        self.assertIn("Interrupted before the first restart", text)
        self.assert_nothing_is_left()

    def test_a_budget_ends_it(self):
        file = self.half_a_checkpoint()
        code, text = self.explore(file, "--budget", "1ms")
        self.assertEqual(code, 2, text)
        self.assertIn("not all were tried: the budget is used up", text)
        self.assertRegex(text, r"No crash point was tried: the baseline runs took [0-9.]+s\. Set --budget")
        self.assertNotIn("nothing found", text)
        for word in ("soon", "0s"):
            code, text = self.explore(file, "--budget", word)
            self.assertEqual(code, 2, text)
            self.assertIn(f"'{word}' is not a valid duration", text)

    def test_a_job_whose_baseline_run_fails_is_not_explored(self):
        file = trainers.write(self.folder, "raise RuntimeError('no data')\n")
        code, text = self.explore(file)
        self.assertEqual(code, 2, text)
        self.assertIn("does not succeed in the baseline run", text)
        self.assertIn("no data", text)

    def test_an_unknown_replica_is_refused(self):
        file = trainers.write(self.folder, trainers.SOUND)
        code, text = self.explore(file, "--replicas", "worker-3")
        self.assertEqual(code, 2, text)
        self.assertIn("The job has no replica 'worker-3'; it has master-0", text)

    def test_a_full_disk_is_not_a_finding(self):
        state = self.folder / "state"
        state.mkdir()
        small = small_disk.prefix(state, "10m")
        file = trainers.write(self.folder, trainers.HOARDS)
        code, text = self.explore(file, "--jobs", "1", prefix=small)
        self.assertEqual(code, 3, text)
        self.assertIn("not all were tried: the disk is full", text)
        self.assertIn(f"The disk is full: the files of a run did not fit into '{state}", text)
        self.assertNotIn("the job ends FAILED", text)
        await_that("no process of the exploration", lambda: not processes_of(self.folder))
        code, text = self.explore(file, "--resume")
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    CAIP = str(pathlib.Path(options.caip).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
