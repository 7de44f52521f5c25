#!/usr/bin/env python3
"""The explorer with real processes: jobs as arguments, findings and reports."""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import explorer_case
import json_schema
import trainers


class Explore(explorer_case.ExplorerCase):
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

    def test_a_traceback_names_the_files_of_the_package(self):
        package = trainers.write_package(self.folder, "open('/no/such/file')\n")
        words = ["--package-path", "trainer", "--module-name", "trainer.task"]
        named = f'File "{package.resolve()}/task.py", line '
        code, text = self.explore_here("--", *words)
        self.assertEqual(code, 2, text)
        self.assertIn(named, text)
        scenario = self.folder / "job.yaml"
        words += ["--runtime-version", "2.11", "--python-version", "3.7"]
        scenario.write_text(f"description: d\njob: {{submit: {json.dumps(words)}}}\nexpect: {{state: SUCCEEDED}}\n")
        done = subprocess.run([self.program, "scenario", "run", str(scenario), "--state", str(self.folder / "state")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(named, done.stdout)

    def test_a_scenario_without_its_modules_is_not_run(self):
        file = self.folder / "s.yaml"
        file.write_text("description: d\nneeds: {modules: [json, caip_missing_module]}\n"
                        "trainer: {command: [python3, -c, import caip_missing_module]}\n")
        report, junit = self.folder / "report.json", self.folder / "report.xml"
        code, text = self.explore(file, "--json", str(report), "--junit", str(junit))
        self.assertEqual(code, 0, text)
        self.assertIn(f"NOT RUN {file}  ('python3' lacks the modules: caip_missing_module)", text)
        self.assertNotIn("does not succeed", text)
        found = json.loads(report.read_text())
        schema = json.loads((trainers.ROOT / "docs" / "explore-report.schema.json").read_text())
        self.assertEqual(list(json_schema.misfits(found, schema)), [])
        self.assertEqual((found["tried"], found["findings"]), (0, []))
        self.assertIn("lacks the modules: caip_missing_module", found["ended"])
        self.assertEqual(len(xml.etree.ElementTree.parse(junit).findall(".//skipped")), 1)

    def test_the_config_of_a_job_is_called_that(self):
        code, text = self.explore(trainers.ROOT / "scenarios" / "digits.yaml")
        self.assertEqual(code, 2, text)
        self.assertIn("is the config of a job", text)
        self.assertNotIn("is not a known key", text)

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
        code, text = self.explore_here("--max-points", "1", "--out", "default", "--", "--package-path", "trainer",
                                       "--module-name", "trainer.task")
        self.assertEqual(code, 0, text)
        job = next((self.folder / "default").glob("job-*.yaml")).read_text()
        self.assertIn("limits: {wall: 10m, no_progress: 1m}\n", job)
        code, text = self.explore(self.half_a_checkpoint(), "--stall", "1s")
        self.assertEqual(code, 2, text)
        self.assertIn("Set `limits` in the scenario", text)

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
        for text in (suite.find("testcase/failure").text, run["results"][0]["message"]["text"]):
            self.assertIn("after    sent again without a fault, the job ", text)

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

    def test_contents_that_depend_on_the_crash_point_are_a_sure_difference(self):
        for number, trainer in enumerate([trainers.HIDES_ITS_DIFFERENCE,
                                          trainers.HIDES_ITS_DIFFERENCE_WITH_ONE_SAVE]):
            code, text = self.explore(trainers.write(self.folder, trainer), out=f"out-{number}")
            self.assertEqual(code, 1, text)
            self.assertIn("objects have different contents: job/out/model", text)
            self.assertNotIn("may be harmless", text)

    def test_a_finding_quotes_the_trainer_and_says_where_the_restart_resumed(self):
        code, text = self.explore(trainers.write(self.folder, trainers.REFUSES_IN_A_SENTENCE))
        self.assertEqual(code, 1, text)
        self.assertIn("the job ends FAILED: the folder has # checkpoints", text)
        self.assertIn("then     boot 2 ", text)
        self.assertIn("reported no step", text)
        code, text = self.explore(trainers.write(self.folder, trainers.LEAVES_A_LOCK), out="locked")
        self.assertIn("then     boot 2 read nothing that the run had stored, was refused to overwrite job/out/lock "
                      "and reported no step", text)
        code, text = self.explore(trainers.write(self.folder, trainers.SKIPS_A_STEP))
        self.assertRegex(text, r"then     boot 2 read nothing that the run had stored, then reported step \d+")

    def test_a_finding_says_what_the_restarted_replica_read(self):
        code, text = self.explore(trainers.write(self.folder, trainers.READS_AND_SKIPS_STEPS))
        self.assertEqual(code, 1, text)
        line = r"then     boot 2 read job/out/ckpt-(\d\d), then reported step (\d+)\n"
        self.assertRegex(text, line)
        read, reported = re.search(line, text).groups()
        self.assertEqual(int(reported), int(read) + 3)
        code, text = self.explore(trainers.write(self.folder, trainers.READS_AND_REFUSES), out="refuses")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"then     boot 2 read job/out/ckpt-\d\d and reported no step\n")

    def test_a_finding_passes_after_the_fixed_trainer_has_lost_its_crash_point(self):
        file = trainers.write(self.folder, trainers.DELETES_FIRST)
        code, text = self.explore(file)
        self.assertEqual(code, 1, text)
        finding = next((self.folder / "out").glob("finding-*.yaml"))
        self.assertFalse(self.play(finding)["passed"])
        trainers.write(self.folder, trainers.SOUND)
        done = subprocess.run([explorer_case.caip(), "scenario", "run", str(finding), "--state",
                               str(self.folder / "state")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("fault kill 1 was not injected", done.stdout)

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

    def test_rows_that_are_appended_again_are_a_sure_difference(self):
        junit = self.folder / "report.xml"
        file = trainers.write(self.folder, trainers.APPENDS_ROWS_AGAIN, "semantics: posix\n" + trainers.LIMITS)
        code, text = self.explore(file, "--no-pairs", "--junit", str(junit))
        self.assertEqual(code, 1, text)
        self.assertIn("objects have different contents: job/out/metrics.csv", text)
        self.assertRegex(text, "found    (rows come more than once|a row is cut, or joined with another line): ")
        self.assertNotIn("may be harmless", text)
        self.assertEqual(len(xml.etree.ElementTree.parse(junit).findall(".//failure")), 1)
        file = trainers.write(self.folder, trainers.APPENDS_ROWS_ONCE, "semantics: posix\n" + trainers.LIMITS)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_a_log_of_what_each_start_did_may_be_harmless(self):
        file = trainers.write(self.folder, trainers.APPENDS_TO_A_LOG, "semantics: posix\n" + trainers.LIMITS)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        self.assertIn("objects have different contents: job/out/train.log", text)
        self.assertIn("may be harmless: all steps are the same, and the object is a text", text)
        self.assertNotIn("pickle", text)

    def test_an_older_checkpoint_that_waits_for_its_deletion_may_be_left(self):
        code, text = self.explore(trainers.write(self.folder, trainers.KEEPS_TWO))
        self.assertEqual(code, 0, text)
        self.assertIn("objects are left over: job/out/ckpt-#", text)
        self.assertIn("may be harmless: the restart came between a save and the deletion", text)
        code, text = self.explore(trainers.write(self.folder, trainers.KEEPS_TWO_OF_EACH_START))
        self.assertEqual(code, 1, text)
        self.assertIn("objects are left over: job/out/ckpt-#", text)
        self.assertNotIn("may be harmless", text)

    def test_counts_of_starts_are_not_compared(self):
        code, text = self.explore(trainers.write(self.folder, trainers.COUNTS_STARTS))
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)
        self.assertIn("not compared, because it counts restarts: objects like job/out/attempt, "
                      "objects like job/out/starts/#", text)

    def test_weights_that_differ_after_any_restart_are_no_count_of_starts(self):
        code, text = self.explore(trainers.write(self.folder, trainers.FORGETS_ITS_SEED), "--no-pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("objects have different contents: job/out/model", text)
        self.assertNotIn("may be harmless", text)
        code, text = self.explore(trainers.write(self.folder, trainers.COUNTS_STARTS_IN_ITS_MODEL), "--no-pairs")
        self.assertEqual(code, 0, text)
        self.assertIn("objects have different contents: job/out/model", text)
        self.assertIn("1 cause, which may be harmless", text)

    def test_points_like_others_that_only_a_limit_ended_are_left_out(self):
        file = trainers.write(self.folder, trainers.HANGS_AFTER_A_RESTART, "limits: {wall: 4m, no_progress: 5s}\n")
        report = self.folder / "report.json"
        schema = json.loads((trainers.ROOT / "docs" / "explore-report.schema.json").read_text())
        words = ("--disks", "new", "--no-pairs", "--json", str(report), "--jobs")
        tried = []
        for jobs in ("1", "4"):
            code, text = self.explore(file, *words, jobs, out=f"out-{jobs}")
            self.assertEqual(code, 1, text)
            self.assertIn("the job does not end  (5 points)", text)
            self.assertIn("   not tried: 7 points like it (--all-points tries them)", text)
            found = json.loads(report.read_text())
            self.assertEqual(list(json_schema.misfits(found, schema)), [])
            self.assertEqual((found["not_tried"], found["tried"]), (7, found["restarts"] - 7))
            tried.append(self.verdicts(f"out-{jobs}"))
        self.assertEqual(*tried)
        code, text = self.explore(file, *words, "4", "--all-points", out="all")
        self.assertIn("the job does not end  (12 points)", text)
        self.assertNotIn("not tried", text)
        self.assertEqual(json.loads(report.read_text())["not_tried"], 0)

    def test_points_are_not_left_out_if_their_reason_does_not_repeat(self):
        self.use_processes()
        file = trainers.write(self.folder, trainers.HANGS_FIVE_TIMES_ON_A_HOST,
                              "limits: {wall: 4m, no_progress: 5s}\n")
        report = self.folder / "report.json"
        code, text = self.explore(file, "--disks", "new", "--no-pairs", "--jobs", "1", "--json", str(report))
        self.assertEqual(code, 0, text)
        self.assertIn("the job does not end  (5 points)", text)
        self.assertIn("may be harmless: it did not appear again", text)
        found = json.loads(report.read_text())
        self.assertEqual((found["not_tried"], found["tried"]), (0, found["restarts"]))

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

    def test_each_of_several_scenarios_is_explored_whole(self):
        files = []
        for name in ("a", "b"):
            (self.folder / name).mkdir()
            files.append(str(trainers.write(self.folder / name, trainers.DELETES_FIRST)))
        code, text = self.explore(files[0], files[1])
        self.assertEqual(code, 1, text)
        self.assertEqual(text.count("all progress is lost after delete job/out/ckpt"), 2, text)
        self.assertEqual(len(self.findings()), 2, text)

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


if __name__ == "__main__":
    explorer_case.main()
