"""Cited pages and sections of docs/service exist, and links between documents lead somewhere.

A citation reads `docs/service/api.md, section 5`. Conformance rules name a page and, as keys, its
sections. The tests read all sources that git tracks or would add, so a page or section cannot be
renamed while something cites it.
"""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".cc", ".h", ".in", ".cmake", ".txt", ".py", ".sh", ".yaml", ".yml", ".json", ".md", ""}
# This file contains invalid citations on purpose; corpora are input data.
SKIPPED = ("tests/architecture/test_citations.py", "tests/fuzz/", "tests/golden/")

# White space, also where a comment or a string literal continues on the next line.
GAP = r'(?:"?\s*\n\s*(?://+|#+|\*)?\s*"?|[ \t])+'
NUMBER = r"\d+(?:\.\d+)?(?!\w)"
NUMBERS = rf"{NUMBER}(?:(?:,{GAP}(?:and{GAP})?|{GAP}and{GAP}|{GAP}to{GAP}){NUMBER})*"
SECTIONS = rf"section(?P<sections>s{GAP}{NUMBERS}|{GAP}{NUMBER})"
CITATION = re.compile(rf"docs/service/(?P<page>[a-z0-9-]+)\.md(?:`?,?{GAP}{SECTIONS})?")
LINKED_CITATION = re.compile(rf"\]\((?P<target>[^)#\s]+\.md)\),?{GAP}{SECTIONS}")
OWN_SECTION = re.compile(rf"\b(?:[Ss]{SECTIONS[1:]}|See (?P<see>\d+\.\d+))")
# A path below docs, with or without an extension; the fragment after # is not part of it.
DOCUMENT = re.compile(r"(?<![\w/.-])(?P<path>docs/[\w./-]*\w)")

HEADING = re.compile(r"^(#+) +(.*?) *$")
NUMBERED = re.compile(r"^(\d+(?:\.\d+)?)\.? +(.*)$")
RULES_PAGE = re.compile(r"^page: *(\S+) *$", re.M)
RULES_SECTION = re.compile(r"""^  ["']?(?P<name>[^\s"'].*?)["']?: *$""")
INLINE_LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)")
REFERENCE_LINK = re.compile(r"^\[[^\]]+\]: *(\S+)", re.M)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def blanked(text, pattern):
    """The text with each match replaced by blanks, so that positions and lines stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def numbers_of(text):
    """The section numbers in `2, 4.1 and 6 to 8`."""
    found = []
    for first, last in re.findall(rf"({NUMBER})(?:{GAP}to{GAP}({NUMBER}))?", text):
        if last and "." not in first + last:
            found += [str(number) for number in range(int(first), int(last) + 1)]
        else:
            found += [number for number in (first, last) if number]
    return found


def slug_of(title):
    """The anchor that GitHub gives to a heading."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


class Page:
    """The sections and anchors of a Markdown file."""

    def __init__(self, text):
        self.sections = {}  # number -> titles of the section and of its subsections
        self.anchors = set()
        current = []
        for line in blanked(text, FENCE).splitlines():
            heading = HEADING.match(line)
            if not heading:
                continue
            level, title = len(heading.group(1)), heading.group(2)
            slug, count = slug_of(title), 1
            while slug in self.anchors:
                slug, count = f"{slug_of(title)}-{count}", count + 1
            self.anchors.add(slug)
            numbered = NUMBERED.match(title)
            if level == 2:
                current = self.sections.setdefault(numbered.group(1), []) if numbered else []
            elif numbered:
                self.sections[numbered.group(1)] = [numbered.group(2)]
            current.append((numbered.group(2) if numbered else title).replace("`", ""))


