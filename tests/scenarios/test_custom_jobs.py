#!/usr/bin/env python3
"""Scenarios of custom jobs of Vertex AI: jobs by words, the variables of the service, and lost Spot machines."""

import json
import subprocess

import scenario_case
import shared_modules

VERTEX = scenario_case.ROOT / "scenarios" / "vertex"

TRAINER = """
import json, os, sys
from console import record, say
from storage import folder
checkpoints = folder(os.environ["AIP_CHECKPOINT_DIR"])
"""
RESUMES = TRAINER + """
step = max((int(name[5:]) for name in checkpoints.list("ckpt-")), default=0)
while step < 40:
    step += 1
    record(step)
    if step % 10 == 0:
        checkpoints.put("ckpt-%d" % step, {"step": step})
"""
STUDY = """
studySpec:
  algorithm: RANDOM_SEARCH
  metrics: [{metricId: accuracy, goal: MAXIMIZE}]
  parameters: [{parameterId: rate, doubleValueSpec: {minValue: 0.1, maxValue: 1}}]
trialJobSpec:
  workerPoolSpecs: [{machineSpec: {machineType: n1-standard-4}, containerSpec: {imageUri: gcr.io/p/t}}]
"""


class CustomJobs(scenario_case.Case):
    def package(self, text):
        package = self.folder / "src"
        package.mkdir()
        shared_modules.copy_to(package)
        (package / "task.py").write_text(text)

    def write(self, text):
        file = self.folder / "scenario.yaml"
        file.write_text("description: A custom job of the test.\n" + text + scenario_case.LIMITS)
        return file

    def command(self, job, rest=""):
        self.package(RESUMES)
        return self.write(f"job: {{custom_job: {job}}}\n"
                          f"trainer: {{command: [/usr/bin/python3, {self.folder / 'src' / 'task.py'}]}}\n" + rest)

    def preempted(self, file, *words):
        report = self.folder / "report.json"
        done = subprocess.run([scenario_case.caip(), "scenario", "run", str(file), "--state",
                               str(self.folder / "state"), "--json", str(report), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done, json.loads(report.read_text())["scenarios"][0]

    def test_words_of_gcloud_make_a_job_with_a_local_package_and_no_job_dir(self):
        self.package(TRAINER + "say('place ' + os.environ['AIP_CHECKPOINT_DIR'])\n"
                     "say('words ' + json.dumps(sys.argv[1:]))\n"
                     "say('cluster ' + ' '.join(json.loads(os.environ['CLUSTER_SPEC'])['cluster']))\n")
        file = self.write(
            "job:\n"
            "  create:\n"
            "    - --worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=E,local-package-path=src,"
            "script=task.py\n"
            "    - --args=--epochs=3\n"
            "expect:\n"
            "  states: [JOB_STATE_QUEUED, JOB_STATE_PENDING, JOB_STATE_RUNNING, JOB_STATE_SUCCEEDED]\n"
            "  log:\n"
            "    - {match: '^place gs://job/out/checkpoints/$', replica: workerpool0-0, count: 1}\n"
            "    - {match: '^words .\"--epochs=3\".$', replica: workerpool0-0, count: 1}\n"
            "    - {match: '^cluster workerpool0$', replica: workerpool0-0, count: 1}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_words_of_a_tuning_job_run_its_trials(self):
        self.package(RESUMES)
        (self.folder / "study.yaml").write_text(STUDY)
        file = self.write(
            "job:\n"
            "  tune:\n"
            "    - --config=study.yaml\n"
            "    - --max-trial-count=2\n"
            "    - --map-image=gcr.io/p/t=/usr/bin/python3 src/task.py\n"
            "faults:\n"
            "  - kill: {replica: chief/2}\n"
            "    when: {step: 25}\n"
            "expect:\n"
            "  state: JOB_STATE_SUCCEEDED\n"
            "  restarts: {workerpool0-0/2: 1, total: 1}\n"
            "  first_step: {workerpool0-0/2: {2: 21}}\n"
            "  trials: {count: 2}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_a_study_that_the_service_refuses_is_reported(self):
        self.package(RESUMES)
        (self.folder / "study.yaml").write_text(STUDY.replace("maxValue: 1", "maxValue: 0"))
        file = self.write("job: {tune: [--config=study.yaml, '--map-image=gcr.io/p/t=/usr/bin/true']}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertIn("max_value", text)

    def test_a_wrong_word_is_reported_as_gcloud_reports_it(self):
        file = self.write("job: {create: [--worker-pool-spec=machine=n1-standard-4]}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertIn("machine", text)

    def test_the_service_s_rules_reject_a_job(self):
        file = self.write("job: {custom_job: {workerPoolSpecs: [{machineSpec: {machineType: n1-huge}}]}}\n"
                          "trainer: {command: ['true']}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertIn("n1-huge", text)

    def test_preemptions_are_measured_and_the_same_each_time(self):
        file = self.command("{scheduling: {strategy: SPOT}}")
        words = ["--preempt", "constant:15m", "--step-time", "1m"]
        done, report = self.preempted(file, *words)
        self.assertEqual(done.returncode, 0, done.stdout)
        # Machines are lost after steps 15, 25 (11 to 25) and 35 (21 to 35); then 31 to 40 remain.
        cost = report["preemption"]
        self.assertEqual((cost["preemptions"], cost["job_restarts"]), (3, 3))
        self.assertEqual((cost["steps"], cost["steps_again"]), (40, 15))
        self.assertEqual(cost["seconds_of_steps_again"], 15 * 60)
        self.assertIn("3 preemptions, 3 job restarts; 40 steps of workerpool0-0 and 15 repetitions; 15m ", done.stdout)
        self.assertIn("seed 1)", done.stdout)

    def test_the_seed_decides_when_machines_are_lost(self):
        file = self.command("{scheduling: {strategy: SPOT}}", "mood: {vm_lifetime: exponential:30m, step_time: 1m}\n")
        costs = {}
        for seed in ("3", "3", "4", "5"):
            _, report = self.preempted(file, "--seed", seed)
            cost = {key: report["preemption"][key] for key in ("preemptions", "steps_again")}
            self.assertEqual(costs.setdefault(seed, cost), cost)
        self.assertGreater(len(set(map(str, costs.values()))), 1, costs)

    def test_machines_that_live_too_short_fail_the_job_after_six_restarts(self):
        file = self.command("{scheduling: {strategy: SPOT}}")
        done, report = self.preempted(file, "--preempt", "constant:5m", "--step-time", "1m")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(report["state"], "FAILED")
        self.assertEqual(report["preemption"]["preemptions"], 7)
        self.assertEqual(report["preemption"]["job_restarts"], 6)
        self.assertIn("--preempt constant:5m --step-time 1m", report["replay"])

    def test_a_training_job_is_not_started_again_after_an_error(self):
        self.package(RESUMES.replace('os.environ["AIP_CHECKPOINT_DIR"]', '"gs://job/out"'))
        file = self.write(f"trainer: {{command: [/usr/bin/python3, {self.folder / 'src' / 'task.py'}]}}\n"
                          "faults: [{fail: {replica: master-0, status: 3}, when: {step: 25}}]\n"
                          "expect: {state: FAILED, error_matches: status of 3, restarts: {total: 0}}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_a_program_that_fails_by_itself_starts_again_for_the_time_of_the_scenario(self):
        self.package(TRAINER + "record(1)\nsys.exit(4)\n")
        program = f"trainer: {{command: [/usr/bin/python3, {self.folder / 'src' / 'task.py'}]}}\n"
        for mood, restarts in (("mood: {failing_restart: 1m}\n", 1), ("", 0)):
            file = self.write("job: {custom_job: {}}\n" + program + mood
                              + f"expect: {{state: JOB_STATE_FAILED, restarts: {{total: {restarts}}}}}\n")
            code, text, _, _ = self.run_scenario(file)
            self.assertEqual(code, 0, text)

    def test_a_model_that_is_none_is_refused(self):
        done = subprocess.run([scenario_case.caip(), "scenario", "run", str(VERTEX), "--preempt", "often"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("constant:20m", done.stdout)


if __name__ == "__main__":
    scenario_case.main()
