#!/usr/bin/env python3
"""The explorer on custom jobs of Vertex AI: lost machines, and the start that follows an error."""

import json
import shutil

import explorer_case
import shared_modules
import trainers

VERTEX = trainers.ROOT / "scenarios" / "vertex"
PROGRAMS = trainers.ROOT / "scenarios" / "trainers" / "vertex"
SPOILS = "the start after an error spoils the output: "


class CustomJobs(explorer_case.ExplorerCase):
    def package(self, program):
        """A package in the folder of the test with that program, which can be exchanged."""
        package = self.folder / "src"
        package.mkdir(exist_ok=True)
        shared_modules.copy_to(package)
        shutil.copy(PROGRAMS / program, package / "task.py")

    def causes(self, *words):
        """Explores with a JSON report: exit code, and the findings by their causes."""
        report = self.folder / "report.json"
        code, text = self.explore_here("--json", str(report), "--out", str(self.folder / "out"), *words)
        self.assertTrue(report.exists(), text)
        findings = json.loads(report.read_text())["findings"]
        return code, {finding["cause"]: finding for finding in findings if finding["sure"]}

    def pool(self):
        return ("--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=E,local-package-path=src,"
                "script=task.py")

    def test_half_a_checkpoint_is_found_and_its_repair_is_silent(self):
        code, found = self.causes(str(VERTEX / "half_a_checkpoint_broken.yaml"))
        self.assertEqual(code, 1)
        self.assertTrue(any(cause.startswith("the job ends FAILED") for cause in found), found)
        code, found = self.causes(str(VERTEX / "half_a_checkpoint_fixed.yaml"))
        self.assertEqual((code, found), (0, {}))

    def test_a_spoiled_output_is_a_finding_of_its_own_kind(self):
        code, found = self.causes(str(VERTEX / "second_start_broken.yaml"))
        self.assertEqual((code, list(found)), (1, [SPOILS + "job/out/model/model.json"]))
        finding = found[SPOILS + "job/out/model/model.json"]
        self.assertEqual(finding["interruption"], "program_fails")
        self.assertIn("deleted by boot 2", finding["found"])
        played = self.play(finding["scenario"])
        self.assertFalse(played["passed"])
        self.assertIn("output_never_goes_back", played["why_not"])
        code, found = self.causes(str(VERTEX / "second_start_fixed.yaml"))
        self.assertEqual((code, found), (0, {}))

    def test_a_finding_passes_when_the_trainer_is_fixed(self):
        self.package("second_start_broken.py")
        code, found = self.causes("--", self.pool())
        self.assertEqual((code, list(found)), (1, [SPOILS + "job/out/model/model.json"]))
        scenario = self.folder / found[SPOILS + "job/out/model/model.json"]["scenario"]
        self.assertFalse(self.play(scenario)["passed"])
        self.package("second_start_fixed.py")
        played = self.play(scenario)
        self.assertTrue(played["passed"], played)

    def test_a_file_of_gcloud_describes_the_job(self):
        self.package("half_a_checkpoint_fixed.py")
        (self.folder / "spec.yaml").write_text(
            "workerPoolSpecs:\n"
            "  machineSpec: {machineType: n1-standard-4}\n"
            "  containerSpec: {imageUri: gcr.io/p/t}\n"
            "scheduling: {strategy: SPOT}\n")
        program = f"/usr/bin/python3 {self.folder / 'src' / 'task.py'}"
        code, found = self.causes("--max-points", "12", "--", "--config", "spec.yaml", "--map-image",
                                  f"gcr.io/p/t={program}")
        self.assertEqual((code, found), (0, {}))

    def test_one_trial_of_a_tuning_job_is_explored(self):
        self.package("second_start_broken.py")
        (self.folder / "study.yaml").write_text(
            "maxTrialCount: 8\n"
            "studySpec:\n"
            "  metrics: [{metricId: accuracy, goal: MAXIMIZE}]\n"
            "  parameters: [{parameterId: rate, doubleValueSpec: {minValue: 0.1, maxValue: 1}}]\n"
            "trialJobSpec:\n"
            "  workerPoolSpecs:\n"
            "    - machineSpec: {machineType: n1-standard-4}\n"
            "      containerSpec: {imageUri: gcr.io/p/t}\n")
        words = ["--max-points", "20", "--", "--config", "study.yaml", "--map-image",
                 f"gcr.io/p/t=/usr/bin/python3 {self.folder / 'src' / 'task.py'}"]
        cause = SPOILS + "job/out/#/model/model.json"
        code, found = self.causes(*words)
        self.assertEqual((code, list(found)), (1, [cause]))
        scenario = self.folder / found[cause]["scenario"]
        self.assertIn("workerpool0-0/1", scenario.read_text())
        self.assertFalse(self.play(scenario)["passed"])
        self.package("second_start_fixed.py")
        self.assertTrue(self.play(scenario)["passed"])
        code, found = self.causes(*words)
        self.assertEqual((code, found), (0, {}))

    def test_clusters_lose_machines_of_each_pool(self):
        code, text = self.explore(VERTEX / "lost_worker.yaml", "--max-points", "6", "--replicas", "workerpool1-0",
                                  "--no-pairs")
        self.assertEqual(code, 0, text)
        self.assertTrue(self.verdicts(), text)
        self.assertTrue(all("by workerpool1-0" in point or "program fails" in point for point in self.verdicts()))


if __name__ == "__main__":
    explorer_case.main()
