#!/usr/bin/env python3
"""Packages work in clean roots of the distributions that docs/install.md names.

A root that cannot be made is a skipped test. Roots need mmdebstrap, the distribution's mirror, and a user who is root. A root takes a
minute: those of other distributions than Debian 12 are tried with CAIP_TEST_LARGE=1 only.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from roots import SUITES, Root

ROOT = pathlib.Path(__file__).resolve().parents[2]
USUAL = "Debian 12"
WORKS = r"""
cd /tmp
cat > job.yaml <<'END'
description: A job that prints its steps.
trainer: {command: [/bin/sh, -c, "for i in 1 2 3; do echo step $i; done"]}
faults: [{kill: {replica: master-0}, when: {log: step 2}}]
expect: {state: SUCCEEDED, restarts: {master-0: 1}}
END
"$1" version
"$1" scenario run job.yaml --state /tmp/state
"$1" conform --endpoint embedded --filter 'job-ids/*' --jobs 2
"""


class Options:
    """What the command line of the test gives."""
    build = None


class InRoots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.packages = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-packages-")))
        subprocess.run([ROOT / "scripts" / "package", "--build", Options.build, "--out", cls.packages, "deb", "tar", "wheel"],
                       check=True)

    def package(self, pattern):
        return f"/mnt/{next(self.packages.glob(pattern)).name}"

    def assert_works(self, root, caip):
        said = root.run("sh", "-euc", WORKS, "sh", caip)
        self.assertRegex(said, r"caip \d+\.\d+\.\d+")
        self.assertRegex(said, r"[1-9]\d* passed")

    def try_deb(self, root):
        root.run("apt-get", "install", "-y", "--no-install-recommends", self.package("*.deb"))
        self.assert_works(root, "caip")
        self.assertEqual(root.run("dpkg", "--verify", "caip"), "")
        self.assertIn("caip-jobs.1", root.run("man", "-w", "caip-jobs"))
        root.run("apt-get", "purge", "-y", "caip")
        left = root.run("find", "/usr", "/etc", "-name", "*caip*")
        self.assertEqual(left, "")

    def try_tar(self, root):
        root.run("tar", "-xf", self.package("*.tar.gz"), "-C", "/opt")
        name = re.sub(r"\.tar\.gz$", "", pathlib.Path(self.package("*.tar.gz")).name)
        self.assert_works(root, f"/opt/{name}/bin/caip")

    def try_wheel(self, root):
        root.run("python3", "-m", "venv", "/opt/environment")
        root.run("/opt/environment/bin/pip", "install", "--no-index", "--no-deps", self.package("*.whl"))
        self.assert_works(root, "/opt/environment/bin/caip")


class OnAnOlderSystem(unittest.TestCase):
    """A package of a newer C library names the version that it needs, and leaves nothing half installed."""

    @classmethod
    def setUpClass(cls):
        if not os.environ.get("CAIP_TEST_LARGE"):
            raise unittest.SkipTest("Debian 11 is tried with CAIP_TEST_LARGE=1")
        cls.packages = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-packages-")))
        subprocess.run([ROOT / "scripts" / "package", "--build", Options.build, "--out", cls.packages, "deb", "tar", "wheel"],
                       check=True)
        cls.root = cls.enterClassContext(Root("Debian 11", cls.packages))

    def test_the_deb_names_it(self):
        said = self.root.run("apt-get", "install", "-y", "--no-install-recommends", f"/mnt/{self.name('*.deb')}", code=100)
        self.assertRegex(said, r"caip : Depends: libc6 \(>= 2\.3\d\) but 2\.31-\S+ is to be installed")
        self.root.run("test", "!", "-e", "/usr/bin/caip")

    def test_the_program_of_the_archive_names_it(self):
        self.root.run("tar", "-xf", f"/mnt/{self.name('*.tar.gz')}", "-C", "/opt")
        said = self.root.run("sh", "-c", "/opt/caip-*/bin/caip --version", code=1)
        self.assertRegex(said, r"libc\.so\.6: version `GLIBC_2\.3\d' not found \(required by /opt/caip-\S+/bin/caip\)")

    def test_pip_refuses_the_wheel(self):
        self.root.run("python3", "-m", "venv", "/opt/environment")
        said = self.root.run("/opt/environment/bin/pip", "install", "--no-index", "--no-deps", f"/mnt/{self.name('*.whl')}", code=1)
        self.assertRegex(said, r"caip-\S+manylinux_2_3\d_x86_64\.whl is not a supported wheel on this platform")
        self.root.run("test", "!", "-e", "/opt/environment/bin/caip")

    def name(self, pattern):
        return next(self.packages.glob(pattern)).name


def add_tests():
    """A test for each distribution and kind of package."""
    for name in SUITES:
        for kind in ("deb", "tar", "wheel"):
            def test(self, name=name, kind=kind):
                if name != USUAL and not os.environ.get("CAIP_TEST_LARGE"):
                    self.skipTest(f"{name} is tried with CAIP_TEST_LARGE=1")
                with Root(name, self.packages) as root:
                    getattr(self, f"try_{kind}")(root)
            setattr(InRoots, f"test_{re.sub(r'[^a-z0-9]+', '_', name.lower())}_{kind}", test)


add_tests()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    Options.build = pathlib.Path(options.build).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