class Tree:
    """A repository: its texts, its service pages, and what is wrong with its citations."""

    def __init__(self, root, paths):
        self.root = root
        self.texts = {}
        for path in paths:
            file = root / path
            if path.startswith(SKIPPED) or file.suffix not in SUFFIXES or not file.is_file():
                continue
            try:
                self.texts[path] = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
        self.pages = {pathlib.PurePosixPath(path).stem: Page(text)
                      for path, text in self.texts.items()
                      if re.fullmatch(r"docs/service/[^/]+\.md", path)}
        self.faults = []

    def fault(self, path, position, message):
        line = self.texts[path].count("\n", 0, position) + 1
        self.faults.append(f"{path}:{line}: {message}")

    def check_section(self, path, position, page, numbers):
        if page not in self.pages:
            self.fault(path, position, f"docs/service/{page}.md does not exist")
            return
        for number in numbers:
            if number not in self.pages[page].sections:
                self.fault(path, position, f"docs/service/{page}.md has no section {number}")

    def check_citations(self):
        for path, text in self.texts.items():
            for match in CITATION.finditer(text):
                numbers = numbers_of(match["sections"] or "")
                self.check_section(path, match.start(), match["page"], numbers)
            if not path.endswith(".md"):
                continue
            for match in LINKED_CITATION.finditer(text):
                target = (self.root / path).parent.joinpath(match["target"]).resolve()
                if target.parent == (self.root / "docs/service").resolve():
                    numbers = numbers_of(match["sections"])
                    self.check_section(path, match.start(), target.stem, numbers)
            if path.startswith("docs/service/") and not path.endswith("/README.md"):
                rest = blanked(blanked(blanked(text, FENCE), CITATION), LINKED_CITATION)
                for match in OWN_SECTION.finditer(rest):
                    numbers = numbers_of(match["sections"] or match["see"])
                    page = pathlib.PurePosixPath(path).stem
                    self.check_section(path, match.start(), page, numbers)

    def check_old_forms(self):
        """Names of pages without their path, which send the reader to no file or to another one."""
        names = "|".join(sorted({*self.pages, "architecture", "restart-bugs"} - {"README"}))
        hyphened = "|".join(sorted({name for name in self.pages if "-" in name} | {"restart-bugs"}))
        bare_file = re.compile(rf"(?<![\w/.-])(?:{names})\.md\b")
        bare_section = re.compile(
            rf"(?<![\w/.-])(?:{names})(?:\.md)?,?{GAP}sections?{GAP}\d")
        page_word = re.compile(rf"\bpages?{GAP}(?:(?:{names})\.md|(?:{hyphened}))\b")
        for path, text in self.texts.items():
            patterns = [bare_section, page_word] + ([] if path.endswith(".md") else [bare_file])
            found = {}
            shown = blanked(text, INLINE_LINK) if path.endswith(".md") else text
            for pattern in patterns:
                for match in pattern.finditer(shown):
                    found.setdefault(text.count("\n", 0, match.start()), match)
            for match in found.values():
                words = " ".join(match.group().split())
                self.fault(path, match.start(), f"'{words}' names a page without its path. "
                           "Write docs/service/PAGE.md, section N.")

    def check_rules(self):
        for path, text in self.texts.items():
            if not re.fullmatch(r"conformance/rules/[^/]+\.yaml", path):
                continue
            named = RULES_PAGE.search(text)
            page = re.fullmatch(r"docs/service/([a-z0-9-]+)\.md", named.group(1)) if named else None
            if not page:
                position = named.start() if named else 0
                self.fault(path, position, "`page:` is not docs/service/PAGE.md")
                continue
            position = 0
            for line in text.splitlines(keepends=True):
                section = RULES_SECTION.match(line)
                if section and page.group(1) in self.pages:
                    self.check_rules_section(path, position, page.group(1), section["name"])
                position += len(line)

    def check_rules_section(self, path, position, page, name):
        numbered = NUMBERED.match(name)
        titles = self.pages[page].sections.get(numbered.group(1)) if numbered else None
        if not titles or numbered.group(2) not in titles:
            self.fault(path, position, f"docs/service/{page}.md has no section '{name}'")

    def check_documents(self):
        """Paths of documents in comments, messages and texts."""
        for path, text in self.texts.items():
            shown = blanked(text, INLINE_LINK) if path.endswith(".md") else text
            for match in DOCUMENT.finditer(shown):
                document = match["path"]
                # check_citations has looked; PAGE stands for any page.
                cited = CITATION.match(document) or document == "docs/service/PAGE.md"
                if not cited and not (self.root / document).exists():
                    self.fault(path, match.start(), f"{document} does not exist")

    def check_links(self):
        for path, text in self.texts.items():
            if not path.endswith(".md"):
                continue
            text = blanked(blanked(text, FENCE), re.compile(r"(`+)[^\n]*?\1"))
            for pattern in (INLINE_LINK, REFERENCE_LINK):
                for match in pattern.finditer(text):
                    self.check_link(path, match.start(), match.group(1))

    def check_link(self, path, position, link):
        if re.match(r"[a-z][a-z0-9+.-]*:", link) or link.startswith("//"):
            return
        name, _, anchor = link.partition("#")
        target = (self.root / path).parent / name if name else self.root / path
        if not target.exists():
            self.fault(path, position, f"the link {link} leads to no file")
        elif anchor and target.suffix == ".md":
            if anchor not in Page(target.read_text(encoding="utf-8")).anchors:
                self.fault(path, position, f"the link {link} leads to no heading")

    def check(self):
        self.check_citations()
        self.check_old_forms()
        self.check_rules()
        self.check_documents()
        self.check_links()
        return sorted(self.faults)


