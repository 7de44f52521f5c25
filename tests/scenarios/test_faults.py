#!/usr/bin/env python3
"""Faults on real emulators, told by a trainer that met them, and what scenarios refuse or have to end.

Each scenario and its trainer are written into a folder of the test; the verdict is read as programs
read it (--json, --events).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAIP = None
PATIENCE = 60

HEAD = f"""
import http.client, json, os, signal, subprocess, sys, time, urllib.error, urllib.request
sys.path.insert(1, {str(ROOT / "scenarios" / "trainers" / "restarts")!r})
from console import flag, record, say
from storage import folder
BASE = os.environ["STORAGE_EMULATOR_HOST"]
JOB_API = os.environ["CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"]

def ask(url, method="GET", data=None):
    # status, body; of an answer that breaks off: what came, as a number below 0
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


def is_alive(process_id):
    try:
        status = pathlib.Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="caip-faults-")
        self.folder = pathlib.Path(directory.name)
        self.addCleanup(directory.cleanup)

    def scenario(self, trainer, rest):
        (self.folder / "trainer.py").write_text(HEAD + textwrap.dedent(trainer))
        file = self.folder / "scenario.yaml"
        file.write_text("description: A scenario of the test.\ntrainer: {command: [/usr/bin/python3, "
                        f"{self.folder / 'trainer.py'}]}}\n" + textwrap.dedent(rest))
        return file

    def run_scenario(self, file, *words):
        """Exit code, what was printed, the report, and the event list."""
        report, events = self.folder / "report.json", self.folder / "events.jsonl"
        for old in (report, events):
            old.unlink(missing_ok=True)
        done = subprocess.run([CAIP, "scenario", "run", str(file), "--state",
                               str(self.folder / "state"), "--json", str(report), "--events",
                               str(events), "--verbose", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        played = json.loads(report.read_text())["scenarios"][0] if report.exists() else None
        lines = [json.loads(line) for line in events.read_text().splitlines()] \
            if events.exists() else []
        return done.returncode, done.stdout, played, lines

    def play(self, trainer, rest, *words):
        """The lines that the trainer said, and the events; the scenario passes."""
        code, text, _, events = self.run_scenario(self.scenario(trainer, rest), *words)
        if code == 3:
            self.skipTest(text.strip().splitlines()[1].strip())
        self.assertEqual(code, 0, text)
        said = [event["message"] for event in events
                if event["kind"] == "log" and event["replica"] == "master-0"]
        return said, events


class Storage(Case):
    def test_an_answer_that_is_lost_leaves_the_object(self):
        said, _ = self.play(
            """
            say("told %d" % upload("written")[0])
            say("there %d" % download("written")[0])
            """, """
            faults:
              - storage_error: {status: 503}
                when: {after: {create: job/written}, replica: master-0}
            expect: {state: SUCCEEDED, writes: {job/written: 1}}
            """)
        self.assertEqual(said, ["told 503", "there 200"])

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

    def test_a_listing_is_as_it_was(self):
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

    def test_a_directory_refuses_with_an_errno(self):
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
              - api_error: {status: 500}
                when: {api: projects.jobs.get, nth: 3, replica: any}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, ["503 503", "429 429", "500 500", "200 None", "200"])

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

    def test_machines_have_their_time(self):
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

    def test_lines_are_lost_and_doubled_in_the_log(self):
        file = self.scenario("for line in ('one', 'two', 'three'): say('line ' + line)", """
            faults:
              - drop_log: {replica: master-0}
                when: {log: "^line one$"}
              - duplicate_log: {replica: master-0}
                when: {log: "^line two$"}
            expect:
              state: SUCCEEDED
              log: [{match: "line", replica: master-0, count: 3}]
            """)
        code, text, _, _ = self.run_scenario(file, "--keep")
        self.assertEqual(code, 0, text)
        kept = next(pathlib.Path(text.rpartition("kept: ")[2].strip()).glob("run-*"))
        log = subprocess.run([CAIP, "jobs", "stream-logs", "scenario", "--project", "scenario",
                              "--state", str(kept)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60).stdout
        subprocess.run([CAIP, "stop", "--state", str(kept)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
        said = [line.partition("line ")[2] for line in log.splitlines() if "line " in line]
        self.assertEqual(said, ["two", "two", "three"], log)


class Trainers(Case):
    """Those that behave badly. Whatever they do, the scenario ends, and nothing of them is left."""

    def broken_off(self, trainer, limits):
        code, text, played, _ = self.run_scenario(self.scenario(
            trainer, f"limits: {limits}\nexpect: {{state: SUCCEEDED}}\n"))
        self.assertEqual(code, 1, text)
        return next(a["found"] for a in played["assertions"] if a["name"] == "limits")

    def assert_ends(self, file):
        """The processes whose ids stand in the file."""
        self.assertTrue(file.exists(), "the trainer never came so far")
        for process_id in file.read_text().split():
            deadline = time.monotonic() + PATIENCE
            while is_alive(process_id):
                self.assertLess(time.monotonic(), deadline, f"process {process_id} is left")
                time.sleep(0.01)

    def test_one_that_never_ends(self):
        found = self.broken_off("step = 0\nwhile True:\n    step += 1\n    record(step)\n"
                                "    time.sleep(0.05)\n", "{wall: 2s}")
        self.assertIn("limits.wall: not over after 2.00s", found)

    def test_one_that_stands_still(self):
        found = self.broken_off("record(1)\ntime.sleep(600)\n", "{no_progress: 1s}")
        self.assertIn("limits.no_progress", found)

    def test_one_that_talks_without_end(self):
        found = self.broken_off("while True: say('and another thing')\n", "{log_lines: 500, no_progress: 60s}")
        self.assertIn("limits.log_lines: more than 500 lines", found)

    def test_one_that_leaves_children(self):
        told = self.folder / "told"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            sleep = ["sleep", "600"]
            children = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
            pathlib = {str(told)!r}
            open(pathlib, "w").write(" ".join(str(child.pid) for child in children))
            record(1)
            """, "expect: {state: SUCCEEDED, steps: {master-0: 1..1}}\n"))
        self.assertEqual(code, 0, text)
        self.assert_ends(told)

    def test_one_that_leaves_children_when_its_machine_goes(self):
        told = self.folder / "told"
        code, text, _, _ = self.run_scenario(self.scenario(
            f"""
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            open({str(told)!r}, "a").write(" %d" % child.pid)
            record(1)
            """, """
            faults:
              - kill: {replica: master-0}
                when: {step: 1}
            expect: {state: SUCCEEDED, restarts: {master-0: 1}}
            """))
        self.assertEqual(code, 0, text)
        self.assertEqual(len(told.read_text().split()), 2)
        self.assert_ends(told)

    def test_one_that_does_not_hear_sigterm(self):
        _, events = self.play(
            """
            signal.signal(signal.SIGTERM, lambda *_: say("heard, and went on"))
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
              log: [{match: "heard, and went on", replica: master-0, boot: 1, count: 1}]
            """)
        ends = [event for event in events if event["kind"] == "exit"]
        self.assertEqual([end.get("signal", 0) for end in ends], [9, 0])


class Mistakes(Case):
    """What a file says is judged before anything is run: exit code 2, with line, column and caret."""

    def refused(self, rest, trainer="record(1)\n"):
        file = self.scenario(trainer, rest)
        code, text, _, events = self.run_scenario(file)
        self.assertEqual(code, 2, text)
        self.assertEqual([e for e in events if e["kind"] == "start"], [])
        return text

    def test_all_mistakes_come_at_once(self):
        text = self.refused("""
            faults:
              - kil: {replica: master-0}
                when: {step: 1}
              - kill: {replica: boss-0}
                when: {steps: 1}
            expect: {state: SUCCEEDED, error_matches: "x", stat: FAILED}
            """)
        for words in ("did you mean 'kill'?", "is no replica", "did you mean 'step'?",
                      "did you mean 'state'?"):
            self.assertIn(words, text)
        self.assertIn("scenario.yaml:5:10", text)
        self.assertIn("^", text)

    def test_what_can_never_come_is_said(self):
        for rest, words in (
                ("kill: {replica: master-0}\n    when: {before: {rename: '*'}}", "can never come"),
                ("name: a\n    cancel: {}\n    when: {fault: a}", "waits for itself")):
            with self.subTest(words):
                self.assertIn(words, self.refused(f"faults:\n  - {rest}\n"))

    def test_a_trigger_that_does_not_come_fails_the_scenario(self):
        code, text, _, _ = self.run_scenario(self.scenario("record(1)\n", """
            faults:
              - kill: {replica: master-0}
                when: {step: 7}
            expect: {state: SUCCEEDED}
            """))
        self.assertEqual(code, 1, text)
        self.assertIn("never; its occasion came 0 times", text)



if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--caip", required=True)
    options, rest = parser.parse_known_args()
    CAIP = options.caip
    unittest.main(argv=[sys.argv[0], *rest])
