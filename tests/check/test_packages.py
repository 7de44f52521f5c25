#!/usr/bin/env python3
"""The program with which `caip check` inspects packages."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOK = ROOT / "emulator" / "check" / "python" / "look_at_packages.py"
RUNTIME = ROOT / "src" / "harness" / "check" / "runtime_modules.txt"


class Look(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-look-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def look(self, files, packed=None, requires="", environment="", modules=()):
        """Inspects a source tree with `files` and an archive with those of them that are `packed`."""
        archive = self.folder / "trainer-0.1.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            for name, text in files.items():
                path = self.folder / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                if packed is None or name in packed:
                    tar.add(path, f"trainer-0.1/{name}")
            egg = self.folder / "requires.txt"
            egg.write_text(requires)
            tar.add(egg, "trainer-0.1/trainer.egg-info/requires.txt")
        asked = {"archives": [str(archive)], "source": str(self.folder / "src" / "trainer"),
                 "environment": str(environment), "runtime": RUNTIME.read_text().split(), "modules": modules}
        done = subprocess.run([sys.executable, str(LOOK), json.dumps(asked)], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": str(self.folder / "here")})
        return json.loads(done.stdout)

    def missing(self, *words, **more):
        return {one["path"]: (one["why"], one["referrer"])
                for one in self.look(*words, **more)["missing"]}

    def undeclared(self, text, requires=""):
        found = self.look({"trainer/__init__.py": "", "trainer/task.py": text}, requires=requires)
        return [one["module"] for one in found["undeclared"]]

    def test_a_sub_package_without_init_is_reported_with_its_importer(self):
        files = {"trainer/__init__.py": "", "trainer/task.py": "\nfrom .models import deep\n",
                 "trainer/models/deep.py": ""}
        self.assertEqual(
            self.missing(files, packed=["trainer/__init__.py", "trainer/task.py"]),
            {"trainer/models/deep.py": ("trainer/models has no __init__.py", "trainer/task.py:2")})

    def test_a_missing_data_file_is_reported_with_the_line_that_names_it(self):
        files = {"trainer/__init__.py": "", "trainer/task.py": "PATH = 'data/words.txt'\n",
                 "trainer/data/words.txt": "", "trainer/notes.txt": ""}
        self.assertEqual(
            self.missing(files, packed=["trainer/__init__.py", "trainer/task.py"]),
            {"trainer/data/words.txt": ("it is not package data", "trainer/task.py:1"),
             "trainer/notes.txt": ("it is not package data", "")})

    def test_hidden_files_and_bytecode_are_not_missing(self):
        files = {"trainer/__init__.py": "", "trainer/.secret": "",
                 "trainer/__pycache__/task.pyc": "", "trainer/task.py": ""}
        self.assertEqual(
            self.missing(files, packed=["trainer/__init__.py", "trainer/task.py"]), {})

    def test_imports_must_be_declared(self):
        for text, undeclared in [
                ("import office_plots\n", ["office_plots"]),
                ("import os, json\nimport tensorflow as tf\nimport numpy\n", []),
                ("from office.plots import draw\n", ["office"]),
                ("import trainer.model\nfrom . import model\n", []),
                ("try:\n    import office_plots\nexcept ImportError:\n    office_plots = None\n", []),
                ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import office_plots\n", []),
                ("def draw():\n    import office_plots\n", ["office_plots"]),
                ("this is not Python\n", [])]:
            self.assertEqual(self.undeclared(text), undeclared, text)

    def environment(self, *modules):
        """A virtual environment with the modules, of which one distribution has all."""
        environment = self.folder / "environment"
        venv.create(environment)
        packages = next(environment.glob("lib/python*/site-packages"))
        for module in modules:
            (packages / f"{module}.py").write_text("")
        about = packages / "office_suite-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: office-suite\nVersion: 1.0\n")
        (about / "top_level.txt").write_text("\n".join(modules))
        return environment

    def test_modules_are_those_of_the_python_of_the_job(self):
        (self.folder / "here").mkdir()
        (self.folder / "here" / "office_maps.py").write_text("")
        environment = self.environment("office_plots")
        files = {"trainer/__init__.py": "", "trainer/task.py": "import office_plots, office_maps, json\n"}
        for at, plots, maps in (
                ("", "which is not here either", "which this host happens to have"),
                (self.folder / "none", "which is not here either", "which this host happens to have"),
                (environment, "which this host happens to have", "which the Python of the job does not have")):
            found = {one["module"]: one["why"] for one in self.look(files, environment=at)["undeclared"]}
            self.assertEqual(found, {"office_plots": plots, "office_maps": maps}, at)

    def test_modules_are_found_in_the_python_of_the_job(self):
        modules = ["office_plots", "office_maps", "office_plots.missing", "json"]
        found = self.look({"trainer/__init__.py": ""}, environment=self.environment("office_plots"), modules=modules)
        self.assertEqual(found["places"], {"office_plots": "installed", "office_maps": "nowhere",
                                           "office_plots.missing": "nowhere", "json": "standard"})
        self.assertEqual(self.look({}, environment=self.folder / "none", modules=modules)["places"], {})

    def test_a_declared_distribution_may_be_installed_for_the_job_only(self):
        files = {"trainer/__init__.py": "", "trainer/task.py": "import office_plots\n"}
        found = self.look(files, requires="office-suite\n", environment=self.environment("office_plots"))
        self.assertEqual(found["undeclared"], [])

    def test_a_declared_import_is_matched_by_its_distribution(self):
        self.assertEqual(self.undeclared("import office_plots\n", "office-plots>=2.0\n"), [])
        self.assertEqual(self.undeclared("import office_plots\n", "[extra]\noffice-maps\n"),
                         ["office_plots"])


if __name__ == "__main__":
    unittest.main()
