"""The documents: links lead to files, the hops of docs/architecture.md name files, the README is short."""
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


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    def test_links_lead_to_files_and_headings(self):
        for page in pages():
            for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
                if re.match(r"[a-z]+:", link):
                    continue
                with self.subTest(page=page.relative_to(ROOT).as_posix(), link=link):
                    name, _, anchor = link.partition("#")
                    target = (page.parent / name).resolve() if name else page
                    self.assertTrue(target.exists(), "the target does not exist")
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_each_hop_of_the_architecture_names_a_file(self):
        text = (ROOT / "docs" / "architecture.md").read_text()
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
