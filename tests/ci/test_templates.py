#!/usr/bin/env python3
"""The templates for CI: each step of the action, each job of GitLab's template and each hook runs here, with an installed caip
and a trainer that fails.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTION = ROOT / "scripts/ci/github"
sys.path.insert(0, str(ROOT / "tests" / "support"))
import json_schema  # noqa: E402

# https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
STEP = {"type": "object", "additionalProperties": False,
        "properties": {name: {"type": "string"} for name in ("name", "id", "if", "shell", "run", "uses", "working-directory")}
        | {"env": {"type": "object"}, "with": {"type": "object"}}}
INPUT = {"type": "object", "additionalProperties": False, "required": ["description"],
         "properties": {"description": {"type": "string"}, "required": {"type": "boolean"}, "default": {"type": "string"}}}
COMPOSITE = {
    "type": "object", "additionalProperties": False, "required": ["name", "description", "runs"],
    "properties": {
        "name": {"type": "string"}, "description": {"type": "string"},
        "inputs": {"type": "object"},
        "runs": {"type": "object", "additionalProperties": False, "required": ["using", "steps"],
                 "properties": {"using": {"const": "composite"}, "steps": {"type": "array", "items": STEP}}}}}
BROKEN_TRAINER = """import json, os, sys
out = sys.argv[sys.argv.index("--out") + 1]
os.makedirs(out, exist_ok=True)
path = os.path.join(out, "state.json")
step = json.load(open(path))["step"] if os.path.exists(path) else 0
for step in range(step + 1, 4):
    with open(path, "w") as file:
        file.write('{"step": ')
        file.flush()
        file.write(f"{step}}}")
    print(f"step {step}", flush=True)
