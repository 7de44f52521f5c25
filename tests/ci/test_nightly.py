#!/usr/bin/env python3
"""The scheduled run and scripts/fuzz keep the inputs of the fuzzers. The programs that they call are stand-ins."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Keeps one input of the merged directories, as a fuzzer does with two that reach the same code.
FUZZER = """#!/bin/sh
case "$*" in *-merge=1*) ;; *) exit 0 ;; esac
while [ $# -gt 2 ]; do shift; done
for input in "$2"/*; do cp "$input" "$1"; break; done
"""
# Makes the benchmark where it is a target.
BUILD = """#!/bin/sh
case " $* " in *" bench_image_unpack "*) mkdir -p build/release && cp unpack build/release/bench_image_unpack ;; esac
"""


class Clone(unittest.TestCase):
    """A directory with the scripts, in which other programs do nothing."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        for name in (".ci/nightly", "scripts/fuzz"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        for name in ("cmake", "ninja", "ctest", "python3", "clang++-14"):
            self.stand_in(f"bin/{name}", "#!/bin/sh\n")

    def stand_in(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *command, code=0, **more):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CAIP_", "XDG_"))}
        environment |= {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "HOME": str(self.root / "home")} | more
        done = subprocess.run(command, cwd=self.root, env=environment, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout


class Nightly(Clone):
    def setUp(self):
        super().setUp()
        for name in ("setup", "build", "storm", "registry-suite"):
            self.stand_in(f"scripts/{name}", "#!/bin/sh\n")
        self.stand_in("scripts/fuzz", '#!/bin/sh\necho "fuzz $* in $CAIP_FUZZ_CORPUS"\n')
        self.stand_in("unpack", '#!/bin/sh\necho "unpack $*"\n')
        self.stand_in("scripts/build", BUILD)

    def test_keeps_inputs_outside_of_the_clone(self):
        kept = self.root / "home/.cache/caip/fuzz-corpus"
        output = self.run_script(".ci/nightly")
        self.assertIn(f"fuzz --fast --runs 10000000 in {kept}\n", output)
        self.assertIn(f"fuzz --runs 1000000 in {kept}\n", output)

    def test_keeps_inputs_where_the_variables_say(self):
        self.assertIn(" in /cache/caip/fuzz-corpus\n", self.run_script(".ci/nightly", XDG_CACHE_HOME="/cache"))
        self.assertIn(" in /kept\n", self.run_script(".ci/nightly", CAIP_FUZZ_CORPUS="/kept"))

    def test_unpacks_a_layer_of_a_million_files(self):
        self.assertIn("\nunpack 1 1 1000000\n", self.run_script(".ci/nightly"))

    def test_fails_if_a_part_failed_and_does_the_others(self):
        self.stand_in("unpack", "#!/bin/sh\nexit 1\n")
        output = self.run_script(".ci/nightly", code=1)
        self.assertIn("nightly: failed: build/release/bench_image_unpack 1 1 1000000\n", output)
        self.assertIn("fuzz --runs 1000000 in", output)


class RegistrySuite(Clone):
    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "scripts/registry-suite", self.root / "scripts")
        self.tools = self.root / "tools"  # instead of those of the host, which may have go
        for name in ("bash", "dirname", "tail"):
            self.stand_in(f"tools/{name}", f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')

    def run_suite(self, summary, code=0):
        self.stand_in("scripts/foreign-suites", f'#!/bin/sh\necho "ran $*"\necho "{summary}"\n')
        return self.run_script(shutil.which("bash"), "scripts/registry-suite", code=code,
                               PATH=f"{self.root / 'bin'}:{self.tools}")

    def test_without_go_is_skipped_by_name(self):
        self.assertEqual(self.run_suite("oci-next: 0 Pass"),
                         "registry-suite: oci-next is SKIPPED: go is not on PATH\n")

    def test_fails_if_a_test_failed_or_none_passed(self):
        self.stand_in("bin/go", "#!/bin/sh\n")
        self.assertEqual(self.run_suite("oci-next: 789 Pass 0 FAIL 12 Skip 0 Error"),
                         "registry-suite: oci-next: 789 Pass 0 FAIL 12 Skip 0 Error\n")
        for summary in ("788 Pass 1 FAIL 0 Skip 0 Error", "788 Pass 0 FAIL 0 Skip 10 Error"):
            self.assertIn("names the tests that failed", self.run_suite("oci-next: " + summary, code=1))
        for summary in ("", "0 Pass 0 FAIL 12 Skip 0 Error"):
            self.assertIn("no test passed", self.run_suite("oci-next: " + summary, code=1))


class Fuzz(Clone):
    def setUp(self):
        super().setUp()
        self.stand_in("build/fuzz/fuzz_x", FUZZER)
        self.kept = self.root / "kept"

    def put(self, *names):
        for name in names:
            (self.kept / name).parent.mkdir(parents=True, exist_ok=True)
            (self.kept / name).write_text(name)

    def fuzz(self):
        self.run_script("scripts/fuzz", "--runs", "1", "x", CAIP_FUZZ_CORPUS=str(self.kept))
        self.assertEqual([path.name for path in self.kept.iterdir()], ["x"])
        return sorted(path.name for path in (self.kept / "x").iterdir())

    def test_keeps_the_inputs_that_reach_something(self):
        self.put("x/a", "x/b")
        self.assertEqual(self.fuzz(), ["a"])

    def test_restores_the_inputs_of_a_run_that_was_killed_while_it_minimized(self):
        self.put("x.old/a", "x.old/b")
        (self.kept / "x").mkdir()
        self.assertEqual(self.fuzz(), ["a"])

    def test_keeps_all_inputs_if_they_cannot_be_minimized(self):
        self.stand_in("build/fuzz/fuzz_x", FUZZER.replace("do cp", "do exit 1; cp"))
        self.put("x/a", "x.old/b")
        self.assertEqual(self.fuzz(), ["a", "b"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
