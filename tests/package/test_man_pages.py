#!/usr/bin/env python3
"""The manual pages that `caip help --man` writes: programs that show, check and index manual pages accept them."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CAIP = str(pathlib.Path(os.environ["CAIP"]).resolve())


def run(*words, **more):
    """What a command prints, with its errors; it must succeed."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class ManualPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-man-")))
        run(CAIP, "help", "--man", cls.folder)
        cls.pages = sorted(cls.folder.iterdir())

    def test_each_command_has_a_page(self):
        listed = re.search(r"^Commands:\n((?:  .*\n)+)", run(CAIP, "help"), re.MULTILINE).group(1)
        names = {f"caip-{name}.1" for name in re.findall(r"^  (\S+)", listed, re.MULTILINE)}
        self.assertGreater(len(names), 20)
        self.assertEqual({page.name for page in self.pages}, names | {"caip.1", "caip-settings.1"})

    def test_the_same_program_gives_the_same_bytes(self):
        again = self.folder / "again"
        run(CAIP, "help", "--man", again,
            env={**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "COLUMNS": "50", "HOME": "/", "CAIP_STATE": "/x"})
        for page in self.pages:
            self.assertEqual((again / page.name).read_bytes(), page.read_bytes())
        shutil.rmtree(again)

    @needs("man")
    def test_man_shows_them_without_a_warning(self):
        for page in self.pages:
            with self.subTest(page.name):
                env = {**os.environ, "MANWIDTH": "78", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
                shown = run("man", "--warnings", "-l", page, env=env)
                self.assertNotIn(": warning", shown)
                for title in ("NAME", "DESCRIPTION", "SEE ALSO"):
                    self.assertRegex(shown, rf"(?m)^{title}$")

    @needs("man")
    def test_what_a_reader_copies_is_unchanged(self):
        env = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
        shown = run("man", "-l", self.folder / "caip-jobs.1", env=env)
        self.assertIn("caip jobs list --filter 'state=FAILED AND labels.team:vision'\n", shown)
        self.assertIn("--stream-logs --region us-central1 \\\n", shown)

    @needs("lexgrog")
    def test_indexes_find_their_names_and_summaries(self):
        for page in self.pages:
            self.assertRegex(run("lexgrog", page), rf'"{page.stem} - [a-z].*"')

    @needs("mandoc")
    def test_mandoc_finds_no_mistake(self):
        for page in self.pages:
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            # A date would be another one for each build.
            found = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(found, [], page.name)


if __name__ == "__main__":
    unittest.main()
