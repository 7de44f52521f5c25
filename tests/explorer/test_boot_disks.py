#!/usr/bin/env python3
"""`--faults full-disk`: no space is left on the disk of a replica's machine. Real processes; none may be left."""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import explorer_case
import json_schema
import machines
import trainers

# Collects each result in a file of its own disk, and uploads that file. {otherwise}: what it does without space.
COLLECTS_LOCALLY = """
part = os.environ["TMPDIR"] + "/part"
step = newest()
while step < 4:
    step += 1
    record(step)
    if step % 2 == 0:
        try:
            with open(part, "w") as file:
                file.write("%d" % step * 100)
        except OSError:
            {otherwise}
        job.put("part-%02d" % step, {{"step": step, "text": open(part).read()}})
        job.put("ckpt-%02d" % step, {{"step": step}})
"""
# The worker collects, and the master waits for all its parts.
CLUSTER = """
role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
if role == "master":
    while not job.list("part-04"):
        time.sleep(0.02)
    with open(os.environ["TMPDIR"] + "/notes", "w") as notes:
        notes.write("all parts exist")
    raise SystemExit(0)
"""
ROLES = ("job:\n  config: {scaleTier: CUSTOM, masterType: n1-standard-4, workerCount: 1, "
         "workerType: n1-standard-4}\n")


class FullBootDisks(explorer_case.ExplorerCase):
    """Replicas are machines."""

    FULL = "no space is left on its disk after "

    def setUp(self):
        super().setUp()
        machines.need(explorer_case.caip())
        self.configure(machines.ON_MACHINES)

    def write(self, otherwise, begin="", extra=trainers.LIMITS):
        return trainers.write(self.folder, begin + COLLECTS_LOCALLY.format(otherwise=otherwise), extra)

    def explore_full(self, file, *words, out="out"):
        return self.explore(file, "--no-pairs", "--faults", "full-disk", *words, out=out)

    def full_disks(self, out="out"):
        """For each full disk that was tried, whether a flaw was found."""
        return {point: flawed for point, flawed in self.verdicts(out).items() if ", its disk is full" in point}

    def test_a_failed_write_that_the_trainer_ignores_is_found(self):
        file = self.write("pass")
        code, text = self.explore(file, "--no-pairs")
        self.assertEqual(code, 0, text)
        report = self.folder / "found.json"
        code, text = self.explore_full(file, "--json", str(report))
        self.assertEqual(code, 1, text)
        self.assertIn(self.FULL, text)
        self.assertIn("job/out/part-02", text)
        schema = json.loads((trainers.ROOT / "docs" / "explore-report.schema.json").read_text())
        found = json.loads(report.read_text())
        self.assertEqual(list(json_schema.misfits(found, schema)), [])
        self.assertEqual({finding["interruption"] for finding in found["findings"]}, {"full_disk"})
        self.assertIn("disk_full: {replica: master-0, replace: true}\n    if_reached: true\n    when: {mid: {",
                      self.findings()[0])
        played = self.play(self.folder / "out" / "finding-1.yaml")
        self.assertFalse(played["passed"])
        self.assertEqual([len(fault["struck_at"]) for fault in played["faults"]], [1])
        self.write("raise")
        self.assertTrue(self.play(self.folder / "out" / "finding-1.yaml")["passed"])
        self.assert_nothing_is_left()

    def test_a_trainer_that_ends_with_the_error_starts_again_on_a_new_machine(self):
        code, text = self.explore_full(self.write("raise"))
        self.assertEqual(code, 0, text)
        self.assertGreaterEqual(len(self.full_disks()), 2, text)  # of both parts
        self.assertFalse(any(self.full_disks().values()))

    def test_the_disk_of_each_replica_is_filled(self):
        file = self.write("pass", begin=CLUSTER, extra=ROLES + trainers.LIMITS)
        code, text = self.explore_full(file, "--max-points", "40")
        self.assertEqual(code, 1, text)
        tried = self.full_disks()
        for replica in ("master-0", "worker-0"):
            self.assertTrue([point for point in tried if f" by {replica}, " in point], tried)
        self.assertTrue(any(flawed for point, flawed in tried.items() if "worker-0" in point), tried)

    def test_the_same_disks_are_filled_in_each_exploration(self):
        file = self.write("pass")
        for out in ("first", "second"):
            self.explore_full(file, out=out)
        self.assertEqual(self.full_disks("first"), self.full_disks("second"))
        self.assertTrue(any(self.full_disks("first").values()))

    def test_a_job_that_writes_no_file_has_no_disk_to_fill(self):
        code, text = self.explore_full(trainers.write(self.folder, trainers.SOUND))
        self.assertEqual(code, 2, text)
        self.assertIn("A bucket is never full", text)


class FullDirectories(FullBootDisks):
    """Replicas are processes. Their disk has their home directory and their temporary files."""

    def setUp(self):
        explorer_case.ExplorerCase.setUp(self)
        self.use_processes()


if __name__ == "__main__":
    explorer_case.main()
