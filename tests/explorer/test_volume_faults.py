#!/usr/bin/env python3
"""Faults of the disk under a trainer's files: a failure of the power loses what was not synced, and no space is left."""

import json
import sys
import textwrap

import local_files_case
from local_files_case import LOAD, SAFE_SAVE, UNSYNCED_SAVE

sys.path[:0] = [str(local_files_case.ROOT / "tests" / "support")]
import json_schema

# {otherwise}: what the trainer does if it cannot write. The write is large enough to be cut in its middle.
CAREFUL_SAVE = """
        try:
            with open("new", "w") as f:
                f.write("%100d" % step)
                f.flush()
                os.fsync(f.fileno())
            {done}
        except OSError:
            {otherwise}
        {after}
        """

# The pointer is written in place, and the checkpoint that it names is renamed without a sync: the
# pointer may reach the disk first.
POINTER_SAVE = """
        with open("new", "w") as f:
            f.write(str(step))
            f.flush()
            os.fsync(f.fileno())
        os.rename("new", "state-%d" % step)
        if {synced}:
            os.fsync(directory)
        with open("latest", "r+") as f:
            f.write(str(step))
        """
POINTER_LOAD = """
        directory = os.open(".", os.O_RDONLY)
        if not os.path.exists("latest"):
            open("state-0", "w").write("0")
            open("first", "w").write("0")
            os.sync()
            os.rename("first", "latest")
            os.sync()
        step = int(open("state-" + open("latest").read()).read())
        """


class FailuresOfThePower(local_files_case.Case):
    def test_a_rename_without_a_sync_may_leave_an_empty_file(self):
        self.write(UNSYNCED_SAVE, LOAD)
        code, text = self.explore()
        self.assertEqual(code, 0, text)
        code, text = self.explore("--faults", "power-loss")
        self.assertEqual(code, 1, text)
        self.assertIn("the power fails and unsynced bytes", text)
        finding = (self.work / "caip-findings" / "finding-1.yaml").read_text()
        self.assertIn("power_loss: {replica: master-0, lost: contents}", finding)
        self.assertEqual(self.caip("scenario", "run", "caip-findings/finding-1.yaml")[0], 1)
        self.write(SAFE_SAVE, LOAD)
        code, text = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
        self.assertEqual(code, 0, text)

    def test_a_name_may_come_to_the_disk_after_bytes_that_were_written_later(self):
        for synced, expected in ((True, 0), (False, 1)):
            self.write(POINTER_SAVE.format(synced=synced), POINTER_LOAD)
            code, text = self.explore()
            self.assertEqual(code, 0, text)
            code, text = self.explore("--faults", "power-loss")
            self.assertEqual(code, expected, text)
        self.assertIn("the power fails and unsynced names are lost", text)

    def test_synchronous_writes_are_not_lost(self):
        self.write("""
        new = os.open("new", os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_SYNC)
        os.write(new, str(step).encode())
        os.close(new)
        os.replace("new", "state")
        """, LOAD)
        code, text = self.explore("--faults", "power-loss")
        self.assertEqual(code, 0, text)

    def test_whole_runs_lose_power_too(self):
        self.write(UNSYNCED_SAVE, LOAD)
        code, text = self.explore("--faults", "power-loss", "--full-runs")
        self.assertEqual(code, 1, text)
        self.assertIn("the power fails and unsynced bytes", text)

    def test_a_directory_of_the_job_loses_power_too(self):
        self.write(UNSYNCED_SAVE, "import sys\nos.makedirs(sys.argv[1], exist_ok=True)\n"
                   "os.chdir(sys.argv[1])\n" + textwrap.dedent(LOAD))
        code, text = self.caip("explore", "--no-pairs", "--faults", "power-loss", "--", "python3",
                               "train.py", "{job_dir}")
        self.assertEqual(code, 1, text)
        self.assertIn("the power fails and unsynced bytes", text)

    def test_what_cannot_lose_power_is_said(self):
        self.write(SAFE_SAVE, LOAD)
        code, text = self.explore("--faults", "power-loss", "--torchrun", "2")
        self.assertEqual(code, 2, text)
        self.assertIn("one replica", text)
        (self.work / "objects.yaml").write_text(
            "trainer: {command: [python3, train.py]}\n"
            "faults: [{power_loss: {replica: master-0, lost: everything}, when: {step: 1}}]\n")
        code, text = self.validate(self.work / "objects.yaml")
        self.assertEqual(code, 2, text)
        self.assertIn("use contents, older_contents, newest_contents or names", text)
        self.assertIn("keeps its state in objects", text)


