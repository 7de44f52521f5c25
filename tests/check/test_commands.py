#!/usr/bin/env python3
"""`caip check` with commands that know nothing of the service."""
import json
import os
import pathlib
import sys
import xml.etree.ElementTree

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import fixture
import machines

# A trainer that survives everything. Tests change parts of it.
TRAINER = """
import json, os, pathlib, signal, sys, time
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
state = out / "state.json"
step = json.loads(state.read_text())["step"] if state.exists() else 0
def stop(*ignored):
    os._exit(143)
signal.signal(signal.SIGTERM, stop)
while step < 8:
    step += 1
    print("step", step, "loss", 1 / step, flush=True)
    if step % 2 == 0:
        new = out / "state.new"
        new.write_text(json.dumps({"step": step}))
        new.replace(state)
"""
ALL = {"start/succeeds", "exit/failure", "exit/sigterm", "restart/checkpoints", "restart/sigterm",
       "restart/resumes", "restart/explored", "machine/processes"}


class Commands(fixture.WithFolder):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()

    def check(self, *changes, words=(), command=("python3", "train.py", "run")):
        text = TRAINER
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        (self.folder / "train.py").write_text(text)
        report, done = self.report("--state", self.state, *words, "--", *command)
        return report, done.stdout + done.stderr

    def failures(self, *changes, **how):
        report, text = self.check(*changes, **how)
        return self.verdicts(report, "FAIL"), text

    def test_a_sound_trainer_passes_all_checks_that_are_not_about_the_service(self):
        report, text = self.check()
        self.assertEqual(set(self.verdicts(report, "PASS")), ALL, text)
        self.assertEqual(report["subject"], "python3 train.py run")
        names = {path.name for path in self.folder.iterdir()}
        self.assertFalse(names & {"run", "__pycache__"}, names)  # runs work on copies
        self.assertEqual(list(self.folder.glob("caip-findings/*.yaml")), [])

    def test_a_placeholder_is_the_directory_of_the_job(self):
        report, text = self.check(command=("python3", "train.py", "{job_dir}/run"))
        self.assertEqual(set(self.verdicts(report, "PASS")), ALL, text)

    def test_directories_that_outlive_machines_can_be_named(self):
        machines.need(self.caip)
        place = self.folder / "elsewhere"
        place.mkdir()
        report, text = self.check(words=("--out-dir", place), command=("python3", "train.py", place))
        self.assertEqual(set(self.verdicts(report, "PASS")), ALL, text)
        self.assertEqual(list(place.iterdir()), [])

    def test_exit_code_0_after_sigterm_fails(self):
        failures, text = self.failures(("os._exit(143)", "os._exit(0)"),
                                       ("while step < 8:", "while step < 8:\n    time.sleep(0.02)"))
        self.assertIn("exit/sigterm", failures, text)

    def test_a_trainer_that_begins_again_fails(self):
        failures, text = self.failures(("if state.exists() else 0", "if False else 0"))
        self.assertIn("restart/resumes", failures, text)
        self.assertIn("caip check --state", text)  # the command that repeats it
        self.assertIn("-- python3 train.py run", text)

    def test_writes_that_fail_silently_fail(self):
        failures, text = self.failures(("import json,", "import contextlib, json,"),
                                       ("        new = out", "        with contextlib.suppress(OSError):\n"
                                                             "          new = out"),
                                       ("        new.write", "          new.write"),
                                       ("        new.replace", "          new.replace"))
        self.assertEqual(set(failures), {"exit/failure"}, text)

    def test_a_checkpoint_that_can_be_torn_fails_and_its_scenario_shows_it_again(self):
        failures, text = self.failures(('new = out / "state.new"', "new = state"),
                                       ("        new.replace(state)\n", ""))
        self.assertEqual(set(failures), {"restart/explored"}, text)
        finding = next((self.folder / "caip-findings").glob("finding-*.yaml"))
        self.assertEqual(self.play(finding).returncode, 1, finding.read_text())

    def test_a_command_that_fails_is_reported(self):
        """As a package that fails: by a check, in all reports."""
        (self.folder / "train.py").write_text("import sys\nprint('reading', flush=True)\n"
                                              "open('runs', 'a').write('x')\n"
                                              "sys.exit('no data in /data')\n")
        report, done = self.report("--state", self.state, "--junit", self.folder / "report.xml",
                                   "--", "python3", "train.py",
                                   env=dict(os.environ, GITHUB_ACTIONS="true"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(list(self.verdicts(report, "FAIL")), ["start/succeeds"], done.stdout)
        self.assertEqual(set(self.verdicts(report, "SKIPPED")), ALL - {"start/succeeds"}, done.stdout)
        self.assertEqual([run["name"] for run in report["runs"]], ["plain"])
        evidence = report["checks"][0]["evidence"]
        self.assertEqual(evidence, ["master-0: reading", "master-0: no data in /data",
                                    "master-0 boot 1 ended with exit code 1"])
        suites = xml.etree.ElementTree.parse(self.folder / "report.xml").getroot()
        self.assertIn("no data in /data", suites.find(".//failure").text)
        annotations = [line for line in done.stdout.splitlines() if line.startswith("::error")]
        self.assertEqual(len(annotations), 1, done.stdout)
        self.assertIn("| master-0: no data in /data", annotations[0])
        self.assertEqual(list(self.folder.glob("caip-findings/*.yaml")), [])

    def test_a_module_that_a_command_lacks_fails_its_start(self):
        """The checks of packages are not made for commands."""
        (self.folder / "train.py").write_text("import a_library_of_the_office\n")
        report, done = self.report("--state", self.state, "--", "python3", "train.py")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(list(self.verdicts(report, "FAIL")), ["start/succeeds"], done.stdout)
        self.assertIn("No module named 'a_library_of_the_office'", done.stdout)

    def test_a_command_that_takes_too_long_is_reported(self):
        (self.folder / "train.py").write_text("import time\nprint('begins', flush=True)\n"
                                              "time.sleep(300)\n")
        report, done = self.report("--state", self.state, "--run-timeout", "2s", "--", "python3",
                                   "train.py")
        self.assertEqual(list(self.verdicts(report, "FAIL")), ["start/succeeds"], done.stdout)
        self.assertIn("--run-timeout", report["checks"][0]["advice"])

    def test_a_program_that_cannot_be_started_is_a_mistake_of_the_command_line(self):
        done = self.run_caip("--state", self.state, "--junit", self.folder / "report.xml", "--",
                             "no-such-program", "--out", "run")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("cannot run 'no-such-program'", done.stderr)
        self.assertFalse((self.folder / "report.xml").exists())
        self.assertEqual(list(self.folder.glob("caip-findings/*.yaml")), [])

    # Without lines of steps, only the files show what the trainer does.
    SILENT = ('    print("step", step, "loss", 1 / step, flush=True)\n', "")

    def test_a_sound_trainer_without_steps_passes(self):
        """It renames what it saves, and its start takes longer than its training."""
        report, text = self.check(self.SILENT, ("while step < 8:", "time.sleep(0.5)\nwhile step < 8:"))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "SKIPPED", "NOT RUN"), {}, text)

    def test_a_result_alone_is_no_checkpoint(self):
        """Whether it is renamed or written in parts."""
        parts = ('        new.write_text(json.dumps({"step": step}))\n        new.replace(state)\n',
                 '        for part in range(3):\n'
                 '            (out / f"part-{part}").write_text("x")\n')
        for change in ((), (parts,)):
            with self.subTest(change=change):
                report, text = self.check(self.SILENT, ("step % 2 == 0", "step == 8"),
                                          ("while step < 8:", "time.sleep(0.5)\nwhile step < 8:"),
                                          *change)
                self.assertIn("restart/checkpoints", self.verdicts(report, "FAIL"), text)

    def test_flags_of_commands_need_a_command(self):
        done = self.run_caip("--out-dir", "run", "--module-name", "trainer.task", "--package-path", ".")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--out-dir", done.stderr)
        self.assertIn("-- COMMAND", done.stderr)


if __name__ == "__main__":
    fixture.main()
