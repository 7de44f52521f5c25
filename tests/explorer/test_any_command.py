#!/usr/bin/env python3
"""The explorer with trainers that know nothing of a managed service: any command, in its own folder, which
writes to a directory.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import machines

CAIP = None

# Saves two files every second step, twice. {resume} decides which checkpoint is taken for the newest one.
TRAINER = """
import json, os, pathlib, sys
import helper
out = pathlib.Path({out})
out.mkdir(parents=True, exist_ok=True)
{resume}
while step < 4:
    step += 1
    print("step", step, "loss", 1 / step, flush=True)
    if step % 2 == 0:
        checkpoint = out / ("ckpt-%d" % step)
        checkpoint.mkdir(exist_ok=True)
        (checkpoint / "weights").write_text(str(step))
        (checkpoint / "state.json").write_text(json.dumps({{"step": step}}))
(out / "done").write_text("done")
"""
TRUSTING = """
found = sorted(out.glob("ckpt-*"))
step = json.loads((found[-1] / "state.json").read_text())["step"] if found else 0
"""
CAREFUL = """
found = sorted(path.parent for path in out.glob("ckpt-*/state.json") if path.read_text().endswith("}"))
step = json.loads((found[-1] / "state.json").read_text())["step"] if found else 0
"""

# A correct trainer. Besides its steps it prints lines that name the step of its checkpoint.
TALKATIVE = """
import json, os
step, w = 0, 0.0
if os.path.exists("state.json"):
    step, w = json.load(open("state.json"))
    print("loaded checkpoint (step %d)" % step, flush=True)
print("resuming from step", step, flush=True)
print("picking up after step", step, flush=True)
while step < 8:
    loss = (w - 3) ** 2
    w -= 0.2 * (w - 3)
    step += 1
    print("step %d loss=%.6f" % (step, loss), flush=True)
    if step % 2 == 0:
        with open("state.tmp", "w") as file:
            json.dump([step, w], file)
            file.flush()
            os.fsync(file.fileno())
        os.replace("state.tmp", "state.json")
        print("saved checkpoint at step", step, flush=True)
"""

# Never loads its checkpoint. Its lines are those of PyTorch's ImageNet example.
FORGETFUL = """
import os
w = 0.0
begin = 0
for epoch in range(begin, 4):
    for i in range(0, 30, 10):
        w -= 0.1 * (w - 3)
        print("Epoch: [%d][%3d/%d]\\tLoss %.4e (%.4e)" % (epoch, i, 30, w, w), flush=True)
    with open("checkpoint.tmp", "w") as file:
        file.write("%d %r" % (epoch, w))
    os.replace("checkpoint.tmp", "checkpoint")
"""

# Loads it.
REMEMBERING = FORGETFUL.replace("begin = 0\n", """begin = 0
if os.path.exists("checkpoint"):
    last, number = open("checkpoint").read().split()
    begin, w = int(last) + 1, float(number)
""")

# Ranks that meet at rank 0 for each step, as torch.distributed does.
RANKS = """
import os, pathlib, socket, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
assert os.environ["LOCAL_RANK"] == "0" and "TF_CONFIG" not in os.environ
state = pathlib.Path("state")
begin = int(state.read_text()) if state.exists() else 0
def connect():
    while True:
        try:
            return socket.create_connection(place)
        except OSError:
            time.sleep(0.02)
if rank == 0:
    server = socket.create_server(("", place[1]))
    others = [server.accept()[0] for _ in range(size - 1)]
else:
    others = [connect()]
for step in range(begin + 1, 4):
    for other in others if rank == 0 else ():
        assert other.recv(1)
    for other in others:
        other.sendall(b"x")
    for other in others if rank else ():
        assert other.recv(1)
    if rank == 0:
        print("step", step, flush=True)
        {save}
    else:
        print("rank", rank, "is done", flush=True)