def tracked(root):
    """The files that git tracks, and new ones that it does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, stdout=subprocess.PIPE,
                            check=False).stdout.decode().split("\0")
    if listed == [""]:  # an archive without a repository
        listed = [path.relative_to(root).as_posix() for path in root.rglob("*")
                  if not path.relative_to(root).parts[0].startswith((".", "build"))]
    return sorted(set(filter(None, listed)))


class Repository(unittest.TestCase):
    def test_citations_and_links_lead_somewhere(self):
        faults = Tree(ROOT, tracked(ROOT)).check()
        self.assertEqual([], faults, "\n" + "\n".join(faults))

    def test_citations_are_found(self):
        """The test above must not pass because it finds no citations at all."""
        tree = Tree(ROOT, tracked(ROOT))
        cited = {match["page"] for path, text in tree.texts.items() if path.endswith((".cc", ".h"))
                 for match in CITATION.finditer(text) if match["sections"]}
        self.assertLessEqual({"api", "clients", "hyperparameter-tuning", "replica-environment",
                              "submit"}, cited)
        for name, page in tree.pages.items():
            with self.subTest(name):
                self.assertTrue(name == "README" or len(page.sections) >= 3, page.sections)


class MadeUpTree(unittest.TestCase):
    """The test itself: each kind of fault is found, at its line."""

    PAGE = ("# API\n\n## 1. Methods\n\n### Jobs\n\n## 2. Errors\n\n### 2.1. Texts\n\n"
            "See section 1.\n")

    def faults(self, files):
        with tempfile.TemporaryDirectory(prefix="caip-citations-") as folder:
            root = pathlib.Path(folder)
            contents = {"docs/service/api.md": self.PAGE,
                        "docs/service/replica-environment.md": "# E\n\n## 1. Roles\n", **files}
            for path, text in contents.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return Tree(root, sorted(contents)).check()

    def test_valid_citations_pass(self):
        self.assertEqual([], self.faults({
            "src/a.h": "// Names (docs/service/api.md,\n// sections 1 and\n// 2; more).\n"
                       "// docs/service/api.md.\n",
            "src/b.cc": 'f("docs/service/api.md, section 2.1: text; "\n'
                        '  "docs/service/api.md, sections 1 to "\n  "2");\n',
            "src/c.py": "# docs/service/replica-environment.md, section 1, 20 times\nx.api.md5\n",
            "conformance/rules/a.yaml":
                "page: docs/service/api.md\nsections:\n  1 Methods:\n    a.b: S.\n  1 Jobs:\n"
                "  2.1 Texts:\n",
            "docs/api.md": "[s](service/api.md), section 2. [t](service/api.md#21-texts)\n"
                           "`[x](y.md)`\n",
            "docs/a.md": "# My `x`: y\n\n[api.md](api.md) [a](#my-x-y) [b](https://e.org/x.md)\n"
                         "```\n[x](nothing.md)\n```\n",
        }))

    def test_missing_pages_and_sections_fail(self):
        self.assertEqual([
            "docs/x.md:1: docs/service/api.md has no section 8",
            "src/a.h:2: docs/service/none.md does not exist",
            "src/b.h:1: docs/service/api.md has no section 3",
            "src/b.h:3: docs/service/api.md has no section 4",
            "src/c.cc:1: docs/service/api.md has no section 7",
            "src/d.cc:1: docs/none.md does not exist",
            "src/e.h:1: docs/reference/v1 does not exist",
            "src/e.h:2: docs/service/api does not exist",
        ], self.faults({
            "src/a.h": "\n// docs/service/none.md\n",
            "src/b.h": "// docs/service/api.md, sections 1 to 3.\n\n"
                       "// (docs/service/api.md, sections 1,\n// 2 and 4)\n",
            "src/c.cc": 'f("docs/service/api.md, "\n  "section 7");\n',
            "src/d.cc": 'f("docs/none.md tells more");\n',
            "src/e.h": "// docs/reference/v1#Job\n// docs/service/api, section 1\n"
                       "// docs/service, https://e.org/docs/x and *.docs/y\n",
            "docs/x.md": "[api](service/api.md), section 8\n",
        }))

    def test_sections_of_the_same_page_fail(self):
        self.assertEqual([
            "docs/service/tables.md:5: docs/service/tables.md has no section 9",
            "docs/service/tables.md:6: docs/service/tables.md has no section 1.1",
        ], self.faults({
            "docs/service/tables.md": "# T\n\n## 1. A\n\nSection 9, and section 1.\nSee 1.1.\n",
        }))

    def test_old_forms_fail(self):
        faults = self.faults({
            "src/a.h": "// (api.md, section 1)\n// page replica-environment, section 1\n"
                       "// x (replica-environment.md)\n",
            "src/b.cc": '// pages replica-environment.md\n'
                        'f("replica-environment, sections 1 and 2");\n',
            "docs/x.md": "By api.md, section 1.\n",
            "src/c.h": "// By the table of architecture.md.\n",
        })
        self.assertEqual(["docs/x.md:1", "src/a.h:1", "src/a.h:2", "src/a.h:3", "src/b.cc:1",
                          "src/b.cc:2", "src/c.h:1"], [fault.split(": ")[0] for fault in faults])
        self.assertIn("'api.md, section 1' names a page without its path", faults[0])

    def test_rules_of_missing_pages_and_sections_fail(self):
        self.assertEqual([
            "conformance/rules/a.yaml:1: `page:` is not docs/service/PAGE.md",
            "conformance/rules/b.yaml:3: docs/service/api.md has no section '1 Errors'",
            "conformance/rules/b.yaml:5: docs/service/api.md has no section 'Methods'",
            "conformance/rules/c.yaml:1: docs/service/none.md does not exist",
        ], self.faults({
            "conformance/rules/a.yaml": "page: methods.md\nsections:\n  1 Methods:\n",
            "conformance/rules/b.yaml":
                "page: docs/service/api.md\nsections:\n  1 Errors:\n    a.b: S.\n  Methods:\n",
            "conformance/rules/c.yaml": "page: docs/service/none.md\nsections:\n  1 Methods:\n",
        }))

    def test_links_to_nothing_fail(self):
        self.assertEqual([
            "README.md:1: the link docs/none.md leads to no file",
            "README.md:2: the link docs/service/api.md#3-none leads to no heading",
            "README.md:3: the link #none leads to no heading",
            "README.md:5: the link gone/ leads to no file",
        ], self.faults({
            "README.md": "[a](docs/none.md)\n[b](docs/service/api.md#3-none)"
                         "[c](docs/service/api.md#1-methods)\n[d](#none)\n\n[e]: gone/\n",
        }))


if __name__ == "__main__":
    unittest.main()
