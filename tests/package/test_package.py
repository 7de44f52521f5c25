#!/usr/bin/env python3
"""What is installed works without the tree that it was built from: at any place, from an archive, and by pip."""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES_MAX = 15_000_000
JOB = """description: A job that prints its steps.
trainer: {command: [/bin/sh, -c, "for i in 1 2 3; do echo step $i; done"]}
faults: [{kill: {replica: master-0}, when: {log: step 2}}]
expect: {state: SUCCEEDED, restarts: {master-0: 1}}
"""
USE = """cmake_minimum_required(VERSION 3.20)
project(use LANGUAGES CXX)
find_package(caip 0.2 REQUIRED)
add_executable(use use.cc)
target_link_libraries(use caip::gtest GTest::gtest_main)
file(WRITE ${CMAKE_BINARY_DIR}/program ${CAIP_PROGRAM})
"""


class Options:
    """What the command line of the test gives."""
    build = None


def run(*words, env=None, code=0, cwd=None):
    """What a command prints; its exit code must be that one."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, env=env, cwd=cwd)
    if done.returncode != code:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def build_use(project, prefix):
    """Builds and runs a test with the GoogleTest fixture below a prefix. Returns the caip that the fixture starts."""
    project.mkdir()
    (project / "CMakeLists.txt").write_text(USE)
    (project / "use.cc").write_text('#include <caip_gtest.h>\nTEST(Use, Compiles) { caip_gtest::Job job; (void)job; }\n')
    made = project / "build"
    run("cmake", "-G", "Ninja", "-S", project, "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", made)
    if "1 test" not in run(made / "use"):
        raise AssertionError("the test did not run")
    return (made / "program").read_text()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # No part of the name is in the build's own paths.
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip package ")))

    def environment(self):
        """Of a user who has nothing of the tree."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "TMPDIR": str(self.folder)}

    def assert_works(self, *caip):
        """It runs a job and its judge, with its own helpers and data. Other words may come before the program."""
        env = self.environment()
        self.assertIn("caip ", run(*caip, "version", env=env))
        scenario = self.folder / "job.yaml"
        scenario.write_text(JOB)
        state = self.folder / "state"
        run(*caip, "scenario", "run", scenario, "--state", state, env=env)
        said = run(*caip, "conform", "--endpoint", "embedded", "--filter", "job-ids/*", "--jobs", "2", env=env)
        self.assertRegex(said, r"[1-9]\d* passed")
        shutil.rmtree(state, ignore_errors=True)


