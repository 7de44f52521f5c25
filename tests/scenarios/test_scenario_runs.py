#!/usr/bin/env python3
"""Reports of scenarios, runs that are stopped, and scenarios that are refused."""

import json
import os
import signal
import subprocess
import sys
import time

import scenario_case


NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}  # hides those of the host from caip


class Reports(scenario_case.Case):
    def run_words(self, *words, environment=()):
        return subprocess.run([scenario_case.caip(), "scenario", "run", *map(str, words), "--state",
                               str(self.folder / "state")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300,
                              env=dict(os.environ, **dict(environment)))

    def test_a_notice_of_maintenance_gives_the_same_events_each_time(self):
        scenario = scenario_case.ROOT / "scenarios" / "service" / "maintenance_gives_notice.yaml"
        words = [scenario_case.caip(), "scenario", "run", scenario, "--state", self.folder / "state", "--events"]
        runs = [subprocess.Popen([*words, self.folder / f"{i}.jsonl"], stdout=subprocess.DEVNULL)
                for i in range(8)]
        for run in runs:  # at once, so that they disturb each other
            self.assertEqual(run.wait(timeout=scenario_case.PATIENCE), 0)
        lists = set()
        for i in range(8):
            lines = (self.folder / f"{i}.jsonl").read_text().splitlines()[1:-1]
            events = [json.loads(line) for line in lines]
            lists.add(json.dumps([{**event, "time": ""} for event in events]))
        self.assertEqual(len(lists), 1, "\n\n".join(sorted(lists)))

    def test_a_failed_job_fails_its_scenario_with_the_reason(self):
        file = self.scenario("record(1)\nsys.exit('out of luck')\n", "limits: {wall: 1m}\n")
        code, text, played, _ = self.run_scenario(file)
        self.assertEqual(code, 1, text)
        self.assertIn("BROKEN  state: expected SUCCEEDED, found FAILED", text)
        self.assertIn("the job ended FAILED: ", text)
        self.assertIn("exited with a non-zero status of 1", played["error_message"])

    def test_files_in_a_command_are_looked_up_beside_the_scenario(self):
        (self.folder / "t.py").write_text("import sys\nprint(open(sys.argv[1]).read(), flush=True)\n")
        (self.folder / "data.txt").write_text("of the file")
        file = self.folder / "s.yaml"
        file.write_text("description: d\ntrainer: {command: [python3, t.py, data.txt]}\n"
                        "expect: {state: SUCCEEDED, log: [{match: of the file, count: 1}]}\n" + scenario_case.LIMITS)
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_event_lists_of_equal_names_do_not_replace_each_other(self):
        text = self.scenario("record(1)\n", "seed: 1\n").read_text()
        for name in ("a/x.yaml", "b/x.yaml", "b/y.yaml"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        done = self.run_words(self.folder / "a", self.folder / "b", "--events", self.folder / "ev")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted(file.name for file in (self.folder / "ev").iterdir()),
                         ["a-x.jsonl", "b-x.jsonl", "y.jsonl"])

    def test_a_folder_gets_the_event_list_of_a_single_scenario(self):
        (self.folder / "ev").mkdir()
        file = self.scenario("record(1)\n", "seed: 1\n")
        done = self.run_words(file, "--events", self.folder / "ev")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([one.name for one in (self.folder / "ev").iterdir()], [file.stem + ".jsonl"])

    def test_unwritable_reports_are_refused_before_any_run(self):
        file = self.scenario("time.sleep(600)\n", "seed: 1\n")
        for flag in ("--junit", "--json", "--events"):
            done = self.run_words(file, flag, self.folder / "nope" / "x")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("cannot write", done.stderr)

    def test_a_report_is_printed(self):
        done = self.run_words(self.scenario("record(1)\n", "seed: 1\n"), "--json", "-")
        self.assertEqual(json.loads(done.stdout)["passed"], 1)
        self.assertIn("PASSED", done.stderr)

    def test_a_scenario_without_its_modules_is_skipped_by_name(self):
        file = self.scenario("record(1)\n", "needs: {modules: [json, caip_missing_module]}\n")
        done = self.run_words(file)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("NOT RUN", done.stdout)
        self.assertIn("lacks the modules: caip_missing_module", done.stdout)
        self.assertIn("0 passed, 0 failed, 1 not run", done.stdout)

    def test_the_modules_of_a_package_are_those_of_its_runtime_version(self):
        python = self.folder / "python" / "bin" / "python3"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parents[1]], check=True)
        settings = self.folder / "settings.yaml"
        settings.write_text(json.dumps({"runtimes": {"2.11": str(python)}}))
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        file = self.folder / "s.yaml"
        file.write_text("description: d\nneeds: {modules: [json, caip_missing_module]}\njob:\n"
                        "  submit: [--package-path, trainer, --module-name, trainer.task,\n"
                        "           --runtime-version, '2.11', --python-version, '3.7']\n")
        done = self.run_words(file, "--emulator-config", settings)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"'{python}' lacks the modules: caip_missing_module", done.stdout)

    def test_a_scenario_without_its_gpus_is_skipped_by_name(self):
        file = self.scenario("record(1)\n", "needs: {gpus: 1}\n")
        for settings, reason in (("", "this host has none"), ("gpus: cpu\n", "--gpus cpu gives jobs none"),
                                 ("fake_gpus: 1xNVIDIA_TESLA_T4\n", "no program can compute on fake GPUs")):
            self.configure(settings)
            done = self.run_words(file, environment=NO_GPU)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"NOT RUN {file}  (it needs a GPU, and {reason})", done.stdout)
            self.assertIn("0 passed, 0 failed, 1 not run", done.stdout)

    def test_all_needs_that_a_host_does_not_meet_are_named(self):
        file = self.scenario("record(1)\n", "needs: {modules: [caip_missing_module], gpus: 1}\n")
        done = self.run_words(file, environment=NO_GPU)
        self.assertRegex(done.stdout, r"\(it needs a GPU, and this host has none; '\S+' lacks the modules: caip_missing_module\)")

    def use_bare_python(self, *modules):
        """Sets an interpreter with nothing but these modules, which are empty, for all jobs."""
        environment = self.folder / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        site = next(environment.glob("lib/python*/site-packages"))
        for module in modules:
            (site / f"{module}.py").write_text("")
        self.configure(f"python: {environment}/bin/python3\n")

    def test_the_scenarios_of_a_gpu_are_not_run_on_a_host_with_pytorch_alone(self):
        folder = self.folder / "scenarios"
        folder.mkdir()
        for file in (scenario_case.ROOT / "scenarios" / "frameworks").glob("torch_gpu*.yaml"):
            (folder / file.name).write_text(f"extends: {file}\ndescription: d\n")
        self.use_bare_python("torch")
        done = self.run_words(folder, environment=NO_GPU)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("(it needs a GPU, and this host has none)"), 2, done.stdout)
        self.assertIn("0 passed, 0 failed, 2 not run", done.stdout)

    def test_the_scenarios_of_packages_are_not_run_on_a_bare_host(self):
        folder = self.folder / "scenarios"
        folder.mkdir()
        frameworks = scenario_case.ROOT / "scenarios" / "frameworks"
        files = [file for name in ("tf_*", "torch_ddp*", "torch_gpu*", "xgboost_tracker*")
                 for file in frameworks.glob(name + ".yaml")]
        for file in files:
            (folder / file.name).write_text(f"extends: {file}\ndescription: d\n")
        self.use_bare_python()
        done = self.run_words(folder, environment=NO_GPU)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(" lacks the modules: "), len(files), done.stdout)
        self.assertIn(f"0 passed, 0 failed, {len(files)} not run", done.stdout)

    def test_the_config_of_a_job_among_scenarios_is_called_that(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        self.scenario("record(1)\n", "seed: 1\n").rename(folder / "scenario.yaml")
        config = folder / "config.yaml"
        config.write_text("trainingInput: {scaleTier: BASIC}\n")
        named = self.run_words(config)
        self.assertEqual(named.returncode, 2, named.stdout + named.stderr)
        self.assertIn("is the config of a job", named.stdout)
        checked = subprocess.run([scenario_case.caip(), "scenario", "validate", str(config)],
                                 stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(checked.returncode, 2, checked.stderr)
        self.assertIn("is the config of a job", checked.stderr)
        both = self.run_words(folder)
        self.assertEqual(both.returncode, 0, both.stdout + both.stderr)
        self.assertIn("1 passed, 0 failed, 1 not run", both.stdout)
        config.write_text("displayName: d\njobSpec: {workerPoolSpecs: []}\n")
        named = self.run_words(config)
        self.assertIn("is the config of a job", named.stdout)

    def test_scenarios_of_a_folder_may_end_in_yml(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        self.scenario("record(1)\n", "seed: 1\n").rename(folder / "scenario.yml")
        (folder / "docker-compose.yml").write_text("services: {}\n")
        done = self.run_words(folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 passed, 0 failed", done.stdout)

    def test_an_interruption_reports_scenarios_that_did_not_run(self):
        self.use_processes()
        began = self.folder / "began"
        file = self.scenario(f"open({str(began)!r}, 'w').close()\ntime.sleep(600)\n",
                             "limits: {wall: 1h, no_progress: 1h}\n")
        report, junit = self.folder / "r.json", self.folder / "r.xml"
        process = subprocess.Popen([scenario_case.caip(), "scenario", "run", str(file), str(file), "--jobs", "1",
                                    "--state", str(self.folder / "state"), "--json", str(report),
                                    "--junit", str(junit)], stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + scenario_case.PATIENCE
        while not began.exists():
            self.assertLess(time.monotonic(), deadline, "the trainer never began")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=scenario_case.PATIENCE)
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("(interrupted)", text)
        self.assertIn("(not started)", text)
        self.assertIn("0 passed, 0 failed, 2 not run", text)
        self.assertNotIn("BROKEN", text)
        played = json.loads(report.read_text())
        self.assertEqual([one["not_run"] for one in played["scenarios"]],
                         ["interrupted", "not started"])
        self.assertEqual(junit.read_text().count("<skipped"), 2)


class Trainers(scenario_case.Case):
    """Trainers that misbehave. The scenario always ends, and no process is left."""

    def stopped(self, trainer, limits):
        code, text, played, _ = self.run_scenario(self.scenario(
            trainer, f"limits: {limits}\nexpect: {{state: SUCCEEDED}}\n"))
        self.assertEqual(code, 1, text)
        return next(a["found"] for a in played["assertions"] if a["name"] == "limits")

    def assert_ends(self, word):
        """Waits for the end of the processes with this argument."""
        deadline = time.monotonic() + scenario_case.PATIENCE
        while left := scenario_case.processes_with(word):
            self.assertLess(time.monotonic(), deadline, f"processes {left} are left")
            time.sleep(0.01)

    def test_one_that_never_ends(self):
        found = self.stopped("step = 0\nwhile True:\n    step += 1\n    record(step)\n"
                             "    time.sleep(0.05)\n", "{wall: 2s}")
        self.assertIn("limits.wall: the job did not end within 2.00s", found)

    def test_one_that_makes_no_progress(self):
        found = self.stopped("record(1)\ntime.sleep(600)\n", "{no_progress: 1s}")
        self.assertIn("limits.no_progress", found)

    def test_one_that_logs_without_end(self):
        found = self.stopped("while True: say('and another thing')\n",
                             "{log_lines: 500, no_progress: 60s}")
        self.assertIn("limits.log_lines: more than 500 lines", found)

    def test_one_that_leaves_children(self):
        time_of_child = f"600.{os.getpid()}1"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            sleep = ["sleep", {time_of_child!r}]
            children = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
            record(1)
            """, "expect: {state: SUCCEEDED, steps: {master-0: 1..1}}\n"))
        self.assertEqual(code, 0, text)
        self.assert_ends(time_of_child)

    def test_one_that_leaves_children_when_its_machine_is_lost(self):
        time_of_child = f"600.{os.getpid()}2"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            child = subprocess.Popen(["sleep", {time_of_child!r}], start_new_session=True)
            record(1)
            """, """
            faults:
              - kill: {replica: master-0}
                when: {step: 1}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """))
        self.assertEqual(code, 0, text)
        self.assert_ends(time_of_child)

    def test_one_that_ignores_sigterm(self):
        _, events = self.play(
            """
            signal.signal(signal.SIGTERM, lambda *_: say("received, and ignored"))
            job = folder(flag("job-dir"))
            first = not job.list("mark")
            job.put("mark", {})
            record(1)
            while first:
                time.sleep(0.02)
            """, """
            limits: {grace: 5s, no_progress: 20s}
            faults:
              - maintenance: {replica: master-0}
                when: {step: 1}
            expect:
              state: SUCCEEDED
              restarts: {master-0: 1}
              log: [{match: "received, and ignored", replica: master-0, boot: 1, count: 1}]
            """)
        ends = [event for event in events if event["kind"] == "exit"]
        self.assertEqual([end.get("signal", 0) for end in ends], [9, 0])


class Mistakes(scenario_case.Case):
    """Mistakes in a file are reported before any run: exit code 2, with line, column and caret."""

    def refused(self, rest, trainer="record(1)\n"):
        file = self.scenario(trainer, rest)
        code, text, _, events = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertEqual([e for e in events if e["kind"] == "start"], [])
        return text

    def test_all_mistakes_are_reported_at_once(self):
        text = self.refused("""
            faults:
              - kil: {replica: master-0}
                when: {step: 1}
              - kill: {replica: boss-0}
                when: {steps: 1}
              - kill: {replica: worker-7}
                when: {step: 1}
            expect: {state: SUCCEEDED, error_matches: "x", stat: FAILED}
            """)
        for words in ("did you mean 'kill'?", "is not a valid replica", "did you mean 'step'?",
                      "did you mean 'state'?"):
            self.assertIn(words, text)
        self.assertIn("scenario.yaml:5:5", text)
        self.assertIn("^", text)

    def test_impossible_triggers_are_reported(self):
        for rest, words in (
                ("kill: {replica: worker-7}\n    when: {step: 1}", "the job has no worker-7"),
                ("kill: {replica: master-0}\n    when: {before: {rename: '*'}}", "can never happen"),
                ("cancel: {}\n    when: {api: projects.jobs.gett}", "did you mean"),
                ("name: a\n    cancel: {}\n    when: {fault: a}", "waits for itself")):
            with self.subTest(words):
                self.assertIn(words, self.refused(f"faults:\n  - {rest}\n"))

    def test_a_replica_that_the_submitted_job_does_not_have(self):
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "task.py").write_text("print('hello')\n")
        file = self.folder / "scenario.yaml"
        file.write_text(
            "description: d\njob: {submit: [--package-path, trainer, --module-name, trainer.task, "
            "--runtime-version, '2.11', --python-version, '3.7']}\nfaults:\n"
            "  - kill: {replica: worker-7}\n    when: {step: 1}\nexpect: {state: SUCCEEDED}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertIn("the job has no worker-7; it has master-0", text)

    def test_args_beside_submit_reach_the_trainer(self):
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "task.py").write_text(
            "import sys\nsys.exit(0 if sys.argv[1:4] == ['--a=1', '--b', '2'] else 3)\n")
        file = self.folder / "scenario.yaml"
        file.write_text(
            "description: d\njob:\n  submit: [--package-path, trainer, --module-name, trainer.task, "
            "--runtime-version, '2.11', --python-version, '3.7', --, --a=1]\n  args: [--b, '2']\n"
            "expect: {state: SUCCEEDED}\n" + scenario_case.LIMITS)
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_a_trigger_that_never_occurs_fails_the_scenario(self):
        code, text, _, _ = self.run_scenario(self.scenario("record(1)\n", """
            faults:
              - kill: {replica: master-0}
                when: {step: 7}
            expect: {state: SUCCEEDED}
            """))
        self.assertEqual(code, 1, text)
        self.assertIn("never; its trigger counted 0 events", text)


if __name__ == "__main__":
    scenario_case.main()
