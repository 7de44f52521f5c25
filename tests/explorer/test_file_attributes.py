#!/usr/bin/env python3
"""The explorer restores modes, times and links of files, so that it finds what whole runs find."""

import local_files_case
from local_files_case import LOAD, SAFE_SAVE


class FileAttributes(local_files_case.Case):
    def found(self, words):
        """The exploration from restored files finds it, whole runs do as well, and the finding shows it."""
        code, text = self.explore("--disks", "new")
        self.assertEqual(code, 1, text)
        self.assertIn(words, text)
        played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
        self.assertEqual(played[0], 1, played[1])
        self.assertIn(words, played[1])
        code, text = self.explore("--full-runs", "--disks", "new")
        self.assertEqual(code, 1, text)
        self.assertIn(words, text)

    def found_nothing(self):
        code, text = self.explore()
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_a_mode_that_was_set_after_the_last_write_is_found(self):
        self.write(SAFE_SAVE + """
        os.chmod("state", 0o444)
        """, LOAD + """
            assert os.stat("state").st_mode & 0o200, "the state is read-only"
        """)
        self.found("the state is read-only")

    def test_a_mode_that_each_restart_needs_is_no_finding(self):
        self.write("""
        with open("new", "w") as f:
            os.fchmod(f.fileno(), 0o640)
            f.write(str(step))
        os.chmod("new", 0o604)
        os.replace("new", "state")
        """, LOAD + """
            assert os.stat("state").st_mode & 0o777 == 0o604, "another program wrote it"
        """)
        self.found_nothing()

    def test_times_that_the_trainer_chose_are_found(self):
        self.write("""
        open("new", "w").write(str(step))
        os.utime("new", (0, 10 - step))
        os.replace("new", "slot-%d" % step)
        """, """
        slots = sorted(pathlib.Path(".").glob("slot-*"), key=os.path.getmtime)
        if slots:
            step = int(slots[-1].read_text())
            assert step == max(int(slot.read_text()) for slot in slots), "an old checkpoint"
        """)
        self.found("an old checkpoint")

    def test_times_of_directories_whose_entries_changed_are_found(self):
        self.write("""
        os.mkdir("next")
        open("next/step", "w").write(str(step))
        os.rename("next", "ckpt-%d" % step)
        made = os.path.getmtime("ckpt-%d" % step)
        while time.time() < made + 0.05:  # the clock of the file system is not exact
            pass
        if step > 1:
            open("ckpt-%d/replaced" % (step - 1), "w").close()
        """, """
        shutil.rmtree("next", ignore_errors=True)
        found = sorted(pathlib.Path(".").glob("ckpt-*"), key=os.path.getmtime)
        if found:
            step = int((found[-1] / "step").read_text())
            assert step == max(int((one / "step").read_text()) for one in found), "an old checkpoint"
        """, begin="import time")
        self.found("an old checkpoint")

    def test_a_file_that_was_made_through_a_link_is_where_the_link_leads(self):
        self.write(SAFE_SAVE, """
        os.makedirs("data", exist_ok=True)
        if not os.path.lexists("started"):
            os.symlink("data/started", "started")
        if not os.path.exists("started"):
            open("started", "w").close()
        assert os.path.islink("started") and os.path.exists("data/started"), "the link is gone"
        """ + LOAD)
        self.found_nothing()


if __name__ == "__main__":
    local_files_case.main()