class Installed(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        first = cls.folder / "first place"
        run("cmake", "--install", Options.build, "--prefix", first)
        cls.prefix = first.rename(cls.folder / "another place")

    def test_it_works_at_another_place(self):
        self.assert_works(self.prefix / "bin" / "caip")

    def test_it_works_through_a_link(self):
        link = self.folder / "caip"
        link.symlink_to(self.prefix / "bin" / "caip")
        self.assertIn("caip ", run(link, "version", env=self.environment()))
        self.assertIn("Judges", run(link, "conform", "--help", env=self.environment()))

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_it_works_below_a_read_only_prefix(self):
        mount = 'mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"; test ! -w "$0"; exec "$@"'
        self.assert_works("unshare", "--mount", "sh", "-euc", mount, self.prefix, self.prefix / "bin" / "caip")

    def test_it_brings_completion_and_schemas(self):
        for name in ("bash-completion/completions/caip", "zsh/site-functions/_caip", "fish/vendor_completions.d/caip.fish",
                     "man/man1/caip.1", "man/man1/caip-jobs.1",
                     "caip/schemas/scenario.schema.json", "caip/schemas/explore-report.schema.json",
                     "doc/caip/README.md", "doc/caip/docs/explorer.md"):
            self.assertGreater((self.prefix / "share" / name).stat().st_size, 100, name)

    def test_a_project_finds_the_fixture(self):
        self.assertEqual(build_use(self.folder / "project", self.prefix), str(self.prefix / "bin" / "caip"))


class Packaged(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = cls.folder / "packages"
        run(ROOT / "scripts" / "package", "--build", Options.build, "--out", cls.out, "deb", "tar", "wheel")
        cls.tar = next(cls.out.glob("*.tar.gz"))
        cls.wheel = next(cls.out.glob("*.whl"))
        cls.deb = next(cls.out.glob("*.deb"))

    def test_the_archive_works_where_it_is_unpacked(self):
        run("tar", "-xf", self.tar, "-C", self.folder)
        self.assert_works(self.folder / self.tar.name.removesuffix(".tar.gz") / "bin" / "caip")

    def test_the_deb_works_where_it_is_unpacked(self):
        run("dpkg-deb", "-x", self.deb, self.folder / "unpacked")
        self.assert_works(self.folder / "unpacked" / "usr" / "bin" / "caip")

    def test_the_deb_says_what_it_needs(self):
        fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", self.deb).splitlines() if ": " in line)
        self.assertEqual((fields["Package"], fields["Section"]), ("caip", "devel"))
        self.assertRegex(fields["Version"], r"^\d+\.\d+\.\d+-1$")
        for library in ("libc6 (>= ", "libisal2", "libslirp0"):
            self.assertIn(library, fields["Depends"])
        self.assertGreater(int(fields["Installed-Size"]), 1000)

    def test_the_deb_has_what_debian_expects(self):
        listed = run("dpkg-deb", "--contents", self.deb)
        for path in ("usr/bin/caip", "usr/libexec/caip/caip-launcher", "usr/share/man/man1/caip-jobs.1.gz",
                     "usr/share/doc/caip/copyright", "usr/share/doc/caip/changelog.gz", "usr/lib/systemd/user/caip.service",
                     "usr/share/bash-completion/completions/caip", "usr/share/zsh/vendor-completions/_caip"):
            self.assertRegex(listed, rf"(?m)^-rw\S+ root/root .* \./{path}$")
        self.assertNotIn("usr/lib/caip/", listed)  # the libraries of the system suffice

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_finds_nothing(self):
        env = {**os.environ, "TMPDIR": str(self.folder)}  # where lintian leaves files
        self.assertEqual(run("lintian", "--allow-root", "--fail-on", "none", self.deb, env=env), "")

    def test_the_unit_waits_between_its_starts_and_gives_up(self):
        lines = (ROOT / "scripts/packages/caip.service").read_text().splitlines()
        value = {name: text for name, _, text in (line.partition("=") for line in lines)}
        self.assertEqual(value["Restart"], "on-failure")
        pause, starts = int(value["RestartSec"]), int(value["StartLimitBurst"])
        self.assertGreaterEqual(pause, 1)
        self.assertLess(pause * starts, int(value["StartLimitIntervalSec"]), "the limit is never reached")
        unit, service = lines.index("[Unit]"), lines.index("[Service]")
        self.assertTrue(unit < lines.index(f"StartLimitBurst={starts}") < service < lines.index(f"RestartSec={pause}"))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_accepts_the_unit(self):
        unit = self.folder / "caip.service"
        text = (ROOT / "scripts/packages/caip.service").read_text()
        self.assertIn("ExecStart=/usr/bin/caip serve --address 127.0.0.1\n", text)
        unit.write_text(text.replace("/usr/bin/caip", "/bin/true"))
        env = {**self.environment(), "XDG_RUNTIME_DIR": str(self.folder)}
        self.assertEqual(run("systemd-analyze", "--user", "verify", "--man=no", unit, env=env), "")

    def test_the_wheel_installs_the_command_and_the_plugin(self):
        environment = self.folder / "environment"
        run(sys.executable, "-m", "venv", "--system-site-packages", environment)
        run(environment / "bin" / "pip", "install", "--no-index", "--no-deps", self.wheel)
        self.assert_works(environment / "bin" / "caip")
        self.assertEqual(build_use(self.folder / "with the wheel", environment), str(environment / "bin" / "caip"))
        test = self.folder / "test_use.py"
        test.write_text("def test_makes_a_bucket(caip):\n    assert caip.make_bucket('models').is_dir()\n")
        python = environment / "bin" / "python3"
        has_pytest = subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode == 0
        if not has_pytest:
            self.skipTest("pytest is not installed")
        self.assertIn("1 passed", run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", test, env=self.environment(),
                                      cwd=self.folder))
        run(environment / "bin" / "pip", "uninstall", "-y", "caip")
        left = [file for file in environment.rglob("*") if file.is_file() and "caip" in str(file.relative_to(environment))]
        self.assertEqual([file for file in left if file.suffix != ".pyc"], [])

    def test_pip_takes_the_wheel_for_its_own_platform_only(self):
        platform = self.wheel.stem.rpartition("-")[2]
        for asked, code in ((platform, 0), (platform.replace("x86_64", "aarch64"), 1), ("manylinux_2_28_x86_64", 1),
                            ("macosx_14_0_arm64", 1), ("win_amd64", 1)):
            with self.subTest(asked):
                said = run(sys.executable, "-m", "pip", "download", "--no-index", "--no-deps", "--only-binary=:all:", "--platform",
                           asked, "--find-links", self.out, "--dest", self.folder / "downloaded", "caip", code=code)
                self.assertEqual("No matching distribution found for caip" in said, code == 1)

    def test_packages_are_small_and_have_checksums(self):
        sums = dict(reversed(line.split()) for line in (self.out / "SHA256SUMS").read_text().splitlines())
        for package in (self.tar, self.wheel, self.deb):
            self.assertLess(package.stat().st_size, BYTES_MAX)
            self.assertEqual(sums[package.name], hashlib.sha256(package.read_bytes()).hexdigest())

    def test_the_same_build_gives_the_same_bytes(self):
        again = self.folder / "again"
        run(ROOT / "scripts" / "package", "--build", Options.build, "--out", again, "deb", "tar", "wheel",
            env={**os.environ, "TZ": "Asia/Tokyo"})
        self.assertEqual((again / "SHA256SUMS").read_text(), (self.out / "SHA256SUMS").read_text())

    def test_symbols_belong_to_the_programs_of_the_packages(self):
        out, root = self.folder / "symbols", self.folder / "debugged"
        run(ROOT / "scripts" / "package", "--build", Options.build, "--out", out, "symbols")
        root.mkdir()
        run("tar", "-xf", next(out.glob("caip-*-symbols-*.tar.gz")), "-C", root)
        run("tar", "-xf", self.tar, "-C", root, "--strip-components=1")
        programs = [root / "bin/caip", *(file for file in (root / "libexec/caip").iterdir())]
        self.assertEqual(len(programs), 8)
        known = {"libcaip-watch.so": "Call", "libcaip-nvml.so": "nvmlInit_v2"}  # a function of each; programs have main
        for program in programs:
            identity = re.search(r"Build ID: (\w+)", run("readelf", "--notes", program)).group(1)
            symbols = root / "usr/lib/debug/.build-id" / identity[:2] / f"{identity[2:]}.debug"
            self.assertRegex(run("nm", symbols), rf" [tT] {known.get(program.name, 'main')}\n")
            self.assertIn("no symbols", run("nm", program))

    def test_what_is_linked_is_listed(self):
        listed = run("tar", "-xOf", self.tar, "--wildcards", "*/caip.spdx.json")
        for name in ("libsqlite3-dev", "libssl-dev", "libyaml-cpp-dev", "libprotobuf-dev", "libnghttp2-dev",
                     "libslirp0", "libglib2.0-0"):
            self.assertIn(f'"{name}', listed)
        licences = run("tar", "-tf", self.tar)
        self.assertIn("/licenses/googleapis.txt", licences)


class WithoutTools(unittest.TestCase):
    """A kind of package whose tools are missing is refused with words."""

    def refusal(self, module, call):
        script = (f"import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {str(ROOT / 'scripts')!r})\n"
                  f"import pathlib\nfrom packages import {module}\n{module}.{call}")
        return run(sys.executable, "-c", script, env={"PATH": "/nowhere"}, code=1)

    def test_a_deb_needs_dpkg(self):
        self.assertIn("package: A deb needs dpkg and dpkg-deb and dpkg-shlibdeps. Install dpkg-dev",
                      self.refusal("debian", "make_deb(pathlib.Path('x'), pathlib.Path('y'))"))

    def test_an_image_needs_a_base(self):
        self.assertIn("mmdebstrap is not installed. Install it, or name a root",
                      self.refusal("image", "bootstrap(pathlib.Path('x'))"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    Options.build = pathlib.Path(options.build).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
