#!/usr/bin/env python3
"""The explorer with trainers that keep their state in files: every kind of change is a crash point."""

import textwrap

import local_files_case
from local_files_case import LOAD, SAFE_SAVE

# A change that is not safe, with the trainer's save and load, and the words of its first finding.
UNSAFE = {
    "a file is emptied before it is written": (
        """
        with open("state", "r+") as f:
            f.truncate(0)
            f.write(str(step))
        """,
        """
        if not os.path.exists("state"):
            open("first", "w").write("0")
            os.rename("first", "state")
        step = int(open("state").read())
        """,
        "after truncate {work}/state"),
    "a size is set before the bytes": (
        """
        os.truncate("state", 0) if os.path.exists("state") else open("state", "w").close()
        open("state", "w").write(str(step))
        """,
        """
        if os.path.exists("state"):
            step = int(open("state").read())
        """,
        "{work}/state"),
    "a directory is made before its files": (
        """
        os.makedirs("ckpt-%d" % step)
        open("ckpt-%d/state" % step, "w").write(str(step))
        """,
        """
        for found in pathlib.Path(".").glob("ckpt-*"):
            step = max(step, int((found / "state").read_text()))
        """,
        "after mkdir {work}/ckpt-1"),
    "a link is replaced by removing it": (
        """
        open("state-%d" % step, "w").write(str(step))
        if os.path.lexists("latest"):
            os.unlink("latest")
        os.symlink("state-%d" % step, "latest")
        """,
        """
        if os.path.exists("state-1"):
            step = int(open("latest").read())
        """,
        "{work}/"),
    "a second name appears before the first is removed": (
        """
        open("new", "w").write(str(step))
        if os.path.exists("state"):
            os.unlink("state")
        os.link("new", "state")
        os.unlink("new")
        """,
        """
        assert not os.path.exists("new"), "another trainer is saving"
        if os.path.exists("state"):
            step = int(open("state").read())
        """,
        "{work}/"),
    "a tree is removed before the next one is in place": (
        """
        os.makedirs("next")
        for name in ("a", "b"):
            open("next/" + name, "w").write(str(step))
        shutil.rmtree("ckpt", ignore_errors=True)
        os.rename("next", "ckpt")
        """,
        """
        shutil.rmtree("next", ignore_errors=True)
        if os.path.exists("ckpt"):
            step = int(open("ckpt/a").read())
            assert int(open("ckpt/b").read()) == step
        """,
        "after delete {work}/ckpt/"),
    "mapped bytes change one after the other": (
        """
        state[0] = step
        state.flush()
        state[1] = step
        state.flush()
        """,
        """
        if not os.path.exists("state") or os.path.getsize("state") < 2:
            open("state", "wb").write(bytes(2))
        state = mmap.mmap(os.open("state", os.O_RDWR), 2)
        step = state[0]
        assert state[1] == step, "half a step"
        """,
        "after overwrite {work}/state"),
    "bytes of a large file change after their map became writable": (
        """
        state[0] = step
        libc.msync(place, SIZE, 4)
        state[SIZE - 1] = step
        libc.msync(place, SIZE, 4)
        """,
        """
        import ctypes
        SIZE = 80 << 20
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
        libc.mprotect.argtypes = libc.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if not os.path.exists("state"):
            open("new", "wb").truncate(SIZE)
            os.rename("new", "state")
        place = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_SHARED, os.open("state", os.O_RDWR), 0)
        libc.mprotect(place, SIZE, mmap.PROT_READ | mmap.PROT_WRITE)
        state = (ctypes.c_ubyte * SIZE).from_address(place)
        step = state[0]
        assert state[SIZE - 1] == step, "half a step"
        """,
        "after overwrite {work}/state"),
}


