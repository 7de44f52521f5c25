#!/usr/bin/env python3
"""A sound trainer passes all checks of `caip check`; each broken trainer fails exactly one."""
import json
import os
import pathlib
import shlex
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import fixture
import machines
import trainers


class Check(fixture.WithFolder):
    def assert_fails_alone(self, check, report, done):
        self.assertEqual(list(self.verdicts(report, "FAIL", "WARN", "NOT RUN")), [check], done.stdout)
        found = next(one for one in report["checks"] if one["id"] == check)
        self.assertTrue(found["evidence"], "there is no evidence")
        self.assertTrue(found["advice"], "there is no advice")
        self.assertIn(f"--filter {check}", found["replay"])

    def test_a_sound_trainer_passes_all(self):
        report, done = self.report(*self.as_package(trainers.write(self.folder / "source")),
                                   *self.tuning(), "--", "--steps", "8")
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN", "SKIPPED"), {}, done.stdout)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(list(self.state.glob("scenarios/*")), [], "left behind")
        self.assertFalse((self.folder / "caip-findings").exists(), "nothing was found")

    def test_a_module_that_the_source_lacks_is_no_mistake_of_packing(self):
        package = trainers.write(self.folder / "source")
        imports = {"subdir": "import trainer.subdir.model\n", "model": "from trainer import model\n"}
        for name, text in imports.items():
            (package / f"imports_{name}.py").write_text(text)
        for module, missing in (("taks", "taks"), ("imports_subdir", "subdir"), ("imports_model", "model")):
            report, done = self.report("--filter", "package/*", "--filter", "start/*", "--package-path", package,
                                       "--module-name", f"trainer.{module}", "--state", self.state)
            self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"),
                             {"package/installed": f"no file of the source has the module 'trainer.{missing}'"},
                             done.stdout)
            self.assertNotIn("find_packages", done.stdout)
            self.assertIn("see package/installed", self.verdicts(report, "SKIPPED")["start/succeeds"])

    def test_a_sound_image_passes_all_checks_except_those_of_packages(self):
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source")))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)
        self.assertEqual(set(self.verdicts(report, "SKIPPED")),
                         {*trainers.BROKEN_PACKAGES, "tuning/metric"})

    def test_a_sound_image_passes_on_machines(self):
        machines.need(self.caip)
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source")),
                                   "--isolation", "machine")
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)

    def test_results_that_are_left_on_the_disk_of_a_machine(self):
        machines.need(self.caip)
        leaves = [("    job = folder(", "    with open('/var/results.csv', 'w') as out:\n"
                                        "        out.write('1,2')\n    job = folder(")]
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source", leaves)),
                                   "--isolation", "machine")
        self.assert_fails_alone("machine/writes", report, done)
        self.assertIn("/var/results.csv (3 bytes, by master-0)", done.stdout)
        self.assertFalse(os.path.exists("/var/results.csv"))

    def test_a_sound_trainer_passes_the_deep_checks(self):
        report, done = self.report("--deep", "--filter", "restart/*",
                                   *self.as_image(trainers.write(self.folder / "source")))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "SKIPPED"), {}, done.stdout)

    def tuning(self):
        (self.folder / "tuning.yaml").write_text(trainers.TUNING)
        return ["--config", self.folder / "tuning.yaml"]

    def test_a_trial_that_reports_another_metric(self):
        package = trainers.write(self.folder / "source", trainers.OTHER_METRIC)
        report, done = self.report(*self.as_image(package), *self.tuning())
        self.assert_fails_alone("tuning/metric", report, done)
        self.assertIn("the tag 'loss': 2.0", done.stdout)

    def test_a_metric_without_a_tuning_job(self):
        for changes, tag, code in (([], "accuracy", 0), (trainers.OTHER_METRIC, "accuracy", 1),
                                   (trainers.OTHER_METRIC, "loss", 0)):
            with self.subTest(tag=tag, code=code):
                package = trainers.write(self.folder / f"{tag}{len(changes)}", changes)
                report, done = self.report("--verbose", "--metric", tag, "--filter", "tuning/*",
                                           *self.as_image(package))
                self.assertEqual(done.returncode, code, done.stdout)
                found = "the tag 'loss': 2.0" if code else f"1 value of '{tag}', the last at step 8"
                self.assertIn(found, done.stdout)

    def test_a_metric_flag_overrides_the_metric_of_the_tuning_job(self):
        package = trainers.write(self.folder / "source", trainers.OTHER_METRIC)
        _, done = self.report("--metric", "loss", "--filter", "tuning/*", *self.as_image(package),
                              *self.tuning())
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_object_named_after_the_hosts_name(self):
        named = [('    if not job.list("export/"):',
                  '    import socket\n    if not job.list("hosts/"):\n'
                  '        job.put("hosts/" + socket.gethostname(), {})\n'
                  '    if not job.list("export/"):')]
        package = trainers.write(self.folder / "source", named)
        for surroundings in ({}, {"CAIP_INTERPOSITION": "preload"}):
            with self.subTest(**surroundings):
                report, done = self.report("--filter", "machine/independent",
                                           *self.as_image(package),
                                           env=dict(os.environ, **surroundings))
                self.assert_fails_alone("machine/independent", report, done)
                self.assertIn("hosts/caip-check-moved is named after", done.stdout)

    def test_a_trainer_that_depends_on_its_host(self):
        known = [("    job = folder(",
                  f"    if os.uname().nodename != {os.uname().nodename!r}:\n"
                  "        raise RuntimeError('this is another machine')\n    job = folder(")]
        report, done = self.report("--filter", "machine/independent",
                                   *self.as_image(trainers.write(self.folder / "source", known)))
        self.assert_fails_alone("machine/independent", report, done)
        self.assertIn("this is another machine", done.stdout)

    def test_a_file_of_this_machine(self):
        (self.folder / "vocabulary.txt").write_text("words")
        reads = [("    job = folder(", f"    open({str(self.folder / 'vocabulary.txt')!r}).read()\n"
                                       "    job = folder(")]
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source", reads)))
        self.assert_fails_alone("machine/independent", report, done)
        self.assertIn("vocabulary.txt of the current directory of this command", done.stdout)

    def test_temporary_files_and_caches_are_not_results(self):
        scratch = [("    job = folder(",
                    "    import tempfile\n"
                    "    with open('data.csv', 'w') as out:\n        out.write('1,2')\n"
                    "    open('data.csv').read()\n"
                    "    with tempfile.NamedTemporaryFile() as out:\n        out.write(b'3')\n"
                    "    os.makedirs(os.path.expanduser('~/.cache/library'))\n"
                    "    with open(os.path.expanduser('~/.cache/library/x'), 'w') as out:\n"
                    "        out.write('4')\n    job = folder(")]
        report, done = self.report("--verbose", "--filter", "machine/*",
                                   *self.as_image(trainers.write(self.folder / "s", scratch)))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "SKIPPED"), {}, done.stdout)
        self.assertIn("1 file stays on the boot disk", done.stdout)

    def test_a_warning_of_a_library_is_a_warning(self):
        warns = [("    job = folder(", "    import warnings\n    warnings.warn('old')\n"
                                       "    import logging\n    logging.info('kept its level')\n"
                                       "    job = folder(")]
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source", warns)))
        self.assert_fails_alone("logs/severity", report, done)
        self.assertEqual(done.returncode, 0, "a warning is not a failure")
        self.assertNotIn("kept its level", done.stdout)

    BY_LIBRARY = {"env": dict(os.environ, CAIP_INTERPOSITION="preload")}

    def test_a_sound_trainer_passes_where_the_kernel_holds_no_calls(self):
        report, done = self.report(*self.as_image(trainers.write(self.folder / "source")),
                                   **self.BY_LIBRARY)
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)
        self.assertEqual(set(self.verdicts(report, "SKIPPED")),
                         {*trainers.BROKEN_PACKAGES, "tuning/metric"})

    def test_files_are_seen_where_the_kernel_holds_no_calls(self):
        package = trainers.write(self.folder / "source", trainers.BROKEN["machine/writes"])
        report, done = self.report("--filter", "machine/*", *self.as_image(package),
                                   **self.BY_LIBRARY)
        self.assert_fails_alone("machine/writes", report, done)
        self.assertIn("history.csv in the current directory", done.stdout)

    def test_replicas_may_have_ports_of_localhost(self):
        wants = [("    role, index = task()",
                  "    role, index = task()\n"
                  '    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})\n'
                  "    for address in sum(cluster.values(), []):\n"
                  "        assert address.startswith('localhost:'), address")]
        words = ["--filter", "roles/chief", *self.as_image(
            trainers.write(self.folder / "source", wants))]
        report, done = self.report(*words)
        self.assertEqual(self.verdicts(report, "PASS"), {}, done.stdout)
        report, done = self.report("--addressing", "ports", *words)
        self.assertEqual(list(self.verdicts(report, "PASS")), ["roles/chief"], done.stdout)

    def test_replicas_may_listen_on_all_addresses(self):
        """As servers of TensorFlow do. Each replica keeps its port until all have theirs."""
        listens = [("    role, index = task()",
                    "    role, index = task()\n"
                    '    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})\n'
                    "    if role in cluster:\n"
                    "        server = socket.create_server(('0.0.0.0', int(cluster[role][index].rsplit(':', 1)[1])))\n"
                    "        job.put('logs/%s-%d/up' % (role, index), {})\n"
                    "        while len(job.list('logs/')) < sum(map(len, cluster.values())):\n"
                    "            time.sleep(0.02)"),
                   ("import os\n", "import os\nimport socket\n")]
        words = ["--filter", "start/*", "--filter", "roles/*",
                 *self.as_image(trainers.write(self.folder / "source", listens))]
        cluster = ["--scale-tier", "CUSTOM", "--master-machine-type", "n1-standard-4", "--worker-image-uri",
                   fixture.IMAGE, "--worker-machine-type", "n1-standard-4", "--worker-count", "2"]
        for isolation in (["--filter", "restart/*"], ["--isolation", "process"]):
            for job in ([], cluster):
                with self.subTest(isolation=isolation, job=job):
                    report, done = self.report(*isolation, *words, *job)
                    self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)
                    for check in ("start/succeeds", "roles/chief", "roles/worker"):
                        self.assertIn(check, self.verdicts(report, "PASS"), done.stdout)

    def test_replicas_may_listen_on_a_port_of_their_own(self):
        """Other replicas and other runs at the same time use the port, too."""
        machines.need(self.caip)
        with socket.socket() as free:
            free.bind(("0.0.0.0", 0))
            port = free.getsockname()[1]
        listens = [("    role, index = task()",
                    f"    role, index = task()\n    server = socket.create_server(('0.0.0.0', {port}))"),
                   ("import os\n", "import os\nimport socket\n")]
        report, done = self.report("--jobs", "4", *self.as_image(trainers.write(self.folder / "source", listens)))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)

    def test_a_host_that_lacks_a_module_of_the_runtime_version_shows_nothing_about_the_trainer(self):
        has = "import importlib.util, sys; sys.exit(importlib.util.find_spec('keras_preprocessing') is None)"
        if subprocess.run(["python3", "-c", has]).returncode == 0:
            self.skipTest("this host has the module")
        imports = [("import os\n", "import os\nimport keras_preprocessing\n")]
        package = trainers.write(self.folder / "source", imports)
        words = ["--runtime-version", "2.11", "--python-version", "3.7", *self.as_package(package)]
        for check in ("start/succeeds", "package/dependencies"):
            done = self.run_caip("--filter", check, *words)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("Runtime version 2.11 has the module 'keras_preprocessing'", done.stderr)
            self.assertIn("caip runtimes install 2.11", done.stderr)

    def test_only_the_exception_that_ends_the_trainer_shows_a_missing_module(self):
        """Here the trainer reports that it does without a module, and names one that its Python has."""
        text = "ModuleNotFoundError: No module named '%s'"
        for end in ("raise ValueError('bad label')", 'raise ModuleNotFoundError("No module named \'pip\'")'):
            with self.subTest(end=end):
                fails = [("    job = folder(", f"    print({text % 'xgboost'!r}, file=sys.stderr)\n"
                                               f"    {end}\n    job = folder(")]
                package = trainers.write(self.folder / str(len(end)), fails)
                report, done = self.report("--filter", "start/*", "--filter", "package/*", *self.as_package(package))
                self.assert_fails_alone("start/succeeds", report, done)

    def test_a_trainer_that_needs_a_server_of_this_host(self):
        machines.need(self.caip)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            asks = [("    job = folder(", f"    socket.create_connection(('127.0.0.1', {port}), 30).close()\n"
                                          "    job = folder("), ("import os\n", "import os\nimport socket\n")]
            report, done = self.report(*self.as_image(trainers.write(self.folder / "source", asks)))
        self.assert_fails_alone("machine/independent", report, done)
        self.assertIn("Connection refused", done.stdout)
        self.assertIn("a server on localhost", done.stdout)

    def test_a_port_that_another_program_has_is_no_mistake_of_the_trainer(self):
        machines.need(self.caip)
        with socket.create_server(("0.0.0.0", 0)) as server:
            port = server.getsockname()[1]
            listens = [("    job = folder(", f"    server = socket.create_server(('0.0.0.0', {port}))\n"
                                             "    job = folder("), ("import os\n", "import os\nimport socket\n")]
            report, done = self.report(*self.as_image(trainers.write(self.folder / "source", listens)))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)

    def test_a_trainer_may_look_up_its_own_name(self):
        looks = [("    job = folder(", "    socket.gethostbyname(socket.gethostname())\n    job = folder("),
                 ("import os\n", "import os\nimport socket\n")]
        words = ["--filter", "machine/independent", *self.as_image(trainers.write(self.folder / "source", looks))]
        report, done = self.report("--isolation", "process", *words)
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)
        machines.need(self.caip)
        report, done = self.report(*words)
        self.assertEqual(list(self.verdicts(report, "PASS")), ["machine/independent"], done.stdout)

    def test_steps_may_have_another_format(self):
        """Only the steps show that this trainer starts over, because it reads what it wrote."""
        starts_over = [('print(json.dumps({"step": step, "w": step / 4}), flush=True)',
                 'print("epoch 1, step %d is done" % step, flush=True)'),
                ("    step = newest(job)",
                 '    for name in job.list("ckpt-"):\n        job.get(name)\n    step = 0')]
        words = ["--filter", "restart/resumes", *self.as_image(
            trainers.write(self.folder / "source", starts_over))]
        report, done = self.report(*words)
        self.assertEqual(list(self.verdicts(report, "PASS")), ["restart/resumes"], done.stdout)
        report, done = self.report("--step-regex", r"step (?P<step>\d+)", *words)
        self.assert_fails_alone("restart/resumes", report, done)
        self.assertIn("boot 2 began at 1", done.stdout)

    def test_files_are_known_after_they_were_renamed(self):
        """In a bucket, a rename is a copy."""
        for view in ([], ["--storage-view", "path"]):
            for changes, failing in ((trainers.BY_RENAMES, []),
                                     (trainers.BY_RENAMES_FROM_THE_START, ["restart/resumes"])):
                with self.subTest(view=view, failing=failing):
                    package = trainers.write(self.folder / f"{len(view)}{len(failing)}", changes)
                    report, done = self.report("--filter", "restart/checkpoints", "--filter", "restart/resumes",
                                               "--filter", "restart/sigterm", *view, *self.as_image(package))
                    self.assertEqual(list(self.verdicts(report, "FAIL", "WARN", "NOT RUN", "SKIPPED")), failing,
                                     done.stdout)

    def test_a_trainer_that_ignores_its_role_gets_the_same_verdicts_each_time(self):
        ignores = [('    if role in ("chief", "master"):\n        train(job, args.steps)\n    else:\n'
                    "        wait_for_export(job)", "    train(job, args.steps)"),
                   # Fails if another replica has removed what it listed.
                   ("        step += 1\n", "        for name in job.list('ckpt-'):\n"
                                           "            job.get(name)\n        step += 1\n")]
        package = trainers.write(self.folder / "source", ignores)
        for _ in range(2):
            report, done = self.report("--filter", "roles/*", *self.as_image(package))
            self.assertEqual(list(self.verdicts(report, "FAIL", "WARN")), ["roles/worker"], done.stdout)
            self.assertEqual(list(self.verdicts(report, "PASS")), ["roles/without-tf-config"], done.stdout)
            self.assertIn("it does the work of the master", done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout)

    def roles_of_exporters(self, name, others="export(job)"):
        """The verdicts of a trainer whose workers and parameter servers do `others`. The master waits for them."""
        exports = [('    if not job.list("export/"):\n        job.put("export/model", {"w": steps / 4})',
                    "    export(job)"),
                   ("def wait_for_export(job):",
                    "def export(job):\n    role, index = task()\n"
                    f"    job.put({name}, {{'w': 2}})\n\n\n"
                    "def everyone(job):\n"
                    '    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})\n'
                    '    count = len(cluster.get("worker", []) + cluster.get("ps", []))\n'
                    "    deadline = time.monotonic() + PATIENCE\n"
                    '    while len(job.list("done/")) < count and time.monotonic() < deadline:\n'
                    "        time.sleep(0.02)\n\n\n"
                    "def wait_for_export(job):"),
                   ("        train(job, args.steps)", "        everyone(job)\n        train(job, args.steps)"),
                   ("        wait_for_export(job)",
                    f"        {others}\n        job.put('done/%s-%d' % (role, index), {{}})")]
        package = trainers.write(self.folder / str(len(list(self.folder.iterdir()))), exports)
        report, done = self.report("--filter", "roles/*", *self.as_image(package))
        self.assertEqual(done.returncode, 0, done.stdout)
        return self.verdicts(report, "WARN", "FAIL", "SKIPPED"), done.stdout

    def test_workers_that_export_their_own_models_do_the_work_of_the_master(self):
        for name in ("'export/%d/saved_model.pb' % time.time_ns()",
                     "'export/%s-%d/model' % (role, index)"):
            with self.subTest(name=name):
                verdicts, text = self.roles_of_exporters(name)
                self.assertEqual(set(verdicts), {"roles/worker", "roles/ps"}, text)
                self.assertIn("stores the same objects under names of its own", verdicts["roles/worker"])

    def test_workers_may_store_parts_logs_and_temporary_models(self):
        for name, others in (("'out/part-%d' % (index + 10 * ord(role[0]))", "export(job)"),
                             ("'logs/%s-%d/train.json' % (role, index)", "export(job)"),
                             ("'export/%s-%d/model' % (role, index)",
                              "export(job)\n        job.delete('export/%s-%d/model' % (role, index))")):
            with self.subTest(name=name):
                verdicts, text = self.roles_of_exporters(name, others)
                self.assertEqual(verdicts, {}, text)

    def test_a_strict_trainer_gets_a_warning(self):
        package = trainers.write(self.folder / "source", trainers.STRICT)
        report, done = self.report(*self.as_image(package))
        self.assert_fails_alone("arguments/unknown", report, done)
        self.assertEqual(done.returncode, 0, "a warning is not a failure")

    def test_a_limit_between_two_checkpoints(self):
        package = trainers.write(self.folder / "source")
        report, done = self.report("--filter", "restart/checkpoints", "--real-duration", "200h",
                                   *self.as_image(package))
        self.assert_fails_alone("restart/checkpoints", report, done)
        self.assertIn("a machine lives for 4h", done.stdout)

    def test_a_finding_of_the_explorer_is_a_scenario(self):
        package = trainers.write(self.folder / "source", trainers.BROKEN["restart/explored"])
        self.report("--filter", "restart/explored", "--addressing", "ports", "--run-timeout", "3m",
                    *self.as_image(package))
        job = json.loads(next((self.folder / "caip-findings").glob("job-*.yaml")).read_text())
        self.assertEqual((job["addressing"], job["limits"]["wall"]), ("ports", "180000ms"))
        again = self.play(self.folder / "caip-findings" / "finding-1.yaml")
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("BROKEN", again.stdout)

    def test_a_finding_runs_again_with_the_flags_of_the_check(self):
        package = trainers.write(self.folder / "source", trainers.BROKEN["restart/explored"])
        (self.folder / "settings.yaml").write_text("gs_front: off\n")
        python = self.folder / "own" / "python3"
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\necho used >> {self.folder}/log\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        report, done = self.report("--filter", "restart/explored", "--emulator-config", "settings.yaml",
                                   "--python", python, *self.as_package(package))
        found = next(check for check in report["checks"] if check["id"] == "restart/explored")
        lines = [line.strip() for line in found["evidence"] if "again: " in line]
        self.assertTrue(lines, done.stdout)
        words = shlex.split(lines[0])
        self.assertEqual(words[5:], ["--emulator-config", "settings.yaml", "--python", str(python)])
        (self.folder / "log").unlink()
        again = subprocess.run([self.caip, *words[2:], "--state", str(self.state)], cwd=self.folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=fixture.PATIENCE)
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertIn("BROKEN", again.stdout)
        self.assertTrue((self.folder / "log").exists(), "another Python ran")

    def test_a_finding_about_processes_runs_again_with_processes(self):
        """A machine hides the file, and the trainer would only fail there."""
        machines.need(self.caip)
        (self.folder / "words.txt").write_text("words")
        reads = [*trainers.BROKEN["restart/explored"],
                 ("    job = folder(", f"    open({str(self.folder / 'words.txt')!r}).read()\n    job = folder(")]
        report, done = self.report("--filter", "restart/explored",
                                   *self.as_image(trainers.write(self.folder / "source", reads)))
        found = next(check for check in report["checks"] if check["id"] == "restart/explored")
        again = next((line.strip() for line in found["evidence"] if "again: " in line), "")
        self.assertTrue(again.endswith(" --isolation process"), done.stdout)
        played = subprocess.run([self.caip, *shlex.split(again)[2:], "--state", str(self.state)], cwd=self.folder,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=fixture.PATIENCE)
        self.assertEqual(played.returncode, 1, played.stdout)
        self.assertIn("BROKEN", played.stdout)

    def test_runs_at_the_same_time_have_ports_of_their_own(self):
        """Without machines, each replica listens on its port of all addresses, as servers of TensorFlow do."""
        listens = [("    role, index = task()",
                    "    role, index = task()\n"
                    '    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})\n'
                    "    if role in cluster:\n"
                    "        server = socket.create_server(('0.0.0.0', int(cluster[role][index].rsplit(':', 1)[1])))"),
                   ("import os\n", "import os\nimport socket\n"),
                   ("        step += 1\n", "        step += 1\n        time.sleep(0.05)\n")]
        report, done = self.report("--isolation", "process", "--jobs", "4", "--filter", "restart/*", "--filter",
                                   "arguments/*", *self.as_image(trainers.write(self.folder / "source", listens)))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN"), {}, done.stdout)

    def test_a_worker_that_trains_alone_is_restarted(self):
        alone = [('    if role in ("chief", "master"):\n        train(job, args.steps)',
                  '    if role == "worker":\n        train(job, args.steps)')]
        cluster = ["--scale-tier", "custom", "--master-machine-type", "n1-standard-4", "--worker-machine-type",
                   "n1-standard-4", "--worker-count", "1", "--worker-image-uri", fixture.IMAGE]
        words = ["--filter", "restart/*", "--filter", "exit/sigterm", *cluster]
        package = trainers.write(self.folder / "source", alone)
        report, done = self.report(*words, *self.as_image(package))
        self.assertEqual(self.verdicts(report, "FAIL", "WARN", "NOT RUN", "SKIPPED"), {}, done.stdout)
        breaks = ('    if role == "worker":\n',
                  '    if role == "worker":\n        if 0 < newest(job) < args.steps:\n'
                  '            raise ValueError("cannot resume")\n')
        package = trainers.write(self.folder / "broken", [*alone, breaks])
        report, done = self.report(*words, *self.as_image(package))
        self.assertIn("restart/sigterm", self.verdicts(report, "FAIL"), done.stdout)

    def test_objects_that_the_explorer_does_not_compare_are_listed(self):
        differs = [('    if not job.list("export/"):',
                    '    job.put("process", {"id": os.getpid()})\n    if not job.list("export/"):')]
        _, done = self.report("--verbose", "--filter", "restart/explored",
                              "--isolation", "process",  # on machines, process ids are equal
                              *self.as_image(trainers.write(self.folder / "source", differs)))
        self.assertIn("not compared: object job/out/process", done.stdout)

    def test_findings_of_different_jobs_do_not_replace_each_other(self):
        package = trainers.write(self.folder / "source", trainers.BROKEN["restart/explored"])
        words = ["--filter", "restart/explored", *self.as_image(package)]
        self.report(*words, "--", "--steps", "8")
        first = sorted((self.folder / "caip-findings").glob("*.yaml"))
        self.report(*words, "--", "--steps", "9")
        both = sorted((self.folder / "caip-findings").glob("*.yaml"))
        self.assertEqual((len(both), [file for file in first if file not in both]),
                         (2 * len(first), []))
        self.report(*words, "--", "--steps", "9")
        self.assertEqual(sorted((self.folder / "caip-findings").glob("*.yaml")), both)


# The job has one replica, an image, which TF_CONFIG calls master: it uses none of these names.
UNUSED_ROLES = {"roles/chief", "roles/worker", "roles/ps", "roles/evaluator"}


def add_variant(check, changes, sub_package, words_of):
    def test(self):
        package = trainers.write(self.folder / "source", changes, sub_package)
        report, done = self.report(*words_of(self, package))
        self.assert_fails_alone(check, report, done)
        self.assertEqual(done.returncode, 0 if check in UNUSED_ROLES else 1)
    name = check.replace("/", "_").replace("-", "_")
    setattr(Check, f"test_a_broken_trainer_fails_{name}", test)


for name, changes in trainers.BROKEN.items():
    add_variant(name, changes, None, Check.as_image)
for name, (changes, sub_package) in trainers.BROKEN_PACKAGES.items():
    add_variant(name, changes, sub_package, Check.as_package)

if __name__ == "__main__":
    fixture.main()
