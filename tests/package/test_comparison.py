#!/usr/bin/env python3
"""scripts/package --compare names the files by which the packages of two builds differ."""

import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
from packages.comparison import differences  # noqa: E402

CONTROL = "Package: caip\nVersion: {version}\nArchitecture: all\nMaintainer: a <a@b.invalid>\nDescription: a test\n"


def write_tar(path, files, date=1, compress=9):
    """An archive of files, as scripts/package makes it."""
    with tarfile.open(path, "w:gz", compresslevel=compress) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), date
            archive.addfile(entry, io.BytesIO(data))


class Comparison(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="caip-comparison-")))
        self.first, self.second = self.folder / "first", self.folder / "second"
        self.first.mkdir()
        self.second.mkdir()

    def found(self):
        return differences(self.first, self.second)

    def test_the_same_bytes_are_no_difference(self):
        write_tar(self.first / "a.tar.gz", {"bin/caip": b"1"})
        shutil.copyfile(self.first / "a.tar.gz", self.second / "a.tar.gz")
        (self.second / "SHA256SUMS").write_text("of one folder")
        self.assertEqual(self.found(), [])

    def test_files_of_an_archive_are_named(self):
        write_tar(self.first / "a.tar.gz", {"bin/caip": b"1", "same": b"1", "old": b""})
        write_tar(self.second / "a.tar.gz", {"bin/caip": b"2", "same": b"1", "new": b""})
        self.assertEqual(self.found(), [f"a.tar.gz: {name} differs" for name in ("bin/caip", "new", "old")])

    def test_a_date_is_a_difference(self):
        write_tar(self.first / "a.tar.gz", {"bin/caip": b"1"}, date=1)
        write_tar(self.second / "a.tar.gz", {"bin/caip": b"1"}, date=2)
        self.assertEqual(self.found(), ["a.tar.gz: bin/caip differs"])

    def test_equal_files_in_other_bytes_are_a_difference(self):
        write_tar(self.first / "a.tar.gz", {"bin/caip": b"1" * 5000}, compress=1)
        write_tar(self.second / "a.tar.gz", {"bin/caip": b"1" * 5000}, compress=9)
        self.assertEqual(self.found(), ["a.tar.gz: the order or the compression differs"])

    def test_files_of_a_wheel_are_named(self):
        for folder, data in ((self.first, "1"), (self.second, "2")):
            with zipfile.ZipFile(folder / "a.whl", "w") as archive:
                for name, content in (("same", "1"), ("caip/testing.py", data)):
                    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
        self.assertEqual(self.found(), ["a.whl: caip/testing.py differs"])

    def test_a_package_that_only_one_build_gives_is_named(self):
        write_tar(self.second / "a.tar.gz", {"bin/caip": b"1"})
        self.assertEqual(self.found(), ["a.tar.gz: only one of the builds gives it"])

    @unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
    def test_files_and_control_files_of_a_deb_are_named(self):
        for folder, data in ((self.first, "1"), (self.second, "2")):
            tree = self.folder / f"tree{data}"
            for path, content in (("DEBIAN/control", CONTROL.format(version=data)), ("usr/bin/caip", data), ("usr/same", "1")):
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(content)
            for path in [tree, *tree.rglob("*")]:
                path.chmod(0o755)
                os.utime(path, (1, 1))
            subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, folder / "a.deb"], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "1"})
        self.assertEqual(self.found(), [f"a.deb: {name} differs" for name in ("ctrl-tarfile: ./control",
                                                                            "fsys-tarfile: ./usr/bin/caip")])


class Commit(unittest.TestCase):
    """What is built once more is a commit."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="caip-commit-")))
        shutil.copytree(ROOT / "scripts", self.folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))

    def refusal(self):
        done = subprocess.run([self.folder / "scripts/package", "--compare", "tar"], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)})
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_sources_without_a_commit_are_refused(self):
        self.assertIn("not in a git repository, and --compare builds a commit once more. Name another build with --compare-with",
                      self.refusal())
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        self.assertIn("changes without a commit, and --compare builds the commit once more. Commit them, or name another build",
                      self.refusal())


if __name__ == "__main__":
    unittest.main()
