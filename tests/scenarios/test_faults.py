#!/usr/bin/env python3
"""Faults on real emulators, as trainers see them; scenarios that are refused or stopped.

Each test writes a scenario and its trainer into a folder, and reads the verdict with --json and
--events.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import machines
import shared_modules
import small_disk

CAIP = None
PATIENCE = 60
LIMITS = "limits: {wall: 4m, no_progress: 2m}\n"

HEAD = """
import http.client, json, os, signal, subprocess, sys, time, urllib.error, urllib.request
from console import flag, record, say
from storage import folder
BASE = os.environ["STORAGE_EMULATOR_HOST"]
JOB_API = os.environ["CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"]

def ask(url, method="GET", data=None):
    # Returns status and body; for an answer that breaks off, minus the number of bytes received.
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except http.client.IncompleteRead as error:
        return -len(error.partial), error.partial

def upload(name, data=b"x"):
    return ask(BASE + "/upload/storage/v1/b/job/o?uploadType=media&name=" + name, "POST", data)

def download(name):
    return ask(BASE + "/storage/v1/b/job/o/" + name + "?alt=media")
"""


def processes_with(word):
    """The living processes of this host, also those of machines, that have this argument."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in entry.joinpath("cmdline").read_bytes().split(b"\0"):
                found.append(entry.name)
        except OSError:
            continue
    return found


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-faults-")
        self.folder = pathlib.Path(directory.name)
        self.addCleanup(directory.cleanup)

    def configure(self, text):
        (self.folder / "state").mkdir(exist_ok=True)
        (self.folder / "state" / "config.yaml").write_text(text)

    def use_processes(self):
        """For trainers that meet the test in files of this host, which machines do not share."""
        self.configure("isolation: process\n")

    def scenario(self, trainer, rest):
        """Writes a scenario. Limits are wide unless they are tested, because the host may be busy."""
        if "limits:" not in rest:
            rest = textwrap.dedent(rest) + "\n" + LIMITS
        (self.folder / "trainer.py").write_text(HEAD + textwrap.dedent(trainer))
        shared_modules.copy_to(self.folder)
        file = self.folder / "scenario.yaml"
        file.write_text("description: A scenario of the test.\ntrainer: {command: [/usr/bin/python3, "
                        f"{self.folder / 'trainer.py'}]}}\n" + textwrap.dedent(rest))
        return file

    def run_scenario(self, file, *words, environment=()):
        """Returns exit code, output, report and event list."""
        report, events = self.folder / "report.json", self.folder / "events.jsonl"
        for old in (report, events):
            old.unlink(missing_ok=True)
        done = subprocess.run([CAIP, "scenario", "run", str(file), "--state",
                               str(self.folder / "state"), "--json", str(report), "--events",
                               str(events), "--verbose", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300,
                              env=dict(os.environ, **dict(environment)))
        played = json.loads(report.read_text())["scenarios"][0] if report.exists() else None
        lines = [json.loads(line) for line in events.read_text().splitlines()] \
            if events.exists() else []
        return done.returncode, done.stdout, played, lines

    def play(self, trainer, rest, *words):
        """Plays a scenario that must pass; returns the trainer's lines and the events."""
        code, text, _, events = self.run_scenario(self.scenario(trainer, rest), *words)
        if code == 3:
            self.skipTest(text.strip().splitlines()[1].strip())
        self.assertEqual(code, 0, text)
        said = [event["message"] for event in events
                if event["kind"] == "log" and event["replica"] == "master-0"]
        return said, events


class Storage(Case):
    STATUSES = (403, 404, 408, 412, 429, 500, 502, 503, 504)

    def test_a_refused_operation_is_answered_with_the_given_status(self):
        faults = "".join(
            f"  - storage_error: {{status: {status}}}\n"
            f"    when: {{before: {{create: job/refused-{status}}}, replica: master-0}}\n"
            for status in self.STATUSES)
        said, _ = self.play(
            f"""
            for status in {self.STATUSES}:
                name = "refused-%d" % status
                code, body = upload(name)
                say("%d answered %d, download: %d" % (code, json.loads(body)["error"]["code"],
                                               download(name)[0]))
                say("again %d" % upload(name)[0])
            """, "faults:\n" + faults + "expect: {state: SUCCEEDED}\n")
        wanted = [line for status in self.STATUSES
                  for line in (f"{status} answered {status}, download: 404", "again 200")]
        self.assertEqual(said, wanted)

    def test_a_lost_answer_leaves_the_object(self):
        said, _ = self.play(
            """
            say("answered %d" % upload("written")[0])
            say("there %d" % download("written")[0])
            """, """
            faults:
              - storage_error: {status: 503}
                when: {after: {create: job/written}, replica: master-0}
            expect: {state: SUCCEEDED, writes: {job/written: 1}}
            """)
        self.assertEqual(said, ["answered 503", "there 200"])

    def test_a_download_breaks_after_so_many_bytes(self):
        said, _ = self.play(
            """
            upload("large", b"0123456789" * 20000)
            first, body = download("large")
            say("came %d, right: %s" % (-first, body == (b"0123456789" * 20000)[:len(body)]))
            status, body = download("large")
            say("came %d of status %d" % (len(body), status))
            """, """
            faults:
              - storage_error: {break_after: 1000}
                when: {before: {read: job/large}, replica: master-0}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["came 1000, right: True", "came 200000 of status 200"])

    def test_a_listing_is_stale(self):
        said, _ = self.play(
            """
            def names():
                items = json.loads(ask(BASE + "/storage/v1/b/job/o")[1]).get("items", [])
                return " ".join(item["name"] for item in items)
            for name in ("one", "two", "three"):
                upload(name)
                say(names())
            """, """
            faults:
              - storage_error: {stale_listing: true}
                when: {before: {list: "*"}, nth: 2, replica: master-0}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["one", "one", "one three two"])

    def test_operations_are_slow_one_by_one(self):
        said, _ = self.play(
            """
            for number in range(4):
                begin = time.monotonic()
                upload("slow-%d" % number)
                say("late" if time.monotonic() - begin >= 0.4 else "at once")
            """, """
            faults:
              - storage_error: {latency: 400ms}
                when: {before: {create: "*"}, nth: every 2, replica: master-0}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said[1::2], ["late", "late"])

    def test_a_directory_fails_with_an_errno(self):
        said, _ = self.play(
            """
            path = flag("job-dir") + "/thing"
            for _ in range(3):
                try:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    open(path, "w").close()
                    say("written")
                except OSError as error:
                    say(error.__class__.__name__ + " %d" % error.errno)
            """, """
            semantics: posix
            faults:
              - storage_error: {status: 503}
                when: {before: {create: "*/thing"}, replica: master-0}
              - storage_error: {status: 404}
                when: {before: {create: "*/thing"}, nth: 2, replica: master-0}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["OSError 5", "FileNotFoundError 2", "written"])

    # Each operation prints its result and the sizes of the files after it.
    IN_A_DIRECTORY = """
        path = flag("job-dir")
        os.makedirs(path, exist_ok=True)
        def attempt(act, *names):
            try:
                act()
                result = "well"
            except OSError as error:
                result = "error %d" % error.errno
            there = [os.path.getsize(f"{path}/{name}") if os.path.exists(f"{path}/{name}") else "none"
                     for name in names]
            say(" ".join(str(word) for word in [result, *there]))
        def write(name):
            with open(f"{path}/{name}", "w") as file:
                file.write("x" * 300)
        write("a")
        write("b")
        attempt(lambda: write("after"), "after")
        attempt(lambda: write("mid"), "mid")
        attempt(lambda: os.rename(f"{path}/a", f"{path}/moved"), "a", "moved")
        attempt(lambda: os.remove(f"{path}/b"), "b")
        attempt(lambda: open(f"{path}/moved"))
        attempt(lambda: os.listdir(path))
        attempt(lambda: write("mid"), "mid")
        attempt(lambda: write("after"), "after")
        """

    def test_in_a_directory_an_answer_is_lost_and_a_write_fails_half_way(self):
        file = self.scenario(self.IN_A_DIRECTORY, """
            semantics: posix
            faults:
              - storage_error: {status: 503}
                when: {after: {create: "*/after"}}
              - storage_error: {status: 503}
                when: {mid: {write: "*/mid", bytes: 100}}
              - storage_error: {status: 404}
                when: {after: {rename: "*"}}
              - storage_error: {status: 503}
                when: {after: {delete: "*/b"}}
              - storage_error: {status: 503}
                when: {after: {read: "*/moved"}}
              - storage_error: {status: 503}
                when: {after: {list: "*"}}
            """)
        for environment in ({}, {"CAIP_INTERPOSITION": "preload"}):
            with self.subTest(str(environment)):
                code, text, _, events = self.run_scenario(file, environment=environment)
                self.assertEqual(code, 0, text)
                said = [event["message"] for event in events
                        if event["kind"] == "log" and event["replica"] == "master-0"]
                self.assertEqual(said, ["error 5 300", "error 5 300", "error 2 none 300",
                                        "error 5 none", "error 5", "error 5", "well 300",
                                        "well 300"])

    def test_a_fault_that_no_client_sees_has_not_taken_effect(self):
        code, text, _, _ = self.run_scenario(self.scenario(
            """
            os.makedirs(flag("job-dir"), exist_ok=True)
            file = os.open(flag("job-dir") + "/a", os.O_CREAT | os.O_WRONLY)
            os._exit(0)
            """, """
            semantics: posix
            faults:
              - storage_error: {status: 503}
                when: {after: {create: "*/a"}}
            """))
        self.assertEqual(code, 1, text)
        self.assertIn("never; its trigger counted 1 events", text)


class Others(Case):
    def test_calls_of_the_job_api_are_refused(self):
        said, _ = self.play(
            """
            for _ in range(4):
                status, body = ask(JOB_API + "v1/projects/scenario/jobs/scenario")
                say("%d %s" % (status, json.loads(body).get("error", {}).get("code")))
            say("%d" % ask(JOB_API + "v1/projects/scenario/jobs")[0])
            """, """
            faults:
              - api_error: {status: 503}
                when: {api: projects.jobs.get, replica: any}
              - api_error: {status: 429}
                when: {api: projects.jobs.get, nth: 2, replica: any}
              - api_error: {status: 502}
                when: {api: projects.jobs.get, nth: 3, replica: any}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["503 503", "429 429", "502 502", "200 None", "200"])

    def test_a_clock_steps_forward_and_back(self):
        said, _ = self.play(
            """
            begin, ticks = time.time(), time.monotonic()
            def ahead():
                return round((time.time() - begin - (time.monotonic() - ticks)) / 60)
            record(1)
            say("ahead %d" % ahead())
            record(2)
            say("ahead %d" % ahead())
            """, """
            faults:
              - clock_step: {replica: master-0, by: 1h}
                when: {step: 1}
              - clock_step: {replica: master-0, by: -90m}
                when: {step: 2}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["ahead 60", "ahead -30"])

    def test_a_trainer_whose_clock_steps_can_sleep(self):
        said, _ = self.play(
            """
            begin, ticks = time.time(), time.monotonic()
            for step in range(1, 4):
                record(step)
                time.sleep(0.05)
            subprocess.run(["sleep", "0.05"], timeout=60, check=True)
            say("%d %d" % (round((time.time() - begin) / 60), (time.monotonic() - ticks) // 60))
            """, """
            faults:
              - clock_step: {replica: master-0, by: 1h}
                when: {step: 2}
            """)
        self.assertEqual(said, ["60 0"])

    def test_machines_have_a_lifetime(self):
        # By seed 6 the first machine lives for 0.3 seconds, and the second one for more than 7.
        _, events = self.play(
            "os.execvp('sleep', ['sleep', '3'])\n", """
            seed: 6
            mood: {vm_lifetime: 2s}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """)
        kinds = [(event["kind"], event.get("fault", "")) for event in events]
        self.assertEqual(kinds.count(("fault", "vm_lifetime")), 1)
        struck = kinds.index(("fault", "vm_lifetime"))
        ends = [event for event in events[struck:] if event["kind"] == "exit"]
        self.assertEqual(ends[0]["signal"], 9)

    def test_a_line_that_reports_a_step_triggers_log_faults(self):
        self.play(
            """
            job = folder(flag("job-dir"))
            for step in range(1, 12):
                print("step %d loss %.2f" % (step, 1 / step), flush=True)
            """, r"""
            steps: {regex: 'step (?P<step>\d+) loss (?P<loss>\S+)'}
            faults:
              - kill: {replica: master-0}
                when: {log: "step 9 "}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}, first_step: {master-0: {2: 1}}}
            """)

    def test_lines_are_lost_and_duplicated_in_the_log(self):
        file = self.scenario("for line in ('one', 'two', 'three'): say('line ' + line)\n"
                             "record(5, text='line five')\nrecord(6, text='line six')\n", """
            faults:
              - drop_log: {replica: master-0}
                when: {log: '"step": 5'}
              - duplicate_log: {replica: master-0}
                when: {log: '"step": 6'}
              - drop_log: {replica: master-0}
                when: {log: "^line one$"}
              - duplicate_log: {replica: master-0}
                when: {log: "^line two$"}
            expect:
              state: SUCCEEDED
              log: [{match: "line", replica: master-0, count: 5}]
            """)
        code, text, _, _ = self.run_scenario(file, "--keep")
        self.assertEqual(code, 0, text)
        kept = next(pathlib.Path(text.rpartition("kept: ")[2].strip()).glob("run-*"))
        log = subprocess.run([CAIP, "jobs", "stream-logs", "scenario", "--project", "scenario",
                              "--state", str(kept)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60).stdout
        subprocess.run([CAIP, "stop", "--state", str(kept)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
        said = [line.partition("line ")[2][:3] for line in log.splitlines() if "line " in line]
        self.assertEqual(said, ["two", "two", "thr", "six", "six"], log)


class Reports(Case):
    def run_words(self, *words):
        return subprocess.run([CAIP, "scenario", "run", *map(str, words), "--state",
                               str(self.folder / "state")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300)

    def test_a_notice_of_maintenance_gives_the_same_events_each_time(self):
        scenario = ROOT / "scenarios" / "service" / "maintenance_gives_notice.yaml"
        words = [CAIP, "scenario", "run", scenario, "--state", self.folder / "state", "--events"]
        runs = [subprocess.Popen([*words, self.folder / f"{i}.jsonl"], stdout=subprocess.DEVNULL)
                for i in range(8)]
        for run in runs:  # at once, so that they disturb each other
            self.assertEqual(run.wait(timeout=PATIENCE), 0)
        lists = set()
        for i in range(8):
            lines = (self.folder / f"{i}.jsonl").read_text().splitlines()[1:-1]
            events = [json.loads(line) for line in lines]
            lists.add(json.dumps([{**event, "time": ""} for event in events]))
        self.assertEqual(len(lists), 1, "\n\n".join(sorted(lists)))

    def test_a_failed_job_fails_its_scenario_with_the_reason(self):
        file = self.scenario("record(1)\nsys.exit('out of luck')\n", "limits: {wall: 1m}\n")
        code, text, played, _ = self.run_scenario(file)
        self.assertEqual(code, 1, text)
        self.assertIn("BROKEN  state: expected SUCCEEDED, found FAILED", text)
        self.assertIn("the job ended FAILED: ", text)
        self.assertIn("exited with a non-zero status of 1", played["error_message"])

    def test_files_in_a_command_are_looked_up_beside_the_scenario(self):
        (self.folder / "t.py").write_text("import sys\nprint(open(sys.argv[1]).read(), flush=True)\n")
        (self.folder / "data.txt").write_text("of the file")
        file = self.folder / "s.yaml"
        file.write_text("description: d\ntrainer: {command: [python3, t.py, data.txt]}\n"
                        "expect: {state: SUCCEEDED, log: [{match: of the file, count: 1}]}\n" + LIMITS)
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_event_lists_of_equal_names_do_not_replace_each_other(self):
        text = self.scenario("record(1)\n", "seed: 1\n").read_text()
        for name in ("a/x.yaml", "b/x.yaml", "b/y.yaml"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        done = self.run_words(self.folder / "a", self.folder / "b", "--events", self.folder / "ev")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted(file.name for file in (self.folder / "ev").iterdir()),
                         ["a-x.jsonl", "b-x.jsonl", "y.jsonl"])

    def test_unwritable_reports_are_refused_before_any_run(self):
        file = self.scenario("time.sleep(600)\n", "seed: 1\n")
        for flag in ("--junit", "--json", "--events"):
            done = self.run_words(file, flag, self.folder / "nope" / "x")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("cannot write", done.stderr)

    def test_a_report_is_printed(self):
        done = self.run_words(self.scenario("record(1)\n", "seed: 1\n"), "--json", "-")
        self.assertEqual(json.loads(done.stdout)["passed"], 1)
        self.assertIn("PASSED", done.stderr)

    def test_a_scenario_without_its_modules_is_skipped_by_name(self):
        file = self.scenario("record(1)\n", "needs: {modules: [json, caip_missing_module]}\n")
        done = self.run_words(file)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("NOT RUN", done.stdout)
        self.assertIn("lacks the modules: caip_missing_module", done.stdout)
        self.assertIn("0 passed, 0 failed, 1 not run", done.stdout)

    def test_the_modules_of_a_package_are_those_of_its_runtime_version(self):
        python = self.folder / "python" / "bin" / "python3"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parents[1]], check=True)
        settings = self.folder / "settings.yaml"
        settings.write_text(json.dumps({"runtimes": {"2.11": str(python)}}))
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        file = self.folder / "s.yaml"
        file.write_text("description: d\nneeds: {modules: [json, caip_missing_module]}\njob:\n"
                        "  submit: [--package-path, trainer, --module-name, trainer.task,\n"
                        "           --runtime-version, '2.11', --python-version, '3.7']\n")
        done = self.run_words(file, "--emulator-config", settings)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"'{python}' lacks the modules: caip_missing_module", done.stdout)

    def test_the_config_of_a_job_among_scenarios_is_called_that(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        self.scenario("record(1)\n", "seed: 1\n").rename(folder / "scenario.yaml")
        config = folder / "config.yaml"
        config.write_text("trainingInput: {scaleTier: BASIC}\n")
        named = self.run_words(config)
        self.assertEqual(named.returncode, 2, named.stdout + named.stderr)
        self.assertIn("is the config of a job", named.stdout)
        both = self.run_words(folder)
        self.assertEqual(both.returncode, 0, both.stdout + both.stderr)
        self.assertIn("1 passed, 0 failed, 1 not run", both.stdout)

    def test_an_interruption_reports_scenarios_that_did_not_run(self):
        self.use_processes()
        began = self.folder / "began"
        file = self.scenario(f"open({str(began)!r}, 'w').close()\ntime.sleep(600)\n",
                             "limits: {wall: 1h, no_progress: 1h}\n")
        report, junit = self.folder / "r.json", self.folder / "r.xml"
        process = subprocess.Popen([CAIP, "scenario", "run", str(file), str(file), "--jobs", "1",
                                    "--state", str(self.folder / "state"), "--json", str(report),
                                    "--junit", str(junit)], stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE
        while not began.exists():
            self.assertLess(time.monotonic(), deadline, "the trainer never began")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("(interrupted)", text)
        self.assertIn("(not started)", text)
        self.assertIn("0 passed, 0 failed, 2 not run", text)
        self.assertNotIn("BROKEN", text)
        played = json.loads(report.read_text())
        self.assertEqual([one["not_run"] for one in played["scenarios"]],
                         ["interrupted", "not started"])
        self.assertEqual(junit.read_text().count("<skipped"), 2)


class HeldByALibrary(Case):
    """With LD_PRELOAD instead of the kernel, a Python trainer has the same event list."""

    BY_LIBRARY = {"CAIP_INTERPOSITION": "preload"}

    def events_of(self, file, environment):
        code, text, _, events = self.run_scenario(file, environment=environment)
        self.assertEqual(code, 0, text)
        for event in events:
            for field in ("time", "address"):
                event.pop(field, None)
        return events

    def test_the_event_list_is_the_same(self):
        restarts = ROOT / "scenarios" / "restarts"
        for name in ("r02_posix_before_rename_fixed", "r02_posix_in_mid_write_broken",
                     "r03_newest_by_name_posix_fixed", "r06_schedule_fixed"):
            with self.subTest(name):
                file = self.folder / f"{name}.yaml"
                file.write_text(f"extends: {restarts / name}.yaml\n" + LIMITS)
                by_kernel = self.events_of(file, {})
                self.assertGreater(len([e for e in by_kernel if e["kind"] == "storage"]), 5)
                self.assertEqual(self.events_of(file, self.BY_LIBRARY), by_kernel)

    def test_it_holds_processes_only(self):
        file = self.scenario("record(1)\n", "expect: {state: SUCCEEDED}")
        code, text, _, _ = self.run_scenario(file, environment=self.BY_LIBRARY)
        self.assertEqual(code, 0, text)
        self.assertIn("Replicas are processes of this host", text)
        self.assertIn("CAIP_INTERPOSITION=preload asks for it", text)
        self.configure(machines.ON_MACHINES)
        code, text, _, _ = self.run_scenario(file, environment=self.BY_LIBRARY)
        self.assertEqual(code, 1, text)
        self.assertIn("by seccomp notification only", text)

    def test_a_static_program_is_refused_if_it_must_be_held(self):
        static = pathlib.Path(CAIP).parent / "caip-launcher"
        if b"/ld-linux" in static.read_bytes()[:4096]:
            self.skipTest("no static program: a build with sanitizers links none")
        file = self.folder / "scenario.yaml"
        for semantics, code in (("posix", 3), ("object", 1)):
            file.write_text(f"description: d\nsemantics: {semantics}\n"
                            f"trainer: {{command: [{static}]}}\nexpect: {{state: SUCCEEDED}}\n")
            done, text, _, _ = self.run_scenario(file, environment=self.BY_LIBRARY)
            self.assertEqual(done, code, text)
            self.assertEqual("is linked statically" in text, code == 3, text)

    def test_the_doctor_reports_how_replicas_are_held(self):
        said = {}
        for name, environment in (("kernel", {}), ("library", self.BY_LIBRARY)):
            said[name] = subprocess.run([CAIP, "doctor"], stdout=subprocess.PIPE, text=True,
                                        timeout=120, env=dict(os.environ, **environment)).stdout
        self.assertIn("by LD_PRELOAD", said["library"])
        self.assertNotIn("by LD_PRELOAD", said["kernel"])


class FullDisk(Case):
    """The disk of a replica that is full for a while. Replicas are processes."""

    SAVES = """
        def save(step):
            name = os.environ["HOME"] + "/cache-%d" % step
            try:
                with open(name, "wb") as cache:
                    cache.write(b"x" * 5000)
                return "saved"
            except OSError as error:
                return "%s, %d bytes" % (error.strerror, os.path.getsize(name))

        for step in range(1, 6):
            say("%d: %s" % (step, save(step)))
            record(step)
        """
    FAILS = "No space left on device"

    def setUp(self):
        super().setUp()
        self.use_processes()

    def test_it_begins_in_the_middle_of_a_write_and_ends(self):
        for _ in range(2):  # at the same byte each time
            said, _ = self.play(self.SAVES, """
                faults:
                  - disk_full: {replica: master-0, until: {step: 4}}
                    when: {mid: {create: "disk:root/cache-2", bytes: 1000}}
                expect: {state: SUCCEEDED, steps: {master-0: 1..5}}
                """)
            self.assertEqual(said, ["1: saved", f"2: {self.FAILS}, 1000 bytes",
                                    f"3: {self.FAILS}, 0 bytes", f"4: {self.FAILS}, 0 bytes", "5: saved"])

    def test_storage_is_not_on_the_disk(self):
        for semantics in ("object", "posix"):
            with self.subTest(semantics):
                self.play(
                    """
                    record(1)
                    folder(flag("job-dir")).put("result", {"step": 1})
                    """, f"""
                    semantics: {semantics}
                    faults:
                      - disk_full: {{replica: master-0}}
                        when: {{step: 1}}
                    expect: {{state: SUCCEEDED, objects: {{present: ["*/result"]}}}}
                    """)

    def test_a_new_machine_has_space(self):
        said, _ = self.play(self.SAVES, """
            faults:
              - disk_full: {replica: master-0}
                when: {step: 1}
              - kill: {replica: master-0}
                when: {step: 2}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """)
        self.assertEqual(said[:3], ["1: saved", f"2: {self.FAILS}, 0 bytes", "1: saved"])


class FullDiskOfAMachine(FullDisk):
    def setUp(self):
        super().setUp()
        machines.need(CAIP)
        self.configure(machines.ON_MACHINES)


class OnMachines(Case):
    """Replicas that are machines with files of their own are held at the same places as processes."""

    def setUp(self):
        super().setUp()
        machines.need(CAIP)
        self.configure(machines.ON_MACHINES)

    def test_a_lost_machine_has_a_new_disk(self):
        said, _ = self.play(
            """
            say("process %d, %s" % (os.getpid(), os.path.exists("/tmp/scratch")))
            open("/tmp/scratch", "w").write("x")
            upload("saved")
            record(1)
            """, """
            faults:
              - kill: {replica: master-0}
                when: {after: {create: job/saved}, replica: master-0}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """)
        self.assertEqual([line for line in said if line.startswith("process")],
                         ["process 2, False", "process 2, False"])

    def test_a_write_to_the_disk_is_cut_and_the_disk_is_kept(self):
        said, events = self.play(
            """
            if os.path.exists("/root/cache"):
                say("found %d bytes" % os.path.getsize("/root/cache"))
            else:
                open("/root/cache", "wb", 0).write(b"x" * 5000)
            record(1)
            """, """
            faults:
              - crash: {replica: master-0}
                when: {mid: {create: "disk:root/cache", bytes: 1234}}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """)
        self.assertIn("found 1234 bytes", said)
        self.assertIn("disk:root/cache", str(events))

    def test_a_bucket_that_is_a_directory_is_watched(self):
        said, events = self.play(
            """
            job = flag("job-dir")
            os.makedirs(job, exist_ok=True)
            if os.path.exists(job + "/part"):
                say("found %d bytes" % os.path.getsize(job + "/part"))
            with open(job + "/part", "wb", 0) as part:
                part.write(b"x" * 5000)
            os.rename(job + "/part", job + "/whole")
            record(1)
            """, """
            semantics: posix
            faults:
              - kill: {replica: master-0}
                when: {mid: {create: "*/part", bytes: 77}}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """)
        self.assertIn("found 77 bytes", said)
        self.assertIn("rename", [event.get("op") for event in events if event["kind"] == "storage"])

    def test_a_replica_hangs_and_goes_on(self):
        self.play(
            """
            for step in range(1, 4):
                record(step)
                upload("step-%d" % step)
            """, """
            faults:
              - hang: {replica: master-0, for: 2s}
                when: {step: 2}
            expect: {state: SUCCEEDED, steps: {master-0: 1..3}}
            """)

    def test_a_clock_steps(self):
        said, _ = self.play(
            """
            before = time.time()
            record(1)
            say("stepped %d hours" % round((time.time() - before) / 3600))
            """, """
            needs: [libfaketime]
            faults:
              - clock_step: {replica: master-0, by: 2h}
                when: {step: 1}
            expect: {state: SUCCEEDED}
            """)
        self.assertIn("stepped 2 hours", said)


class Trainers(Case):
    """Trainers that misbehave. The scenario always ends, and no process is left."""

    def stopped(self, trainer, limits):
        code, text, played, _ = self.run_scenario(self.scenario(
            trainer, f"limits: {limits}\nexpect: {{state: SUCCEEDED}}\n"))
        self.assertEqual(code, 1, text)
        return next(a["found"] for a in played["assertions"] if a["name"] == "limits")

    def assert_ends(self, word):
        """Waits for the end of the processes with this argument."""
        deadline = time.monotonic() + PATIENCE
        while left := processes_with(word):
            self.assertLess(time.monotonic(), deadline, f"processes {left} are left")
            time.sleep(0.01)

    def test_one_that_never_ends(self):
        found = self.stopped("step = 0\nwhile True:\n    step += 1\n    record(step)\n"
                             "    time.sleep(0.05)\n", "{wall: 2s}")
        self.assertIn("limits.wall: the job did not end within 2.00s", found)

    def test_one_that_makes_no_progress(self):
        found = self.stopped("record(1)\ntime.sleep(600)\n", "{no_progress: 1s}")
        self.assertIn("limits.no_progress", found)

    def test_one_that_logs_without_end(self):
        found = self.stopped("while True: say('and another thing')\n",
                             "{log_lines: 500, no_progress: 60s}")
        self.assertIn("limits.log_lines: more than 500 lines", found)

    def test_one_that_leaves_children(self):
        time_of_child = f"600.{os.getpid()}1"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            sleep = ["sleep", {time_of_child!r}]
            children = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
            record(1)
            """, "expect: {state: SUCCEEDED, steps: {master-0: 1..1}}\n"))
        self.assertEqual(code, 0, text)
        self.assert_ends(time_of_child)

    def test_one_that_leaves_children_when_its_machine_is_lost(self):
        time_of_child = f"600.{os.getpid()}2"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            child = subprocess.Popen(["sleep", {time_of_child!r}], start_new_session=True)
            record(1)
            """, """
            faults:
              - kill: {replica: master-0}
                when: {step: 1}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """))
        self.assertEqual(code, 0, text)
        self.assert_ends(time_of_child)

    def test_one_that_ignores_sigterm(self):
        _, events = self.play(
            """
            signal.signal(signal.SIGTERM, lambda *_: say("received, and ignored"))
            job = folder(flag("job-dir"))
            first = not job.list("mark")
            job.put("mark", {})
            record(1)
            while first:
                time.sleep(0.02)
            """, """
            limits: {grace: 1s, no_progress: 20s}
            faults:
              - maintenance: {replica: master-0}
                when: {step: 1}
            expect:
              state: SUCCEEDED
              restarts: {master-0: 1}
              log: [{match: "received, and ignored", replica: master-0, boot: 1, count: 1}]
            """)
        ends = [event for event in events if event["kind"] == "exit"]
        self.assertEqual([end.get("signal", 0) for end in ends], [9, 0])


class Mistakes(Case):
    """Mistakes in a file are reported before any run: exit code 2, with line, column and caret."""

    def refused(self, rest, trainer="record(1)\n"):
        file = self.scenario(trainer, rest)
        code, text, _, events = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertEqual([e for e in events if e["kind"] == "start"], [])
        return text

    def test_all_mistakes_are_reported_at_once(self):
        text = self.refused("""
            faults:
              - kil: {replica: master-0}
                when: {step: 1}
              - kill: {replica: boss-0}
                when: {steps: 1}
              - kill: {replica: worker-7}
                when: {step: 1}
            expect: {state: SUCCEEDED, error_matches: "x", stat: FAILED}
            """)
        for words in ("did you mean 'kill'?", "is not a valid replica", "did you mean 'step'?",
                      "did you mean 'state'?"):
            self.assertIn(words, text)
        self.assertIn("scenario.yaml:5:10", text)
        self.assertIn("^", text)

    def test_impossible_triggers_are_reported(self):
        for rest, words in (
                ("kill: {replica: worker-7}\n    when: {step: 1}", "the job has no worker-7"),
                ("kill: {replica: master-0}\n    when: {before: {rename: '*'}}", "can never happen"),
                ("cancel: {}\n    when: {api: projects.jobs.gett}", "did you mean"),
                ("name: a\n    cancel: {}\n    when: {fault: a}", "waits for itself")):
            with self.subTest(words):
                self.assertIn(words, self.refused(f"faults:\n  - {rest}\n"))

    def test_a_replica_that_the_submitted_job_does_not_have(self):
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "task.py").write_text("print('hello')\n")
        file = self.folder / "scenario.yaml"
        file.write_text(
            "description: d\njob: {submit: [--package-path, trainer, --module-name, trainer.task, "
            "--runtime-version, '2.11', --python-version, '3.7']}\nfaults:\n"
            "  - kill: {replica: worker-7}\n    when: {step: 1}\nexpect: {state: SUCCEEDED}\n")
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertIn("the job has no worker-7; it has master-0", text)

    def test_args_beside_submit_reach_the_trainer(self):
        package = self.folder / "trainer"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "task.py").write_text(
            "import sys\nsys.exit(0 if sys.argv[1:4] == ['--a=1', '--b', '2'] else 3)\n")
        file = self.folder / "scenario.yaml"
        file.write_text(
            "description: d\njob:\n  submit: [--package-path, trainer, --module-name, trainer.task, "
            "--runtime-version, '2.11', --python-version, '3.7', --, --a=1]\n  args: [--b, '2']\n"
            "expect: {state: SUCCEEDED}\n" + LIMITS)
        code, text, _, _ = self.run_scenario(file)
        self.assertEqual(code, 0, text)

    def test_a_trigger_that_never_occurs_fails_the_scenario(self):
        code, text, _, _ = self.run_scenario(self.scenario("record(1)\n", """
            faults:
              - kill: {replica: master-0}
                when: {step: 7}
            expect: {state: SUCCEEDED}
            """))
        self.assertEqual(code, 1, text)
        self.assertIn("never; its trigger counted 0 events", text)

    def test_a_full_disk_is_a_failure_of_the_host(self):
        state = self.folder / "state"
        state.mkdir()
        small = small_disk.prefix(state, "6m")
        for semantics, write in (("object", "upload('large', b'x' * 20_000_000)"),
                                 ("posix", "os.makedirs(flag('job-dir'), exist_ok=True)\n"
                                           "open(flag('job-dir') + '/large', 'wb')"
                                           ".write(b'x' * 20_000_000)")):
            with self.subTest(semantics):
                file = self.scenario(write + "\n",
                                     f"semantics: {semantics}\nexpect: {{state: SUCCEEDED}}\n"
                                     # The limits are so wide that only the full disk ends the run.
                                     "limits: {wall: 1h, no_progress: 1h}\n")
                done = subprocess.run(
                    [*small, CAIP, "scenario", "run", str(file), "--state", str(state)],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("The disk is full", done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    CAIP = options.caip
    unittest.main(argv=[sys.argv[0], *rest])