class FullDisks(local_files_case.Case):
    def test_a_save_that_fails_and_is_used_all_the_same_is_found(self):
        for name, (done, otherwise, after, words) in {
            "half a file is renamed into place": (
                "pass", "pass", 'os.replace("new", "state")', f"{self.work}/state"),
            "the last save is given up in silence": (
                'os.replace("new", "state")', "pass", "", f"{self.work}/state"),
            "the first failure is remembered": (
                'os.replace("new", "state")', 'open("give-up", "x").close(); raise', "",
                "somebody gave up"),
        }.items():
            with self.subTest(name):
                self.write(CAREFUL_SAVE.format(done=done, otherwise=otherwise, after=after), LOAD + """
        assert not os.path.exists("give-up"), "somebody gave up"
        """)
                code, text = self.explore()
                self.assertEqual(code, 0, text)
                report = self.folder / "report.json"
                code, text = self.explore("--faults", "full-disk", "--json", str(report))
                self.assertEqual(code, 1, text)
                self.assertIn("no space is left for files after ", text)
                self.assertIn(words, text)
                schema = json.loads((local_files_case.ROOT / "docs" / "explore-report.schema.json").read_text())
                self.assertEqual(list(json_schema.misfits(json.loads(report.read_text()), schema)), [])
                finding = (self.work / "caip-findings" / "finding-1.yaml").read_text()
                self.assertIn("volume_full: {replica: master-0}", finding)
                played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
                self.assertEqual(played[0], 1, played[1])
                (self.work / "give-up").unlink(missing_ok=True)

    def test_a_trainer_that_ends_with_the_error_is_started_again(self):
        self.write(CAREFUL_SAVE.format(done='os.replace("new", "state")', otherwise="raise", after=""), LOAD)
        code, text = self.explore("--faults", "full-disk")
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_all_ranks_start_again(self):
        save = CAREFUL_SAVE.format(done='os.replace("new", "state")', otherwise="raise", after="")
        self.write(save.replace('"new"', '"new-" + rank').replace('"state"', '"state-" + rank'),
                   "import time\nrank = os.environ['RANK']\n" + textwrap.dedent(LOAD).replace('"state"', '"state-" + rank'))
        with (self.work / "train.py").open("a") as trainer:  # the job is over when rank 0 is
            trainer.write('other = pathlib.Path("state-1")\n'
                          'while rank == "0" and not (other.exists() and other.read_text().strip() == "4"):\n'
                          '    time.sleep(0.01)\n')
        code, text = self.explore("--faults", "full-disk", "--torchrun", "2", "--max-points", "30")
        self.assertEqual(code, 0, text)
        tried = (self.work / "caip-findings" / "progress.jsonl").read_text()
        self.assertRegex(tried, r"worker-0.*no space is left")

    def test_a_directory_of_the_job_is_full_too(self):
        self.write(CAREFUL_SAVE.format(done="pass", otherwise="pass", after='os.replace("new", "state")'),
                   "import sys\nos.makedirs(sys.argv[1], exist_ok=True)\nos.chdir(sys.argv[1])\n"
                   + textwrap.dedent(LOAD))
        code, text = self.caip("explore", "--no-pairs", "--faults", "full-disk", "--", "python3",
                               "train.py", "{job_dir}")
        self.assertEqual(code, 1, text)
        self.assertIn("no space is left for files after ", text)

    def test_a_bucket_is_never_full(self):
        file = self.work / "objects.yaml"
        file.write_text("trainer: {command: [python3, train.py]}\n"
                        "faults: [{volume_full: {replica: master-0}, when: {step: 1}}]\n")
        code, text = self.validate(file)
        self.assertEqual(code, 2, text)
        self.assertIn("has no volume that could be full", text)
        file.write_text("description: A job.\ntrainer: {command: [python3, train.py]}\n")
        self.write("pass", "")
        code, text = self.caip("explore", str(file), "--faults", "full-disk")
        self.assertEqual(code, 2, text)
        self.assertIn("A bucket is never full", text)


if __name__ == "__main__":
    local_files_case.main()