"""
FAILING = """description: A job that fails.
trainer: {command: [/bin/sh, -c, "echo 50% done; exit 3"]}
expect: {state: SUCCEEDED}
"""
CHECK = "--filter 'start/*' -- python3 train.py --out {job_dir}"
EXPLORE = "--max-points 4 --no-pairs -- python3 train.py --out {job_dir}"


class Options:
    """What the command line of the test gives."""
    build = None


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="caip-ci-")))
        self.project = self.folder / "project"
        (self.project / "scenarios").mkdir(parents=True)
        (self.project / "train.py").write_text(BROKEN_TRAINER)
        (self.project / "scenarios/fails.yaml").write_text(FAILING)

    def bash(self, script, env, code=0):
        """Runs lines as both systems do. Returns the exit code and the output."""
        file = self.folder / "step.sh"
        file.write_text(script)
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", file], cwd=self.project, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)

    def environment(self, **more):
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "TMPDIR": str(self.folder), "CI": "true", **more}

    def failures(self, report):
        root = xml.etree.ElementTree.parse(self.project / "caip-results" / report).getroot()
        return len(list(root.iter("failure")))


class GithubAction(Case):
    """Runs the steps of the action like GitHub's runner, as far as the action uses it."""

    action = yaml.safe_load((ACTION / "action.yml").read_text())

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-package-")))
        subprocess.run([ROOT / "scripts/package", "--build", Options.build, "--out", folder, "tar"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.package = next(folder.glob("*.tar.gz"))
        cls.checksum = (folder / "SHA256SUMS").read_text().split()[0]

    def filled(self, text, inputs):
        """`${{ }}` with the names that the action has. Another one is an error."""
        known = {**{f"inputs.{name}": value for name, value in inputs.items()}, "runner.os": "Linux"}
        hashed = re.sub(r"\$\{\{ hashFiles\([^)]*\) \}\}", "hash", text)
        return re.sub(r"\$\{\{ ([^}]*) \}\}", lambda match: known[match.group(1)], hashed)

    def is_wanted(self, condition, inputs, outcomes):
        """Whether a step runs. Without a status function, GitHub wants that no step failed."""
        has_failed = "failure" in outcomes.values()
        if condition is None:
            return not has_failed
        words = re.fullmatch(r"\$\{\{ (.*) \}\}", condition).group(1).split(" && ")
        holds = {"!cancelled()": True, **{f"steps.{name}.outcome == 'success'": outcome == "success"
                                          for name, outcome in outcomes.items()},
                 **{f"inputs.{name} != ''": bool(value) for name, value in inputs.items()}}
        return all(holds[word] for word in words) and ("!cancelled()" in words or not has_failed)

    def run_action(self, **given):
        """The output and whether each named step failed."""
        inputs = {name: value.get("default", "") for name, value in self.action["inputs"].items()}
        inputs.update(package=str(self.package), **given)
        outcome, by_id, said, path = {}, {}, "", "/usr/bin:/bin"
        added = self.folder / "path"
        for step in self.action["runs"]["steps"]:
            if "uses" in step or not self.is_wanted(step.get("if"), inputs, by_id):
                continue
            added.write_text("")
            env = self.environment(PATH=path, GITHUB_ACTIONS="true", GITHUB_ACTION_PATH=str(ACTION), GITHUB_PATH=str(added),
                                   RUNNER_TEMP=str(self.folder / "temp"))
            env.update({name: self.filled(value, inputs) for name, value in step.get("env", {}).items()})
            self.assertNotIn("${{", step["run"])  # a value cannot become a part of the script
            done = self.bash(step["run"], env)
            outcome[step["name"]], said = done.returncode != 0, said + done.stdout
            by_id[step.get("id", step["name"])] = "failure" if done.returncode else "success"
            path = ":".join([*reversed(added.read_text().split()), path])
        return said, outcome

    def test_the_metadata_is_that_of_a_composite_action(self):
        self.assertEqual(list(json_schema.misfits(self.action, COMPOSITE)), [])
        for described in self.action["inputs"].values():
            self.assertEqual(list(json_schema.misfits(described, INPUT)), [])
        for step in self.action["runs"]["steps"]:
            self.assertNotEqual("run" in step, "uses" in step)
            self.assertEqual("run" in step, step.get("shell") == "bash")
        for name in ("check", "explore", "scenarios"):
            self.assertEqual(self.action["inputs"][name]["default"], "")

    def test_a_failing_trainer_is_annotated_and_all_commands_run(self):
        said, failed = self.run_action(check=CHECK, explore=EXPLORE, scenarios="scenarios --jobs 1", sha256=self.checksum)
        self.assertFalse(failed["Install caip"], said)
        self.assertTrue(failed["caip explore"] and failed["caip scenario run"], said)
        self.assertFalse(failed["Annotate"], said)
        for line in re.findall(r"(?m)^::.*$", said):
            self.assertRegex(line, r"^::(error|warning) (file=[^,:]+,)?title=[^,:]+::.+$")
        self.assertRegex(said, r"(?m)^::error file=scenarios/fails.yaml,title=caip scenario%3A state::expected SUCCEEDED, found ")
        self.assertRegex(said, r"(?m)^::error .*title=caip explore%3A .*JSONDecodeError.*again%3A|^::error .*JSONDecodeError")
        self.assertGreater(self.failures("explore.xml"), 0)
        self.assertGreater(self.failures("scenarios.xml"), 0)
        self.assertTrue((self.project / "caip-results/check.xml").exists())
        self.assertTrue(list((self.project / "caip-results/explore-findings").glob("finding-*.yaml")))
        self.assertTrue((self.project / "caip-results/events").exists())

    def test_a_command_without_arguments_is_left_out(self):
        (self.project / "scenarios/fails.yaml").write_text(FAILING.replace("exit 3", "exit 0"))
        said, failed = self.run_action(scenarios="scenarios")
        self.assertEqual(failed, {"Install caip": False, "caip scenario run": False, "Annotate": False}, said)
        self.assertNotIn("::error", said)

    def test_a_wrong_package_is_refused(self):
        said, failed = self.run_action(sha256="0" * 64, explore=EXPLORE, scenarios="scenarios")
        self.assertEqual(failed, {"Install caip": True}, "a step without caip ran")
        self.assertIn("does not have the checksum", said)
        self.package = self.folder / "missing.tar.gz"
        self.assertIn("is not a file. Give the path or URL", self.run_action()[0])

    def test_a_package_of_a_newer_system_is_refused_with_the_remedy(self):
        program = self.folder / "caip-9/bin/caip"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho \"version 'GLIBC_2.99' not found\" >&2\nexit 1\n")
        program.chmod(0o755)
        self.package = self.folder / "caip-9.tar.gz"
        subprocess.run(["tar", "-czf", self.package, "-C", self.folder, "caip-9"], check=True)
        said, failed = self.run_action(explore=EXPLORE)
        self.assertEqual(failed, {"Install caip": True}, "a step without caip ran")
        self.assertIn("version 'GLIBC_2.99' not found\ninstall: caip does not run on this system. A package needs", said)

    def test_what_is_uploaded_and_cached(self):
        uses = {step["uses"].split("@")[0]: step for step in self.action["runs"]["steps"] if "uses" in step}
        self.assertEqual(uses["actions/upload-artifact"]["with"]["path"], "${{ inputs.results }}")
        self.assertEqual(uses["actions/upload-artifact"]["if"], "${{ !cancelled() && steps.install.outcome == 'success' }}")
        self.assertIn("~/.local/state/caip/runtimes", uses["actions/cache"]["with"]["path"].split())

    def test_the_wheel_installs_too(self):
        folder = self.folder / "wheel"
        subprocess.run([ROOT / "scripts/package", "--build", Options.build, "--out", folder, "wheel"], check=True,
                       stdout=subprocess.DEVNULL)
        env = self.environment(PATH=f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin")
        done = self.bash(f"'{ACTION}/install' {folder}/*.whl '{self.folder}/w'", env)
        self.assertEqual(done.stdout, f"{self.folder}/w/bin\n")
        self.assertIn("caip ", self.bash(f"{self.folder}/w/bin/caip version", env).stdout)


class Annotations(unittest.TestCase):
    """annotate.py with reports of its own."""

    REPORT = ('<testsuites name="caip explore"><testsuite name="a"><testcase name="b"><failure message="c"/></testcase>'
              "</testsuite></testsuites>")

    def annotate(self, *texts):
        with tempfile.TemporaryDirectory(prefix="caip-reports-") as folder:
            reports = [pathlib.Path(folder) / f"{number}.xml" for number in range(len(texts))]
            for report, text in zip(reports, texts):
                report.write_text(text)
            return subprocess.run([sys.executable, ACTION / "annotate.py", *reports], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)

    def test_a_broken_report_is_named_and_the_others_are_annotated(self):
        done = self.annotate(self.REPORT.replace('"c"', '"\uffff"'), self.REPORT)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"/0\.xml is not a JUnit report: not well-formed .*\. Its failures have no annotations\.")
        self.assertEqual(done.stdout, "::error title=caip explore%3A b::c\n")

    def test_an_empty_report_is_left_out(self):
        done = self.annotate("", self.REPORT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("::error", done.stdout)


class GitlabTemplate(Case):
    """Runs the jobs of the template like GitLab's runner: the lines of before_script and script in one shell."""

    template = yaml.safe_load((ROOT / "scripts/ci/gitlab.yml").read_text())

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-package-")))
        subprocess.run([ROOT / "scripts/package", "--build", Options.build, "--out", folder, "tar"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.package = next(folder.glob("*.tar.gz"))

    def run_job(self, name, **variables):
        job, base = self.template[name], self.template[".caip"]
        self.assertEqual(job["extends"], ".caip")
        wanted = job["rules"][0]["if"].removeprefix("$")
        self.assertTrue(variables.get(wanted))
        (self.folder / "bin").mkdir(exist_ok=True)
        stand_in = self.folder / "bin/apt-get"  # the packages are those of this host
        stand_in.write_text("#!/bin/sh\nexit 0\n")
        stand_in.chmod(0o755)
        env = self.environment(PATH=f"{self.folder}/bin:/usr/bin:/bin", CI_PROJECT_DIR=str(self.project),
                               **{**self.template["variables"], "CAIP_PACKAGE": str(self.package), **variables})
        env.update({key: value.replace("$CI_PROJECT_DIR", str(self.project)) for key, value in base["variables"].items()})
        return self.bash("\n".join([*base["before_script"], *job["script"]]), env)

    def test_each_job_writes_the_report_that_is_uploaded(self):
        self.assertEqual(self.template[".caip"]["artifacts"]["reports"]["junit"], "caip-results/*.xml")
        self.assertEqual(self.template[".caip"]["artifacts"]["when"], "always")
        for name, report, variables in (("caip check", "check.xml", {"CAIP_CHECK": CHECK}),
                                        ("caip explore", "explore.xml", {"CAIP_EXPLORE": EXPLORE}),
                                        ("caip scenarios", "scenarios.xml", {"CAIP_SCENARIOS": "scenarios"})):
            with self.subTest(name):
                done = self.run_job(name, **variables)
                self.assertTrue((self.project / "caip-results" / report).exists(), done.stdout)
                if name != "caip check":
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertGreater(self.failures(report), 0)

    def test_a_missing_package_is_named(self):
        done = self.run_job("caip scenarios", CAIP_SCENARIOS="scenarios", CAIP_PACKAGE="")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("CAIP_PACKAGE is empty. Set it to the path or URL of an archive of caip.\n"))

    def test_each_variable_has_a_job(self):
        jobs = [job for job in self.template.values() if isinstance(job, dict) and "rules" in job]
        named = {job["rules"][0]["if"].removeprefix("$") for job in jobs}
        self.assertEqual(named | {"CAIP_PACKAGE"}, set(self.template["variables"]))


HOOK = {"type": "object", "additionalProperties": False, "required": ["id", "name", "description", "language", "entry"],
        "properties": {name: {"type": "string"} for name in ("id", "name", "description", "entry", "files")}
        | {name: {"type": "boolean"} for name in ("pass_filenames", "require_serial")}
        | {"types": {"type": "array", "items": {"type": "string"}}, "language": {"const": "system"}}}


class PreCommit(Case):
    """A hook runs as pre-commit would run it: its entry, the arguments of the project, then the files that match."""

    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    copied = yaml.safe_load((ROOT / "docs/ci/pre-commit-config.yaml").read_text())["repos"][0]["hooks"][0]

    def test_hooks_have_the_keys_of_pre_commit(self):
        for hook in self.hooks.values():
            self.assertEqual(list(json_schema.misfits(hook, HOOK)), [])
        page = (ROOT / "docs/ci.md").read_text()
        self.assertEqual(set(re.findall(r"(?m)^ +- id: (\S+)$", page)), set(self.hooks))

    def test_it_refuses_a_mistake_in_a_scenario(self):
        env = self.environment(PATH=f"{Options.build}:/usr/bin:/bin")
        names = ["scenarios/fails.yaml", "scenarios/bad.yml", "train.py"]
        (self.project / "scenarios/bad.yml").write_text(FAILING + "expcet: {}\n")
        for hook in (self.copied, self.hooks["caip-scenarios"]):
            self.assertEqual(hook["language"], "system")
            matching = [name for name in names if re.search(hook["files"], name)]
            self.assertEqual(matching, names[:2])
            self.assertEqual(self.bash(f"{hook['entry']} {matching[0]}", env).returncode, 0)
            done = self.bash(f"{hook['entry']} {' '.join(matching)}", env)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("expcet", done.stdout)

    def test_check_and_explore_take_the_arguments_of_the_project(self):
        env = self.environment(PATH=f"{Options.build}:/usr/bin:/bin")
        for name, arguments in (("caip-check", "--filter 'restart/explored' -- python3 train.py --out {job_dir}"),
                                ("caip-explore", EXPLORE)):
            hook = self.hooks[name]
            self.assertFalse(hook["pass_filenames"])
            done = self.bash(f"{hook['entry']} {arguments}", env)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("JSONDecodeError", done.stdout)


@unittest.skipUnless(shutil.which("pre-commit"), "pre-commit is not installed")
class WithPreCommit(Case):
    """pre-commit itself takes the hooks from a repository."""

    def setUp(self):
        super().setUp()
        self.source = self.folder / "caip"
        self.source.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", self.source)
        for folder in (self.source, self.project):
            self.git(folder, "init", "-q")
        self.git(self.source, "add", "-A")
        self.git(self.source, "commit", "-q", "-m", "hooks")
        self.git(self.source, "tag", "v1")

    def git(self, folder, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words], cwd=folder, check=True)

    def run_hooks(self, hooks, caip=None):
        config = {"repos": [{"repo": str(self.source), "rev": "v1", "hooks": hooks}]}
        (self.project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        self.git(self.project, "add", "-A")
        env = self.environment(PATH=f"{caip or Options.build}:{os.path.dirname(shutil.which('pre-commit'))}:/usr/bin:/bin",
                               PRE_COMMIT_HOME=str(self.folder / "pre-commit"))
        return self.bash("pre-commit run --all-files", env)

    def test_a_mistake_in_a_scenario_fails_the_commit(self):
        hooks = [{"id": "caip-scenarios"}]
        done = self.run_hooks(hooks)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"mistakes in scenarios\.+Passed")
        (self.project / "scenarios/bad.yml").write_text(FAILING + "expcet: {}\n")
        done = self.run_hooks(hooks)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?s)mistakes in scenarios\.+Failed.*bad.yml.*expcet")

    def test_a_trainer_that_restarts_badly_fails_the_commit(self):
        words = ["--", "python3", "train.py", "--out", "{job_dir}"]
        done = self.run_hooks([{"id": "caip-check", "args": ["--filter", "start/*", *words]},
                               {"id": "caip-explore", "args": ["--max-points", "4", "--no-pairs", *words]}])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?s)caip check\.+Passed.*caip explore\.+Failed.*JSONDecodeError")

    def test_a_missing_caip_is_named(self):
        done = self.run_hooks([{"id": "caip-scenarios"}], caip="/nowhere")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Executable `caip` not found", done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    Options.build = pathlib.Path(options.build).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
