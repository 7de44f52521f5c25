#!/usr/bin/env python3
"""Faults of storage, of the job API, of clocks and of logs, as trainers see them."""

import json
import os
import pathlib
import subprocess
import time

import scenario_case
import machines


class Storage(scenario_case.Case):
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


class Others(scenario_case.Case):
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
            """
            boot = os.environ["CAIP_REPLICA"].split("/")[-1]
            time.sleep(60 if boot == "1" else 0)
            """, """
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
        log = subprocess.run([scenario_case.caip(), "jobs", "stream-logs", "scenario", "--project", "scenario",
                              "--state", str(kept)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60).stdout
        subprocess.run([scenario_case.caip(), "stop", "--state", str(kept)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
        said = [line.partition("line ")[2][:3] for line in log.splitlines() if "line " in line]
        self.assertEqual(said, ["two", "two", "thr", "six", "six"], log)


class HeldByALibrary(scenario_case.Case):
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
        restarts = scenario_case.ROOT / "scenarios" / "restarts"
        for name in ("r02_posix_before_rename_fixed", "r02_posix_in_mid_write_broken",
                     "r03_newest_by_name_posix_fixed", "r06_schedule_fixed"):
            with self.subTest(name):
                file = self.folder / f"{name}.yaml"
                file.write_text(f"extends: {restarts / name}.yaml\n" + scenario_case.LIMITS)
                by_kernel = self.events_of(file, {})
                self.assertGreater(len([e for e in by_kernel if e["kind"] == "storage"]), 5)
                self.assertEqual(self.events_of(file, self.BY_LIBRARY), by_kernel)

    def test_it_holds_processes_and_machines(self):
        source = scenario_case.ROOT / "scenarios" / "restarts" / "r02_posix_before_rename_fixed.yaml"
        file = self.folder / "held.yaml"
        file.write_text(f"extends: {source}\n" + scenario_case.LIMITS)
        self.use_processes()
        self.assertEqual(self.events_of(file, self.BY_LIBRARY), self.events_of(file, {}))
        machines.need(scenario_case.caip())
        self.configure(machines.ON_MACHINES)
        self.assertEqual(self.events_of(file, self.BY_LIBRARY), self.events_of(file, {}))

    def test_a_static_program_is_refused_if_it_must_be_held(self):
        static = pathlib.Path(scenario_case.caip()).parent / "caip-launcher"
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
            said[name] = subprocess.run([scenario_case.caip(), "doctor"], stdout=subprocess.PIPE, text=True,
                                        timeout=120, env=dict(os.environ, **environment)).stdout
        self.assertIn("by LD_PRELOAD", said["library"])
        self.assertNotIn("by LD_PRELOAD", said["kernel"])


if __name__ == "__main__":
    scenario_case.main()
