"""The documents name source files that exist, the tables of hops are complete, and the README is short."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages():
    """Every Markdown file outside of build folders and hidden folders."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "*.md"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*.md") if path.relative_to(ROOT).parts[0] not in (".git", "build")]
    return [path for path in paths if path.is_file()]


# `src/ml/validate/validate.cc`, `fakes/gcs` and, for a header with its source, `src/spec/validate`.
SOURCE = re.compile(r"`((?:bench|conformance|emulator|fakes|scripts|src)/[\w./-]*)`")


class Documents(unittest.TestCase):
    def test_documents_name_sources_that_exist(self):
        named = [(page, source) for page in pages() for source in SOURCE.findall(page.read_text())]
        self.assertGreater(len(named), 50)
        for page, source in named:
            with self.subTest(page=page.relative_to(ROOT).as_posix(), source=source):
                self.assertTrue(any((ROOT / (source + suffix)).exists() for suffix in ("", ".h")))

    def test_each_hop_of_the_architecture_names_a_file(self):
        text = (ROOT / "docs/architecture.md").read_text()
        tables = re.findall(r"^\| hop \| file \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)
        self.assertEqual(len(tables), 2)
        for row in "".join(tables).splitlines():
            with self.subTest(row):
                hop, file = [cell.strip() for cell in row.strip("|").split("|")]
                self.assertTrue(hop.endswith("."), "a hop is a sentence")
                self.assertRegex(file, r"^`[\w./]+`$")
                self.assertTrue((ROOT / file.strip("`")).is_file(), "the file does not exist")

    def test_readme_has_at_most_130_lines(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 130)


if __name__ == "__main__":
    unittest.main()
