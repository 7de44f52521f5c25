#!/usr/bin/env python3
"""`caip check` of custom jobs of Vertex AI: their rules hold, and a start after an error may spoil nothing."""
import shutil

import fixture
import trainers

POOL = ("machine-type=n1-standard-4,executor-image-uri=gcr.io/p/base,local-package-path=src,python-module=trainer.task")

# The sound trainer of a training job, which gets its places from variables.
AS_CUSTOM_JOB = [
    ('    parser.add_argument("--job-dir", required=True)\n', ""),
    ("    job = folder(args.job_dir)\n", '    job = folder(os.environ["AIP_CHECKPOINT_DIR"])\n'),
]
# It exports a model with each checkpoint, and clears that of an earlier start first.
CLEARS_ITS_MODEL = [
    ("def train(job, steps):\n",
     "def train(job, steps):\n"
     '    models = folder(os.environ["AIP_MODEL_DIR"])\n'
     "    for name in models.list():\n"
     "        models.delete(name)\n"),
    ('            job.put("ckpt-%04d" % step, {"step": step})\n',
     '            models.put("model", {"w": step / 4})\n'
     '            job.put("ckpt-%04d" % step, {"step": step})\n'),
    ("    report(steps, steps / 4)\n",
     '    models.put("model", {"w": steps / 4})\n    report(steps, steps / 4)\n'),
]


class CustomJobs(fixture.WithFolder):
    def package(self, *changes):
        text = trainers.SOUND
        for old, new in [*AS_CUSTOM_JOB, *changes]:
            self.assertIn(old, text)
            text = text.replace(old, new)
        package = self.folder / "src" / "trainer"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        shutil.copy(trainers.STORAGE, package / "storage.py")
        (package / "task.py").write_text(text)

    def check(self, *words):
        return self.report("--state", self.state, *words)

    def test_a_sound_trainer_of_a_local_package_passes(self):
        self.package()
        report, done = self.check("--worker-pool-spec", POOL, "--args=--steps=8")
        self.assertEqual(self.verdicts(report, "FAIL", "WARN"), {}, done.stdout)
        passed = self.verdicts(report, "PASS")
        for check in ("start/succeeds", "roles/chief", "roles/worker", "roles/evaluator", "restart/explored",
                      "restart/second-start", "machine/writes"):
            self.assertIn(check, passed, done.stdout)
        skipped = self.verdicts(report, "SKIPPED")
        self.assertIn("AIP_MODEL_DIR", skipped["arguments/job-dir"])
        self.assertIn("always calls its first replica chief", skipped["roles/master"])

    def test_a_start_that_spoils_the_output_fails_with_a_scenario(self):
        self.package(*CLEARS_ITS_MODEL)
        report, done = self.check("--filter", "restart/*", "--worker-pool-spec", POOL, "--args=--steps=8")
        failed = self.verdicts(report, "FAIL")
        self.assertEqual(list(failed), ["restart/second-start"], done.stdout)
        self.assertIn("spoils the output", failed["restart/second-start"])
        scenario = next((self.folder / "caip-findings").glob("finding-*.yaml"))
        played = self.play(scenario)
        self.assertEqual(played.returncode, 1, played.stdout)
        self.assertIn("BROKEN  output_never_goes_back", played.stdout)

    def test_a_file_and_words_after_the_bar_describe_the_job_too(self):
        self.package()
        (self.folder / "spec.yaml").write_text(
            "workerPoolSpecs: [{machineSpec: {machineType: n1-standard-4}, containerSpec: {imageUri: gcr.io/p/t}}]\n")
        program = f"env PYTHONPATH={self.folder / 'src'} /usr/bin/python3 -B -m trainer.task"
        report, done = self.check("--filter", "start/*", "--config", "spec.yaml", "--map-image",
                                  f"gcr.io/p/t={program}", "--", "--steps", "4")
        self.assertEqual(self.verdicts(report, "PASS").get("start/succeeds"), "SUCCEEDED", done.stdout)

    def study(self, metric="accuracy"):
        """The words for a tuning job whose trials run the package."""
        (self.folder / "study.yaml").write_text(
            "maxTrialCount: 8\nmaxFailedTrialCount: 3\n"
            "studySpec:\n"
            f"  metrics: [{{metricId: {metric}, goal: MAXIMIZE}}]\n"
            "  parameters: [{parameterId: rate, doubleValueSpec: {minValue: 0.1, maxValue: 1}}]\n"
            "trialJobSpec:\n"
            "  workerPoolSpecs:\n"
            "    - machineSpec: {machineType: n1-standard-4}\n"
            "      containerSpec: {imageUri: gcr.io/p/t}\n")
        program = f"env PYTHONPATH={self.folder / 'src'} /usr/bin/python3 -B -m trainer.task"
        return ["--config", "study.yaml", "--map-image", f"gcr.io/p/t={program}"]

    def test_a_tuning_job_is_checked_by_one_trial(self):
        self.package()
        report, done = self.check(*self.study(), "--max-trial-count", "4", "--", "--steps", "8")
        self.assertEqual(self.verdicts(report, "FAIL", "WARN"), {}, done.stdout)
        passed = self.verdicts(report, "PASS")
        for check in ("start/succeeds", "roles/worker", "tuning/metric", "restart/explored", "restart/second-start",
                      "machine/writes"):
            self.assertIn(check, passed, done.stdout)
        self.assertIn("'accuracy'", passed["tuning/metric"])

    def test_a_trial_that_reports_another_metric_fails(self):
        self.package()
        report, done = self.check("--filter", "tuning/*", *self.study("loss"), "--", "--steps", "4")
        self.assertEqual(list(self.verdicts(report, "FAIL")), ["tuning/metric"], done.stdout)
        report, done = self.check("--filter", "tuning/*", "--metric", "accuracy", *self.study("loss"), "--",
                                  "--steps", "4")
        self.assertEqual(list(self.verdicts(report, "PASS")), ["tuning/metric"], done.stdout)

    def test_flags_of_the_other_kind_of_job_are_refused(self):
        self.package()
        self.study()
        for words in (["--worker-pool-spec", POOL, "--module-name", "trainer.task"],
                      ["--args=a", "--package-path", "src/trainer", "--module-name", "trainer.task"],
                      ["--algorithm=random-search", "--worker-pool-spec", POOL],
                      ["--config", "study.yaml", "--args=a"],
                      ["--config", "study.yaml", "--scale-tier=BASIC"]):
            done = self.run_caip("--state", self.state, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("is a flag of", done.stderr)

    # gcloud uploads no package of a custom job, and the service reads none that is not in a bucket.
    def test_a_refused_package_comes_with_the_words_that_describe_it(self):
        self.package()
        words = POOL.replace("local-package-path=src,", "")
        for uri, why in (("dist/trainer-0.1.tar.gz", "does not begin with gs://"),
                         (str(self.folder / "trainer-0.1.tar.gz"), "does not begin with gs://"),
                         ("gs://mine/trainer-0.1.tar.gz", "is in a bucket")):
            with self.subTest(uri):
                done = self.run_caip("--state", self.state, f"--python-package-uris={uri}", "--worker-pool-spec", words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"'{uri}' {why}", done.stderr)
                self.assertIn("local-package-path=FOLDER", done.stderr)


if __name__ == "__main__":
    fixture.main()
