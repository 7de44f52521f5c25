#!/usr/bin/env python3
"""Faults of machines and their disks, as trainers see them."""

import os
import time

import scenario_case
import machines


class FullDisk(scenario_case.Case):
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


    def test_a_replica_that_fails_is_replaced_on_request(self):
        for more, expected in ((", replace: true", "state: SUCCEEDED, restarts: {master-0: 1}"),
                               ("", "state: FAILED, restarts: {master-0: 0}")):
            with self.subTest(expected):
                self.play("""
                    for step in range(1, 4):
                        with open(os.environ["HOME"] + "/cache", "wb") as cache:
                            cache.write(b"x" * 5000)
                        record(step)
                    """, f"""
                    faults:
                      - disk_full: {{replica: master-0{more}}}
                        when: {{step: 1}}
                    expect: {{{expected}}}
                    """)

class FullDiskOfAMachine(FullDisk):
    def setUp(self):
        super().setUp()
        machines.need(scenario_case.caip())
        self.configure(machines.ON_MACHINES)


class FullVolume(scenario_case.Case):
    """A directory of the job that is full for a while. Replicas are processes."""

    SAVES = """
        job = flag("job-dir")
        os.makedirs(job, exist_ok=True)

        def save(step):
            name = job + "/part-%d" % step
            try:
                with open(name, "wb") as part:
                    part.write(b"x" * 5000)
                return "saved"
            except OSError as error:
                return "%s, %d bytes" % (error.strerror, os.path.getsize(name))

        for step in range(1, 6):
            say("%d: %s" % (step, save(step)))
            record(step)
        """
    # Ends with an error at the step.
    FAILS_AT = """
        job = flag("job-dir")
        os.makedirs(job, exist_ok=True)
        for step in range(1, 6):
            if os.path.exists(job + "/part-%d" % step):
                continue
            with open(job + "/new", "wb") as part:
                part.write(b"x" * 5000)
            os.rename(job + "/new", job + "/part-%d" % step)
            record(step)
        """
    FAILS = FullDisk.FAILS

    def setUp(self):
        super().setUp()
        self.use_processes()

    def test_it_begins_in_the_middle_of_a_write_and_ends(self):
        for _ in range(2):  # at the same byte each time
            said, _ = self.play(self.SAVES, """
                semantics: posix
                faults:
                  - volume_full: {replica: master-0, until: {step: 4}}
                    when: {mid: {create: "*/part-2", bytes: 1000}}
                expect: {state: SUCCEEDED, steps: {master-0: 1..5}, restarts: {master-0: 0}}
                """)
            self.assertEqual(said, ["1: saved", f"2: {self.FAILS}, 1000 bytes",
                                    f"3: {self.FAILS}, 0 bytes", f"4: {self.FAILS}, 0 bytes", "5: saved"])

    def test_a_trainer_that_ends_with_an_error_starts_again_with_space(self):
        self.play(self.FAILS_AT, """
            semantics: posix
            faults:
              - volume_full: {replica: master-0}
                when: {step: 2}
            expect: {state: SUCCEEDED, steps: {master-0: 1..5}, restarts: {master-0: 1}}
            """)

    def test_an_error_after_it_is_an_error(self):
        self.play(self.FAILS_AT + """
            if step == 4:
                raise SystemExit("another reason")
        """, """
            semantics: posix
            faults:
              - volume_full: {replica: master-0, until: {step: 2}}
                when: {after: {rename: "*/new"}, nth: 2}
            expect: {state: FAILED, restarts: {master-0: 0}}
            """)

    def test_space_that_is_reserved_is_missing_too(self):
        said, _ = self.play("""
            job = flag("job-dir")
            os.makedirs(job, exist_ok=True)
            record(1)
            with open(job + "/part", "wb") as part:
                try:
                    os.posix_fallocate(part.fileno(), 0, 5000)
                except OSError as error:
                    say(error.strerror)
                os.truncate(job + "/part", 5000)
            say("%d bytes" % os.path.getsize(job + "/part"))
            """, """
            semantics: posix
            faults:
              - volume_full: {replica: master-0}
                when: {step: 1}
            expect: {state: SUCCEEDED}
            """)
        self.assertEqual(said, [self.FAILS, "5000 bytes"])


class OnMachines(scenario_case.Case):
    """Replicas that are machines with files of their own are held at the same places as processes."""

    def setUp(self):
        super().setUp()
        machines.need(scenario_case.caip())
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


if __name__ == "__main__":
    scenario_case.main()
