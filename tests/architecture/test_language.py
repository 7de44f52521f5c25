"""scripts/check-language: the repository's prose is plain English, and the check can fail."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "check-language"


def check(*paths):
    return subprocess.run([sys.executable, str(CHECK), *map(str, paths)], stdout=subprocess.PIPE, text=True, check=False)


class Language(unittest.TestCase):
    def findings(self, name, text):
        """The lines that the check prints about a file of this name and text."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text)
            os.chmod(path, 0o755)
            done = check(path)
            lines = [line.split(":", 1)[1] for line in done.stdout.splitlines()]
            self.assertEqual(done.returncode, 1 if lines else 0)
            return lines

    def test_repository_is_clean(self):
        done = check()
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_finds_each_habit_with_its_remedy(self):
        for text, remedy in [
            ("This is no path.", "is not a"),
            ("The step comes behind the checkpoint.", "after"),
            ("The client is told.", "the log reports"),
            ("It runs the job in peace.", "baseline run"),
            ("Trials can be gone on from.", "continue"),
            ("The job has not the replica.", "does not have"),
            ("The engine knows not.", "does not"),
            ("A format that there is not fails.", "unknown"),
            ("It waits for ever.", "forever"),
            ("Whoever joins is counted.", "subject"),
            ("The file is not there.", "does not exist"),
            ("The fault strikes.", "takes effect"),
            ("Who is not root cannot join.", "subject"),
        ]:
            with self.subTest(text):
                found = self.findings("page.md", text + "\n")
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("1: ") and remedy in found[0], found)

    def test_accepts_good_english(self):
        for text in [
            "There is no limit.", "It is no longer supported.", "The file is no larger than 1 MiB.",
            "It works behind a proxy.", "The command leaves no process behind.", "Two runs cannot be told apart.",
            "Who needs this?", "The host has not been asked.",
        ]:
            with self.subTest(text):
                self.assertEqual(self.findings("page.md", text + "\n"), [])

    def test_reads_across_line_breaks_and_names_the_line(self):
        found = self.findings("page.md", "A name that\nis\nno path.\n")
        self.assertEqual([line.split(":")[0] for line in found], ["2"])

    def test_skips_code_and_quotations_of_markdown(self):
        self.assertEqual(self.findings("page.md", '```\nis no path\n```\n\nSay `is no path`, not "is no path".\n\n'
                                                  "    is no path\n"), [])

    def test_reads_comments_and_strings_of_code(self):
        for name, text, lines in [
            ("a.cc", 'int behind;  // it is no path\nPrint("is " "no path");\n', ["1", "2"]),
            ("a.cc", 'Print("it is "\n      "no path");\n', ["1"]),
            ("a.h", '/* a\n * is no path */\nauto s = R"(one\ntwo is no path)";\n', ["2", "4"]),
            ("a.py", '"""A\npath is no name."""\nbehind = "is no path"  # is no path\n', ["2", "3", "3"]),
            ("a.yaml", "key: is no path\nother: 1  # is no path\n", ["2"]),
            ("tool", '#!/bin/sh\n# is no path\nbehind=1\necho "is no path"\n', ["2", "4"]),
        ]:
            with self.subTest(text):
                self.assertEqual([line.split(":")[0] for line in self.findings(name, text)], lines)


if __name__ == "__main__":
    unittest.main()
