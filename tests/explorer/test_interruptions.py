#!/usr/bin/env python3
"""The explorer with real processes: it is interrupted, killed and resumed. No process may be left.
"""

import pathlib
import re
import signal
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import explorer_case
import small_disk
import trainers

# Counts its starts in a file of this host, and does not end from one of them on.
HANGS = """
job.put("begun", {{}})
with open({starts!r}, "a") as starts:
    starts.write("x")
while os.path.getsize({starts!r}) >= {start}:
    time.sleep(0.1)
"""


class Interruptions(explorer_case.ExplorerCase):
    def test_a_killed_exploration_leaves_nothing_and_resumes(self):
        file = self.half_a_checkpoint()
        self.explore(file, "--no-pairs", out="whole")
        running = subprocess.Popen(self.command(file, "--jobs", "1", "--no-pairs"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        explorer_case.await_that("three points noted", lambda: self.points_tried() >= 3)
        room = explorer_case.memory_directory_of(running.pid)
        running.send_signal(signal.SIGKILL)
        running.wait(explorer_case.PATIENCE)
        explorer_case.await_that("no process of the killed one", lambda: not explorer_case.processes_of(self.folder))
        if room:
            explorer_case.await_that(f"{room} is gone", lambda: not room.exists())
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
        explorer_case.await_that("a flaw noted", lambda: progress.exists() and '"cause"' in progress.read_text())
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=explorer_case.PATIENCE)
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
        explorer_case.await_that("the trainer", lambda: any("python3" in p for p in explorer_case.processes_of(self.folder)))
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=explorer_case.PATIENCE)
        self.assertEqual(running.returncode, 130, text)
        self.assertIn("Interrupted before the first restart", text)
        self.assert_nothing_is_left()

    def interrupt_when(self, what, condition, command, cwd=None):
        """Runs the command, and sends SIGINT when the condition comes true."""
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd)
        explorer_case.await_that(what, condition)
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=explorer_case.PATIENCE)
        return running.returncode, text

    def assert_interrupted_before_restarts(self, code, text):
        self.assertEqual(code, 130, text)
        self.assertIn("Interrupted before the first restart", text)
        for untrue in ("nothing found", "not compared", "not tested", "does not succeed", "tried"):
            self.assertNotIn(untrue, text)
        self.assert_nothing_is_left()

    def test_ctrl_c_in_a_later_baseline_run_is_reported(self):
        self.use_processes()
        starts = self.folder / "starts"
        for start in (2, 3):
            with self.subTest(start=start):
                starts.write_text("")
                file = trainers.write(self.folder, HANGS.format(start=start, starts=str(starts)) + trainers.SOUND,
                                      "limits: {wall: 5m, no_progress: 5m}\n")
                code, text = self.interrupt_when(f"start {start}", lambda: len(starts.read_text()) >= start,
                                                 self.command(file))
                self.assert_interrupted_before_restarts(code, text)

    def test_ctrl_c_in_the_trial_run_of_a_command_is_reported(self):
        work = self.folder / "work"
        work.mkdir()
        trainer = work / "endless.py"
        trainer.write_text("import time\nwhile True:\n    time.sleep(0.1)\n")
        for words in ([], ["{job_dir}"]):
            with self.subTest(words=words):
                code, text = self.interrupt_when(
                    "the trainer", lambda: any("python3" in name for name in explorer_case.processes_of(trainer)),
                    [self.program, "explore", "--state", str(self.folder / "state"), "--", "python3", str(trainer), *words],
                    cwd=work)
                self.assert_interrupted_before_restarts(code, text)

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
        explorer_case.await_that("no process of the exploration", lambda: not explorer_case.processes_of(self.folder))
        code, text = self.explore(file, "--resume")
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    explorer_case.main()