class LocalFiles(local_files_case.Case):
    def causes(self, text):
        """The causes that are sure, as the report names them."""
        parts = text.split("\n\n")
        return sorted(part.split("  (")[0].split(". ", 1)[1] for part in parts
                      if "the machine goes away" in part and "may be harmless" not in part)

    def test_each_kind_of_change_is_a_crash_point(self):
        for what, (save, load, words) in UNSAFE.items():
            with self.subTest(what):
                self.write(save, load)
                code, text = self.explore()
                self.assertEqual(code, 1, text)
                self.assertIn(words.format(work=self.work), text)
                played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
                self.assertEqual(played[0], 1, played[1])
                self.assertIn("failed: ", played[1])
                for left in self.work.iterdir():
                    self.assertIn(left.name, ("train.py", "caip-findings"))

    def test_names_that_differ_in_each_run_are_found_again(self):
        unknown = "?" * 32
        for make, end, name, place in (
                ("made, new = tempfile.mkstemp(prefix='.new', dir='.')", "os.close(made)", ".new*", ".new* (time 3)"),
                ("new = uuid.uuid4().hex", "pass", unknown, unknown + " (time 3)"),
                ("made = uuid.uuid4().hex; os.mkdir(made); new = made + '/w'", "os.rmdir(made)", unknown,
                 unknown + "/w (time 2)")):
            with self.subTest(make):
                self.write(f"""
                {make}
                open(new, "w").write(str(step))
                os.rename(new, "state")
                {end}
                """, textwrap.dedent(LOAD) + textwrap.dedent(f"""
                import tempfile, uuid
                assert step < 2 or not list(pathlib.Path(".").glob("{name}")), "another trainer is saving"
                """))
                code, text = self.explore()
                self.assertEqual(code, 1, text)
                self.assertIn(f" {self.work}/{place} by", text)
                self.assertNotIn("may be harmless", text)
                played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
                self.assertEqual(played[0], 1, played[1])
                self.assertIn("another trainer is saving", played[1])

    def test_a_result_with_another_name_in_each_run_is_no_finding(self):
        self.write(SAFE_SAVE, LOAD, begin="import uuid")
        with open(self.work / "train.py", "a") as trainer:
            trainer.write("open(f'result-{uuid.uuid4().hex}', 'w').write('done')\n")
        code, text = self.explore("--max-points", "12")
        self.assertEqual(code, 0, text)
        self.assertIn(f"object {self.work}/result-*\n", text)
        self.assertIn("nothing found", text)

    def test_a_directory_may_be_moved_to_storage(self):
        (self.folder / "state").mkdir()
        (self.folder / "state" / "config.yaml").write_text("isolation: process\n")  # one file system
        self.write("""
        made = tempfile.mkdtemp(dir=os.environ["HOME"])
        os.mkdir(made + "/parts")
        open(made + "/parts/step", "w").write(str(step))
        open(made + "/name", "w").write("ckpt-%d" % step)
        os.rename(made, "ckpt-%d" % step)
        """, """
        import sys, tempfile
        os.makedirs(sys.argv[1], exist_ok=True)
        os.chdir(sys.argv[1])
        for found in pathlib.Path(".").glob("ckpt-*"):
            assert (found / "name").read_text() == found.name
            step = max(step, int((found / "parts" / "step").read_text()))
        """)
        code, text = self.caip("explore", "--no-pairs", "--", "python3", "train.py", "{job_dir}")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"[1-9]\d* distinct states")

    def test_a_safe_save_is_no_finding(self):
        self.write(SAFE_SAVE, LOAD)
        code, text = self.explore("--faults", "power-loss")
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_whole_runs_show_the_same(self):
        self.write(*UNSAFE["a tree is removed before the next one is in place"][:2])
        found = []
        for words in ((), ("--full-runs",)):
            code, text = self.explore(*words, "--disks", "new")
            self.assertEqual(code, 1, text)
            found.append(self.causes(text))
        self.assertTrue(found[0])
        self.assertEqual(*found)

    def test_second_restarts_begin_with_the_files_that_the_first_left(self):
        # A lock that the second boot leaves and the third one does not accept.
        self.write(SAFE_SAVE, LOAD + """
        boots = int(open("boots").read()) + 1 if os.path.exists("boots") else 1
        assert boots < 3, "started too often"
        open("boots.new", "w").write(str(boots))
        os.replace("boots.new", "boots")
        """)
        code, text = self.explore(pairs="--pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("started too often", text)
        self.assertRegex(text, r"by master-0,\n +then (before|after) ")
        self.assertNotIn("ValueError", text)

    def test_second_restarts_count_files_that_were_open_at_the_first(self):
        # The third boot refuses what the second one leaves after the first and third write of its log.
        (self.work / "log").write_text("")
        self.write("""
        log.write("x" * 10)
        log.flush()
        """ + SAFE_SAVE, LOAD + """
        boots = int(open("boots").read()) + 1 if os.path.exists("boots") else 1
        assert boots < 3 or os.path.getsize("log") % 20 == 0, "half an entry"
        log = open("log", "w")
        open("boots.new", "w").write(str(boots))
        os.replace("boots.new", "boots")
        """)
        code, text = self.explore("--disks", "new", pairs="--pairs")
        self.assertEqual(code, 1, text)
        self.assertIn("half an entry", text)
        finding = (self.work / "caip-findings" / "finding-1.yaml").read_text()
        self.assertEqual(finding.count("kill: "), 2, finding)
        played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
        self.assertEqual(played[0], 1, finding + played[1])
        self.assertIn("half an entry", played[1])

    # Files that have no name, or another one, while they are open.

    def test_a_file_may_be_renamed_while_it_is_open(self):
        save = """
        with open("new", "w") as f:
            {first}
            f.flush()
            os.replace("new", "state")
            {then}
        """
        self.write(save.format(first="f.write(str(step))", then="pass"), LOAD)
        code, text = self.explore()
        self.assertEqual(code, 0, text)
        self.write(save.format(first="pass", then="f.write(str(step))"), LOAD)
        code, text = self.explore()
        self.assertEqual(code, 1, text)
        self.assertIn(f"after rename {self.work}/new by", text)
        played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
        self.assertEqual(played[0], 1, played[1])

    def test_a_file_that_was_removed_while_it_is_open_is_no_state(self):
        self.write("""
        scratch = open("scratch", "w+")
        scratch.write("begun")
        scratch.flush()
        os.unlink("scratch")
        with open("scratch", "w") as f:
            f.write("another")
        for i in range(3):
            scratch.write("more")
            scratch.flush()
        os.unlink("scratch")
        """ + SAFE_SAVE, LOAD + """
        if os.path.exists("scratch"):
            assert "more" not in open("scratch").read(), "the removed file is back"
            os.unlink("scratch")
        """)
        code, text = self.explore()
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_a_file_may_be_opened_twice(self):
        self.write("""
        with open("state", "r+") as one, open("state", "r+") as other:
            one.write("%d" % step)
            one.flush()
            other.seek(1)
            other.write("%d" % step)
        """, """
        if not os.path.exists("state"):
            open("first", "w").write("00")
            os.rename("first", "state")
        text = open("state").read()
        assert text[0] == text[1], "the file is half written"
        step = int(text[0])
        """)
        code, text = self.explore()
        self.assertEqual(code, 1, text)
        self.assertIn("the file is half written", text)
        played = self.caip("scenario", "run", "caip-findings/finding-1.yaml")
        self.assertEqual(played[0], 1, played[1])

    def test_equal_files_are_tried_once(self):
        self.write("""
        for i in range(100):
            open("scratch", "w").write("x")
            os.unlink("scratch")
        """ + SAFE_SAVE, LOAD)
        code, text = self.explore("--max-points", "400")
        self.assertEqual(code, 0, text)
        points, states = (int(text.split(word)[0].split()[-1])
                          for word in (" crash points", " distinct states"))
        self.assertGreater(points, 1200)
        self.assertLess(states, 60)

    def test_the_most_different_points_come_first(self):
        self.write("""
        for i in range(60):
            open("part-%d-%d" % (step, i), "w").write(str(i))
        if step == 3:
            os.rename("state", "moved")
            os.rename("moved", "state")
        """ + SAFE_SAVE, LOAD + """
        assert not os.path.exists("moved"), "between two names"
        """)
        code, text = self.explore("--max-points", "30")
        self.assertEqual(code, 1, text)
        self.assertIn("reduced to", text)
        self.assertIn("between two names", text)

    def test_one_unsafe_file_among_a_thousand_operations_is_found(self):
        # docs/explored.md has the same with ten thousand.
        trainer = ("python3", str(local_files_case.ROOT / "bench" / "many_files.py"), "--out", "{job_dir}",
                   "--checkpoints", "8", "--shards", "30")
        code, text = self.caip("explore", "--no-pairs", "--max-points", "40", "--", *trainer, "--bug")
        self.assertEqual(code, 1, text)
        points, all_states = (int(text.split(word)[0].split()[-1]) for word in (" crash points", " points (--max-points)"))
        self.assertGreater(points, 1500)
        self.assertLess(all_states, points)
        self.assertIn("1. the job ends FAILED: json.decoder.JSONDecodeError", text)
        self.assertIn(" create job/out/milestones by", text)
        self.assertIn("what is stored now it can never succeed", text)
        code, text = self.caip("explore", "--no-pairs", "--max-points", "40", "--", *trainer)
        self.assertEqual(code, 0, text)
        self.assertIn("nothing found", text)

    def test_a_log_that_stays_open_makes_no_save_suspicious(self):
        self.write("""
        log.write("%d\\n" % step)
        log.flush()
        """ + SAFE_SAVE, textwrap.dedent(LOAD) + 'log = open("log", "w")\n')
        code, text = self.explore()
        self.assertNotIn("a complete checkpoint is ignored", text)

    def test_mapped_bytes_are_kept_when_the_file_is_closed(self):
        self.write("""
        with open("part-%d" % step, "wb+") as f:
            f.truncate(4)
            with mmap.mmap(f.fileno(), 4) as m:
                m[0:4] = b"%4d" % step
        """ + SAFE_SAVE, LOAD)
        code, text = self.explore()
        self.assertEqual(code, 0, text)
        self.assertNotIn("different contents", text)


if __name__ == "__main__":
    local_files_case.main()
