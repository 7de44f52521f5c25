#!/usr/bin/env python3
"""The explorer with real processes: second restarts, kept disks, notices, and faults of storage and the network.
No process may be left.
"""

import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import explorer_case
import machines
import network_trainers
import trainers


NETWORK_WORDS = ("out of reach", "hears nothing", "refuses connections", "are lost", "are late")


class Faults(explorer_case.ExplorerCase):
    def cluster(self, command):
        file = self.folder / "cluster.yaml"
        file.write_text("description: A master and a worker.\njob:\n  config: {scaleTier: CUSTOM, "
                        "masterType: n1-standard-4, workerCount: 1, workerType: n1-standard-4}\n"
                        f"trainer: {{command: [python3, {command}]}}\n"
                        "limits: {wall: 4m, no_progress: 15s}\n")  # each fault may stop the cluster so long
        return file

    def network_verdicts(self, file):
        """For each fault of the network that was tried, whether a flaw was found."""
        self.explore(file, "--faults", "network", "--points", "storage,steps", "--max-points", "100",
                     "--no-pairs")
        found = {}
        for point, flawed in self.verdicts().items():
            for word in NETWORK_WORDS:
                if word in point:
                    found.setdefault(word, []).append(flawed)
        self.assertEqual(set(found), set(NETWORK_WORDS))
        return found

    def network_pairs(self):
        """The faults of the network that were tried, each with its peer."""
        fault = re.compile(r", (?:packets to and from )?(\S+) (?:is )?(%s)$" % "|".join(NETWORK_WORDS))
        return {(match[2], match[1]) for match in map(fault.search, self.verdicts()) if match}

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

    def second_restarts(self, out="out"):
        return [point for point in self.verdicts(out) if ", then " in point]

    def test_second_restarts_by_default_are_at_different_parts_of_recoveries(self):
        """Files, too: just after its start, a recovery has changed nothing that a second restart could show."""
        for semantics in ("object", "posix"):
            with self.subTest(semantics=semantics):
                file = trainers.write(self.folder, trainers.FEARS_ITS_THIRD_BOOT,
                                      f"semantics: {semantics}\n" + trainers.LIMITS)
                code, text = self.explore(file, "--no-pairs", out="alone")
                self.assertEqual(code, 0, text)
                code, text = self.explore(file, out=semantics)
                self.assertEqual(code, 1, text)
                self.assertIn("this is the third boot", text)
                points = self.second_restarts(semantics)
                self.assertFalse([point for point in points if ", then before list" in point], points)
                places = {point.partition(", then ")[2].split(" by ")[0] for point in points}
                self.assertGreaterEqual(len(places), 4, points)

    def test_kept_disks_get_second_restarts_too(self):
        file = trainers.write(self.folder, trainers.FEARS_ITS_THIRD_BOOT)
        code, text = self.explore(file, "--crash", "--no-pairs", out="alone")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--crash")
        self.assertEqual(code, 1, text)
        self.assertIn("this is the third boot", text)
        points = self.second_restarts()
        self.assertEqual(len(points), 8)
        self.assertTrue(all(point.endswith(", its disk is kept") for point in points), points)

    def test_a_second_restart_is_tried_in_whole_runs_too(self):
        file = trainers.write(self.folder, trainers.FEARS_ITS_OWN_MARK)
        code, text = self.explore(file, "--pairs", "--full-runs")
        self.assertEqual(code, 1, text)
        self.assertIn("another process is at work", text)

    def test_second_restarts_end_when_the_first_one_has_caught_up(self):
        file = trainers.write(self.folder, trainers.SOUND)
        for words in (("--pairs",), ("--pairs", "--full-runs")):
            self.explore(file, *words, out=words[-1])
            pairs = [point for point in self.verdicts(words[-1])
                     if point.startswith("after create job/out/ckpt-03 ") and ", then " in point]
            self.assertFalse([point for point in pairs if "ckpt-09" in point or "ckpt-12" in point], pairs)
        self.assertTrue([point for point in pairs if point.split(", then ")[1].startswith(
            "after create job/out/ckpt-06")], pairs)

    def test_progress_that_a_second_restart_loses_is_found(self):
        file = trainers.write(self.folder, trainers.FORGETS_AT_THE_SECOND_RESTART)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("a second restart loses progress that the first one kept", text)
        played = self.play(next((self.folder / "out").glob("finding-*.yaml")))
        self.assertFalse(played["passed"])

    def test_a_sound_trainer_survives_two_restarts(self):
        code, text = self.explore(trainers.write(self.folder, trainers.SOUND), "--pairs")
        self.assertEqual(code, 0, text)

    def test_some_restarts_keep_the_disk_by_default(self):
        code, text = self.explore(trainers.write(self.folder, trainers.LOCKS_ITS_DISK))
        self.assertEqual(code, 1, text)
        self.assertIn("the process dies and its disk stays", text)

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
        machines.need(explorer_case.caip())
        self.configure(machines.ON_MACHINES)
        file = trainers.write(self.folder, trainers.CACHES_ON_ITS_DISK.replace(
            'os.environ["HOME"] + "/last.json"', '"/var/last.json"'))
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 1, text)
        finding = next(f for f in self.findings("out") if "JSONDecodeError" in f)
        self.assertIn('"disk:var/last.json"', finding)
        self.assertFalse(self.play(self.folder / "out" / "finding-1.yaml")["passed"])
        self.assert_nothing_is_left()

    def test_files_of_the_disk_with_other_names_in_each_run_are_found_again(self):
        for number, (name, glob) in enumerate(((""" "new-" + uuid.uuid4().hex """, "new-*"),
                                               ("uuid.uuid4().hex", "?" * 32))):
            with self.subTest(glob):
                out = f"out-{number}"
                file = trainers.write(self.folder, trainers.SAVES_UNDER_RANDOM_NAMES.format(name=name))
                code, text = self.explore(file, "--no-pairs", "--points", "disk", "--disks", "kept", out=out)
                self.assertEqual(code, 1, text)
                self.assertIn("another trainer is saving", text)
                self.assertNotIn("may be harmless", text)
                finding = (self.folder / out / "finding-1.yaml").read_text()
                self.assertIn(f'"disk:root/cache/{glob}"', finding)
                played = self.play(self.folder / out / "finding-1.yaml")
                self.assertFalse(played["passed"])
                self.assertEqual([len(fault["struck_at"]) for fault in played["faults"]], [1])

    def test_a_file_of_the_disk_that_is_renamed_into_place_is_no_finding(self):
        file = trainers.write(self.folder, trainers.CACHES_WHOLE_FILES)
        code, text = self.explore(file, "--no-pairs", "--disks", "kept")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--no-pairs", "--points", "disk", out="named")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"[1-9]\d* crash points")

    def test_a_notice_is_tried_when_asked_for(self):
        file = trainers.write(self.folder, trainers.SAVES_TOO_MUCH_AT_NOTICE)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "notice")
        self.assertEqual(code, 1, text)
        self.assertIn("SIGTERM announces the loss of the machine ", text)
        self.assertIn("maintenance: {replica: master-0}", self.findings()[0])

    def test_a_notice_comes_at_each_crash_point(self):
        file = trainers.write(self.folder, trainers.SOUND)
        code, text = self.explore(file, "--faults", "notice", "--full-runs", "--disks", "new", "--no-pairs")
        self.assertEqual(code, 0, text)
        points = set(self.verdicts())
        noticed = {point for point in points if point.endswith(", with notice")}
        self.assertEqual({point.removesuffix(", with notice") for point in noticed}, points - noticed)
        for number in ("03", "06", "09", "12"):
            self.assertIn(f"after create job/out/ckpt-{number} by master-0, with notice", noticed)

    def test_a_second_notice_is_tried_when_asked_for(self):
        fragile = trainers.FEARS_A_SECOND_NOTICE.format(is_impatient=True)
        code, text = self.explore(trainers.write(self.folder, fragile), "--faults", "notice")
        self.assertEqual(code, 0, text)
        code, text = self.explore(trainers.write(self.folder, fragile), "--faults", "second-notice")
        self.assertEqual(code, 1, text)
        self.assertIn("the checkpoint is gone", text)
        self.assertIn("SIGTERM announces the loss of the machine, and comes twice, ", text)
        self.assertIn("since: restart", self.findings()[0])
        self.assertFalse(self.play(next((self.folder / "out").glob("finding-*.yaml")))["passed"])
        careful = trainers.FEARS_A_SECOND_NOTICE.format(is_impatient=False)
        code, text = self.explore(trainers.write(self.folder, careful), "--faults", "second-notice",
                                  out="careful")
        self.assertEqual(code, 0, text)

    def test_late_answers_are_tried_when_asked_for(self):
        file = trainers.write(self.folder, network_trainers.GIVES_UP_SOON)
        code, text = self.explore(file, "--faults", "slow-storage")
        self.assertEqual(code, 1, text)
        self.assertIn("storage answers 3 seconds late after create job/out/ckpt-02", text)
        self.assertFalse(self.play(next((self.folder / "out").glob("finding-*.yaml")))["passed"])

    def test_hangs_are_tried_when_asked_for(self):
        trainer = self.folder / "silent.py"
        trainer.write_text(network_trainers.GIVES_UP_A_SILENT_WORKER)
        words = ("--points", "steps", "--max-points", "50", "--no-pairs", "--faults", "hangs")
        self.explore(self.cluster(trainer), *words)
        hangs = {point: flawed for point, flawed in self.verdicts().items() if "its processes stop" in point}
        silent = [flawed for point, flawed in hangs.items() if "worker-0" in point]
        self.assertTrue(any(silent), hangs)
        self.assertFalse(any(flawed for point, flawed in hangs.items() if "master-0" in point), hangs)

    def test_answers_that_are_lost_are_tried_when_asked_for(self):
        file = trainers.write(self.folder, network_trainers.FEARS_A_LOST_ANSWER)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "storage-errors")
        self.assertEqual(code, 1, text)
        self.assertIn("storage answers 503 after create job/out/ckpt-03", text)
        self.assertNotIn("storage answers 503 before", text)
        self.assertFalse(self.play(next((self.folder / "out").glob("finding-*.yaml")))["passed"])

    def test_storage_answers_503_before_each_operation(self):
        file = trainers.write(self.folder, network_trainers.DIES_AT_ITS_FIRST_503)
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--no-pairs", "--faults", "storage-errors")
        self.assertEqual(code, 1, text)
        self.assertIn("storage answers 503 before", text)
        end = " by master-0, storage answers 503"
        found = {point.removesuffix(end): flawed for point, flawed in self.verdicts().items() if point.endswith(end)}
        self.assertEqual(found, {"before list job/out/ckpt": True,
                                 "before create job/out/ckpt": False, "after create job/out/ckpt": False,
                                 "before read job/out/ckpt": True,
                                 "before overwrite job/out/ckpt": False, "after overwrite job/out/ckpt": False,
                                 "before read job/out/ckpt (time 2)": True})
        for finding in (self.folder / "out").glob("finding-*.yaml"):
            self.assertFalse(self.play(finding)["passed"], finding.read_text())

    def test_a_directory_answers_no_503(self):
        code, text = self.explore(explorer_case.RESTARTS / "r02_posix_before_rename_fixed.yaml",
                                  "--faults", "storage-errors")
        self.assertEqual(code, 2, text)
        self.assertIn("needs `semantics: object`", text)

    def test_cuts_between_a_replica_and_storage_are_tried_when_asked_for(self):
        machines.need(explorer_case.caip())
        file = trainers.write(self.folder, network_trainers.GIVES_UP_SOON)
        code, text = self.explore(file)
        self.assertEqual(code, 0, text)
        code, text = self.explore(file, "--faults", "network-cuts")
        self.assertEqual(code, 1, text)
        self.assertIn("storage is out of reach for 3 seconds after create job/out/ckpt-02", text)
        self.assertIn("network_cut: {replica: master-0, peer: storage, for: 3s}", self.findings()[0])

    def test_a_directory_cannot_be_cut_off(self):
        code, text = self.explore(explorer_case.RESTARTS / "r02_posix_before_rename_fixed.yaml",
                                  "--faults", "network-cuts")
        self.assertEqual(code, 2, text)
        self.assertIn("needs `semantics: object`", text)

    def test_faults_of_the_network_come_between_replicas(self):
        machines.need(explorer_case.caip())
        sound = trainers.ROOT / "scenarios" / "trainers" / "network" / "averaging.py"
        found = self.network_verdicts(self.cluster(sound))
        tried = {(word, peer == "storage") for word, peer in self.network_pairs()}
        self.assertEqual(tried, {(word, of_storage) for word in NETWORK_WORDS for of_storage in (True, False)})
        found.pop("refuses connections")  # its client of storage does not try again
        self.assertFalse(any(flawed for flaws in found.values() for flawed in flaws), found)
        fragile = self.folder / "fragile.py"
        fragile.write_text(network_trainers.DIES_WITH_ITS_CONNECTION)
        found = self.network_verdicts(self.cluster(fragile))
        self.assertTrue(any(found["refuses connections"]), found)
        self.assertFalse(any(found["are late"]), found)


if __name__ == "__main__":
    explorer_case.main()