"""

SHELL = """#!/bin/sh
# A trainer in another language. It counts what it has done in a file.
mkdir -p "$1"
step=$(cat "$1/step" 2>/dev/null || echo 0)
while [ "$step" -lt 4 ]; do
  step=$((step + 1))
  echo "step=$step"
  echo "$step" > "$1/step.new"
  {save}
done
"""


class AnyCommand(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="caip-command-")
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name).resolve()
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.work / "helper.py").write_text("# beside the trainer\n")

    def write(self, resume, out="sys.argv[sys.argv.index('--out') + 1]", name="train.py"):
        (self.work / name).write_text(TRAINER.format(resume=resume, out=out))

    def caip(self, *words):
        done = subprocess.run([CAIP, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=600, cwd=self.work)
        return done.returncode, done.stdout

    def explore(self, *words):
        return self.caip("explore", "--state", str(self.folder / "state"), "--no-pairs", *words)

    def files(self):
        """The files of the working folder, without findings."""
        return sorted(str(path.relative_to(self.work)) for path in self.work.rglob("*")
                      if "caip-findings" not in path.parts and "__pycache__" not in path.parts)

    # The ways to say where the trainer writes.

    def assert_the_bug_is_found(self, *words):
        code, text = self.explore(*words)
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"1\. the job ends FAILED: FileNotFoundError")
        self.assertIn("with what is stored now it can never succeed", text)
        self.assertIn("steps: lines like `step 20`", text)
        self.assertNotIn("console.cloud.google.com", text)
        return text

    def assert_nothing_is_found(self, *words):
        code, text = self.explore(*words)
        self.assertEqual(code, 0, text)
        self.assertNotIn("the job ends", text)
        return text

    def test_a_placeholder_is_the_directory_of_the_job(self):
        self.write(TRUSTING)
        self.assert_the_bug_is_found("--", "python3", "train.py", "--out", "{job_dir}/run")
        self.write(CAREFUL)
        self.assert_nothing_is_found("--", "python3", "train.py", "--out", "{job_dir}/run")

    def test_a_directory_is_named_by_a_flag(self):
        machines.need(CAIP)
        place = self.folder / "data" / "run"
        for resume, check in ((TRUSTING, self.assert_the_bug_is_found),
                              (CAREFUL, self.assert_nothing_is_found)):
            self.write(resume)
            check("--out-dir", str(place), "--", "python3", "train.py", "--out", str(place))
            self.assertFalse(place.exists(), "a run wrote to the host")

    def test_a_directory_is_found_in_a_trial_run(self):
        machines.need(CAIP)
        place = self.folder / "fixed"
        for resume, check in ((TRUSTING, self.assert_the_bug_is_found),
                              (CAREFUL, self.assert_nothing_is_found)):
            self.write(resume, out=repr(str(place)))
            text = check("--", "python3", "train.py")
            self.assertIn(f"the command also writes {place}", text)
            self.assertFalse(place.exists(), "a run wrote to the host")

    def test_the_working_folder_is_copied_for_each_run(self):
        self.write(TRUSTING, out="'run'")
        before = self.files()
        self.assert_the_bug_is_found("--", "python3", "train.py")
        self.assertEqual(self.files(), before, "a run wrote to the host")

    def test_runs_begin_with_what_is_there(self):
        self.write(CAREFUL, out="'run'")
        (self.work / "run" / "ckpt-2").mkdir(parents=True)
        (self.work / "run" / "ckpt-2" / "state.json").write_text('{"step": 2}')
        text = self.assert_nothing_is_found("--", "python3", "train.py")
        self.assertNotIn("'0'", text)
        self.assertEqual((self.work / "run" / "ckpt-2" / "state.json").read_text(), '{"step": 2}')
        self.assertFalse((self.work / "run" / "ckpt-4").exists())

    def test_root_of_a_user_namespace_has_its_home_directory(self):
        machines.need(CAIP)
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root has its home directory at /root")
        alone = ("unshare", "--user", "--map-root-user")
        if subprocess.run([*alone, "true"], check=False).returncode != 0:
            raise unittest.SkipTest("this host permits no user namespaces")
        home = tempfile.TemporaryDirectory(prefix="caip-home-", dir="/root")
        self.addCleanup(home.cleanup)
        data = pathlib.Path(home.name) / "data"
        data.write_text("of the user\n")
        self.write(f"assert pathlib.Path({str(data)!r}).read_text() == 'of the user\\n'\n{CAREFUL}", out="'run'")
        done = subprocess.run([*alone, CAIP, "explore", "--state", str(self.folder / "state"), "--no-pairs",
                               "--", "python3", "train.py"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, cwd=self.work,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    # Without machines.

    def use_processes(self):
        (self.folder / "state").mkdir()
        (self.folder / "state" / "config.yaml").write_text("isolation: process\n")

    def test_a_process_works_in_a_copy_of_its_folder(self):
        self.use_processes()
        self.write(TRUSTING, out="'run'")
        before = self.files()
        text = self.assert_the_bug_is_found("--", "python3", "train.py")
        self.assertIn(f"after mkdir {self.work / 'run' / 'ckpt-2'}", text)
        self.assertEqual(self.files(), before, "a run wrote to the host")
        self.write(CAREFUL, out="'run'")
        self.assert_nothing_is_found("--", "python3", "train.py")

    def test_a_directory_that_processes_would_share_is_named(self):
        self.use_processes()
        place = self.folder / "fixed"
        self.write(TRUSTING, out=repr(str(place)))
        for words in ([], ["--out-dir", str(place)]):
            code, text = self.explore(*words, "--", "python3", "train.py")
            self.assertEqual(code, 3, text)
            self.assertIn(str(place), text)
            self.assertIn("{job_dir}", text)

    # Other languages, and first guesses.

    def test_a_trainer_in_shell(self):
        script = self.work / "train.sh"
        safe = 'mv "$1/step.new" "$1/step"'
        unsafe = 'rm -f "$1/step"; mv "$1/step.new" "$1/step"'
        for save, expected in ((safe, 0), (unsafe, 1)):
            script.write_text(SHELL.format(save=save))
            script.chmod(0o755)
            code, text = self.explore("--", "./train.sh", "run")
            self.assertEqual(code, expected, text)
        self.assertIn("after delete", text)

    def test_ranks_are_lost_one_by_one_and_start_again_together(self):
        machines.need(CAIP)
        unsafe = "state.write_text(str(step))"
        safe = "pathlib.Path('new').write_text(str(step)); os.replace('new', 'state')"
        for save, expected in ((safe, 0), (unsafe, 1)):
            (self.work / "train.py").write_text(RANKS.format(save=save))
            code, text = self.explore("--torchrun", "3", "--", "python3", "train.py")
            self.assertEqual(code, expected, text)
        progress = (self.work / "caip-findings" / "progress.jsonl").read_text()
        self.assertIn("worker-1", progress)

    def test_a_notice_comes_before_the_loss(self):
        (self.work / "train.py").write_text(textwrap.dedent("""
            import pathlib, signal, sys
            state = pathlib.Path("state")
            begin = int(state.read_text()) if state.exists() else 0
            def save(*ignored):
                state.write_text(str(step - 1))
                sys.exit(1)
            signal.signal(signal.SIGTERM, save)
            for step in range(begin + 1, 5):
                print("step", step, flush=True)
                pathlib.Path("new").write_text(str(step))
                pathlib.Path("new").replace(state)
            """))
        code, text = self.explore("--signal", "SIGTERM", "--grace", "2s", "--", "python3", "train.py")
        self.assertIn(code, (0, 1), text)
        progress = (self.work / "caip-findings" / "progress.jsonl").read_text()
        self.assertIn(", with notice", progress)
        job = next((self.work / "caip-findings").glob("command-*.yaml")).read_text()
        self.assertIn("grace: 2000ms", job)

    def test_words_before_the_bar_are_a_command_too(self):
        self.write(TRUSTING, out="'run'")
        self.assert_the_bug_is_found("python3", "train.py")
        self.assert_the_bug_is_found("train.py")
        code, text = self.explore("train.py", "--", "--epochs", "3")
        self.assertEqual(code, 2, text)
        self.assertIn("caip explore -- train.py", text)
        code, text = self.explore("python3", "train.py", "--out", "{job_dir}")
        self.assertEqual(code, 2, text)
        self.assertIn("caip explore [flags] -- python3 train.py --out {job_dir}", text)
        self.assertFalse((self.work / "{job_dir}").exists())

    def test_two_scenarios_are_both_explored(self):
        self.write(TRUSTING, out="'run'", name="broken.py")
        self.write(CAREFUL, out="'run'", name="fixed.py")
        for name in ("broken", "fixed"):
            (self.work / f"{name}.yaml").write_text(textwrap.dedent(f"""
                description: A command as a scenario.
                trainer:
                  command: [python3, {name}.py]
                  working_directory: .
                  volumes: [.]
                  job_dir: none
                  environment: user
                """))
        code, text = self.explore("fixed.yaml", "broken.yaml")
        self.assertEqual(code, 1, text)
        self.assertLess(text.index("fixed.yaml\n"), text.index("broken.yaml\n"))
        self.assertLess(text.index("broken.yaml\n"), text.index("the job ends FAILED"))
        code, text = self.explore("fixed.yaml", "broken.yaml", "--json", "r.json")
        self.assertEqual(code, 2, text)

    # What a run shows.

    def test_a_failure_that_does_not_last_is_told_apart(self):
        self.write("""
if (out / "lock").exists():
    (out / "lock").unlink()
    sys.exit("another process is at work")
(out / "lock").write_text("mine")
""" + CAREFUL, out="'run'")
        with open(self.work / "train.py", "a") as file:
            file.write("(out / 'lock').unlink()\n")
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 1, text)
        self.assertIn("another process is at work", text)
        self.assertIn("sent again without a fault, the job succeeds", text)

    def test_numbers_that_drift_come_last(self):
        (self.work / "train.py").write_text(textwrap.dedent("""
            import os, pathlib
            state = pathlib.Path("state")
            begin = int(state.read_text()) if state.exists() else 0
            for step in range(begin + 1, 5):
                print("step", step, "loss", 1 / step * (1 + 1e-6 * bool(begin)), flush=True)
                pathlib.Path("state.new").write_text(str(step))
                os.replace("state.new", "state")
            """))
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count("numbers drift after a restart"), 1, text)
        code, text = self.explore("--drift-fails", "--", "python3", "train.py")
        self.assertEqual(code, 1, text)

    def test_a_finding_is_a_scenario_that_passes_when_the_trainer_is_mended(self):
        self.write(TRUSTING, out="'run'")
        self.assert_the_bug_is_found("--", "python3", "train.py")
        finding = self.work / "caip-findings" / "finding-1.yaml"
        state = ["--state", str(self.folder / "state")]
        code, text = self.caip("scenario", "run", str(finding), *state)
        self.assertEqual(code, 1, text)
        self.write(CAREFUL, out="'run'")
        code, text = self.caip("scenario", "run", str(finding), *state)
        self.assertEqual(code, 0, text)

    def test_it_resumes_only_with_the_same_trainer(self):
        self.write(TRUSTING, out="'run'")
        words = ("--max-points", "12", "--", "python3", "train.py")
        self.assert_the_bug_is_found(*words)
        _, text = self.explore("--resume", *words)
        self.assertIn("known from an earlier run", text)
        self.write(CAREFUL, out="'run'")
        text = self.assert_nothing_is_found("--resume", *words)
        self.assertNotIn("known from an earlier run", text)

    def test_lines_about_checkpoints_are_not_steps(self):
        (self.work / "train.py").write_text(TALKATIVE)
        text = self.assert_nothing_is_found("--", "python3", "train.py")
        self.assertIn("steps: lines like `step 20`", text)
        self.assertTrue(text.endswith("\nnothing found\n"), text)

    def test_a_trainer_that_never_loads_its_checkpoint_is_found(self):
        (self.work / "train.py").write_text(FORGETFUL)
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 1, text)
        self.assertIn("steps: lines like `epoch 3 step 20`", text)
        self.assertIn("1. no restart uses what was saved", text)
        self.assertIn("other lines were taken for steps: describe the lines of steps with --step-regex", text)
        finding = ("scenario", "run", "caip-findings/finding-1.yaml", "--state", str(self.folder / "state"))
        code, text = self.caip(*finding)
        self.assertEqual(code, 1, text)
        self.assertIn("failed: first_step master-0 boot 2", text)
        (self.work / "train.py").write_text(REMEMBERING)
        code, text = self.caip(*finding)
        self.assertEqual(code, 0, text)
        self.assertNotIn("was not injected", text)

    def test_the_report_says_that_it_knows_no_steps(self):
        (self.work / "train.py").write_text("print('part one of two')\nopen('done', 'w').write('done')\n")
        text = self.assert_nothing_is_found("--", "python3", "train.py")
        self.assertIn("no steps recognized, only what the job stores is compared: describe the lines", text)
        text = self.assert_nothing_is_found("--step-regex", r"round (?P<step>\d+)", "--", "python3", "train.py")
        self.assertIn("only what the job stores is compared: --step-regex matches no line", text)

    def test_a_run_without_results_is_not_a_pass(self):
        (self.work / "train.py").write_text("print('hello')\n")
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 2, text)
        self.assertIn("Nothing could be compared", text)

    def test_a_trainer_that_fails_is_quoted(self):
        (self.work / "train.py").write_text("print('reading')\nimport no_such_module\n")
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 2, text)
        self.assertEqual(text.count("ModuleNotFoundError: No module named 'no_such_module'"), 1, text)
        self.assertNotIn("console.cloud.google.com", text)
        (self.work / "train.sh").write_text("echo reading\necho 'no file /data' >&2\nexit 3\n")
        code, text = self.explore("--", "sh", "train.sh")
        self.assertEqual(code, 2, text)
        self.assertIn("the last lines of master-0:\n  | reading\n  | no file /data\n", text)

    def test_the_trainer_has_the_environment_of_its_user(self):
        machines.need(CAIP)
        (self.work / "train.py").write_text(
            "import os\nassert os.environ['DATA'] == 'mine'\nassert 'TF_CONFIG' not in os.environ\n"
            "open('done', 'w').write('done')\nassert os.getcwd() == " + repr(str(self.work)) + "\n")
        os.environ["DATA"] = "mine"
        self.addCleanup(os.environ.pop, "DATA")
        self.assert_nothing_is_found("--", "python3", "train.py")

    def test_large_folders_are_refused_with_the_remedy(self):
        self.write(CAREFUL, out="'run'")
        with open(self.work / "data.bin", "wb") as file:
            file.truncate((1 << 30) + 1)
        code, text = self.explore("--", "python3", "train.py")
        self.assertEqual(code, 2, text)
        self.assertIn("--out-dir", text)

    def test_python_environments_and_histories_are_shown_but_not_copied(self):
        self.write(CAREFUL, out="'run'")
        for name in (".venv", ".git"):
            (self.work / name).mkdir()
        (self.work / ".venv" / "pyvenv.cfg").write_text("")
        with open(self.work / ".venv" / "large", "wb") as file:
            file.truncate((1 << 30) + 1)
        (self.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        with open(self.work / "train.py", "a") as file:
            file.write("assert os.path.exists('.venv/large') and os.path.exists('.git/HEAD')\n")
        self.assert_nothing_is_found("--", "python3", "train.py")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    CAIP = str(pathlib.Path(options.caip).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
