"""Trainers of scenarios/trainers/restarts: the fixed one survives what the broken one does not.

Only those of one replica, on a directory, killed at named places.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import namedtuple

from digits_source import REPOSITORY

TRAINERS = os.path.join(REPOSITORY, "scenarios", "trainers", "restarts")
INTERRUPTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interrupted.py")

# One start of the trainer: its records, its output, its exit status (negative: a signal).
Boot = namedtuple("Boot", "records output status")


class RestartTest(unittest.TestCase):
    """Runs a trainer; `kills` are the places where its first boots end."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="restarts-")
        self.addCleanup(shutil.rmtree, self.root)
        self.places = 0

    def play(self, trainer, *kills, objects=True, arguments=()):
        self.places += 1
        self.job = os.path.join(self.root, "job-%d" % self.places)
        boots = [self.boot(trainer, place, objects, arguments) for place in kills]
        for place, boot in zip(kills, boots):
            self.assertEqual(boot.status, -9, "%s was never reached:\n%s" % (place, boot.output))
        return boots + [self.boot(trainer, "nowhere", objects, arguments)]

    def boot(self, trainer, place, objects, arguments):
        path = os.path.join(TRAINERS, trainer + ".py")
        done = subprocess.run(
            [sys.executable, "-E", "-S", INTERRUPTED, path, place] + list(arguments)
            + ["--job-dir", self.job], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, universal_newlines=True, timeout=120,
            env=dict(os.environ, CAIP_OBJECTS="1" if objects else "",
                     CLOUD_ML_HP_METRIC_FILE=os.path.join(self.root, "disk", "output.metric")))
        lines = [line for line in done.stdout.split("\n") if line.startswith("{")]
        return Boot([json.loads(line) for line in lines], done.stdout, done.returncode)

    def first_step(self, boot):
        return boot.records[0]["step"] if boot.records else None

    def effective(self, boots):
        """The last record of each step."""
        return {record["step"]: record for boot in boots for record in boot.records}

    def names(self):
        found = (os.path.relpath(os.path.join(place, file), self.job)
                 for place, _, files in os.walk(self.job) for file in files)
        return sorted(found)

    def read(self, name):
        with open(os.path.join(self.job, name)) as file:
            return json.load(file)

    def assert_same_steps_as_twin(self, trainer, boots, **how):
        self.assertEqual(boots[-1].status, 0, boots[-1].output)
        self.assertEqual(self.effective(boots), self.effective(self.play(trainer, **how)))

    def assert_other_steps_than_twin(self, trainer, boots, **how):
        self.assertEqual(boots[-1].status, 0, boots[-1].output)
        self.assertNotEqual(self.effective(boots), self.effective(self.play(trainer, **how)))


class HalfACheckpoint(RestartTest):
    SWEEP = (("before create ckpt-20/weights", 11), ("before create ckpt-20/optim", 11),
             ("before create ckpt-20/state.json", 11), ("after create ckpt-20/state.json", 21))

    def test_fixed_resumes_from_the_last_complete_one_wherever_the_save_ends(self):
        for place, first in self.SWEEP:
            with self.subTest(place):
                boots = self.play("r01/fixed", place)
                self.assertEqual(self.first_step(boots[1]), first)
                self.assertIn("ckpt-20/state.json", self.names())
                self.assert_same_steps_as_twin("r01/fixed", boots)

    def test_broken_fails_at_the_incomplete_one_forever(self):
        for place, _ in self.SWEEP[1:3]:
            with self.subTest(place):
                boot = self.play("r01/broken", place)[1]
                self.assertEqual(boot.status, 1)
                self.assertIn("FileNotFoundError", boot.output)


class TemporaryName(RestartTest):
    SWEEP = (("before copy tmp_ckpt_30", True, 21), ("before delete tmp_ckpt_30", True, 31),
             ("before rename tmp_ckpt_30", False, 21))

    def test_fixed_never_restores_one_and_leaves_none(self):
        for place, objects, first in self.SWEEP:
            with self.subTest(place):
                boots = self.play("r02/fixed", place, objects=objects)
                self.assertEqual(self.first_step(boots[1]), first)
                self.assertEqual(self.names(), ["ckpt_10", "ckpt_20", "ckpt_30", "ckpt_40"])
                self.assert_same_steps_as_twin("r02/fixed", boots)

    def test_broken_restores_it(self):
        for place, objects, _ in self.SWEEP:
            with self.subTest(place):
                boot = self.play("r02/broken", place, objects=objects)[1]
                self.assertIn("restoring tmp_ckpt_30", boot.output)


class NewestByName(RestartTest):
    PLACE = "after create step-1000"

    def test_fixed_orders_by_number(self):
        boots = self.play("r03/fixed", self.PLACE)
        self.assertEqual(self.first_step(boots[1]), 1001)
        self.assertEqual(self.names(), ["step-1100", "step-1200"])

    def test_broken_goes_back_and_keeps_the_oldest(self):
        boots = self.play("r03/broken", self.PLACE)
        self.assertEqual(self.first_step(boots[1]), 901)
        self.assertEqual(self.names(), ["step-800", "step-900"])


class OneStepTooMany(RestartTest):
    SWEEP = (("after create epoch-0", 6), ('log "step": 9,', 8))

    def test_fixed_does_every_step_of_every_epoch(self):
        for place, first in self.SWEEP:
            with self.subTest(place):
                boots = self.play("r04/fixed", place)
                self.assertEqual(self.first_step(boots[1]), first)
                self.assertEqual(sorted(self.effective(boots)), list(range(1, 16)))
                self.assert_same_steps_as_twin("r04/fixed", boots)

    def test_broken_runs_an_epoch_again(self):
        for (place, _), last in zip(self.SWEEP, (20, 17)):
            with self.subTest(place):
                boots = self.play("r04/broken", place)
                self.assertEqual(sorted(self.effective(boots)), list(range(1, last + 1)))


class DataPosition(RestartTest):
    def ids(self, boots, epoch):
        return [sample for _, record in sorted(self.effective(boots).items())
                if record["epoch"] == epoch for sample in record["sample_ids"]]

    def test_fixed_sees_each_id_once_an_epoch_in_the_order_of_the_twin(self):
        for place in ("after create ckpt-2", "after create ckpt-3"):
            with self.subTest(place):
                boots = self.play("r05/fixed", place)
                for epoch in range(2):
                    self.assertEqual(sorted(self.ids(boots, epoch)), list(range(24)))
                self.assertNotEqual(self.ids(boots, 0), self.ids(boots, 1))
                self.assert_same_steps_as_twin("r05/fixed", boots)

    def test_broken_sees_twelve_ids_twice_in_an_epoch(self):
        ids = self.ids(self.play("r05/broken", "after create ckpt-2"), 0)
        self.assertEqual(sum(ids.count(sample) == 2 for sample in range(24)), 12)

    def test_broken_repeats_the_first_order_in_the_next_epoch(self):
        boots = self.play("r05/broken", "after create ckpt-3")
        self.assertEqual(self.ids(boots, 0), self.ids(boots, 1))


class LearningRate(RestartTest):
    PLACE = 'log "step": 23,'

    def test_fixed_restores_rate_and_momentum(self):
        boots = self.play("r06/fixed", self.PLACE)
        self.assertEqual(self.first_step(boots[1]), 21)
        self.assert_same_steps_as_twin("r06/fixed", boots)

    def test_broken_warms_up_again(self):
        boots = self.play("r06/broken", self.PLACE)
        self.assertEqual(boots[1].records[0]["lr"], 0.01)
        self.assert_other_steps_than_twin("r06/broken", boots)


class Patience(RestartTest):
    PLACE = "after create epoch-4"

    def test_fixed_stops_in_time_and_keeps_the_best(self):
        boots = self.play("r07/fixed", self.PLACE)
        self.assertEqual(sorted(self.effective(boots)), list(range(6)))
        self.assertEqual(self.read("best/model"), {"epoch": 2, "metric": .7})

    def test_broken_stops_late_and_overwrites_the_best(self):
        boots = self.play("r07/broken", self.PLACE)
        self.assertEqual(sorted(self.effective(boots)), list(range(9)))
        self.assertEqual(self.read("best/model"), {"epoch": 5, "metric": .67})


class WarmStart(RestartTest):
    def arguments(self):
        place = os.path.join(self.root, "init")
        with open(place, "w") as file:
            json.dump({"w": 100}, file)
        return ["--init-from=" + place]

    def test_fixed_applies_it_once(self):
        boots = self.play("r08/fixed", 'log "step": 25,', 'log "step": 35,',
                          arguments=self.arguments())
        firsts = [(boot.records[0]["step"], boot.records[0]["w"]) for boot in boots]
        self.assertEqual(firsts, [(1, 101), (21, 121), (31, 131)])
        self.assertEqual(boots[2].records[-1], {"step": 40, "w": 140})
        self.assertEqual(["starting from" in boot.output for boot in boots], [True, False, False])

    def test_broken_applies_it_at_each_start(self):
        boots = self.play("r08/broken", 'log "step": 25,', 'log "step": 35,',
                          arguments=self.arguments())
        self.assertEqual([self.first_step(boot) for boot in boots], [1, 1, 1])


class FinishLine(RestartTest):
    SWEEP = ("after create ckpt-40", "after create export/weights",
             "after create export/model.json", "after delete ckpt-10")

    def test_fixed_does_only_the_remaining_work(self):
        for place in self.SWEEP:
            with self.subTest(place):
                boots = self.play("r13/fixed", place)
                self.assertEqual((boots[1].status, boots[1].records), (0, []))
                self.assertEqual(self.names(), ["export/model.json", "export/weights"])
                self.assertEqual(self.read("export/model.json")["step"], 40)
                self.assert_same_steps_as_twin("r13/fixed", boots)

    def test_broken_continues_training(self):
        for place in self.SWEEP:
            with self.subTest(place):
                boots = self.play("r13/broken", place)
                self.assertEqual(self.first_step(boots[1]), 41)
                self.assertEqual(self.read("export/model.json")["step"], 60)


class Reports(RestartTest):
    def reported(self, trainer):
        """The steps that the service reads. It reads the file after each boot, and skips known lines."""
        seen, disk = set(), os.path.join(self.root, "disk")
        self.job = os.path.join(self.root, "job")
        for place in ('log "step": 37,', "nowhere"):
            self.boot(trainer, place, True, ())
            with open(os.path.join(disk, "output.metric")) as file:
                reports = [json.loads(line) for line in file]
            seen |= {(report["global_step"], report["timestamp"]) for report in reports}
            shutil.rmtree(disk)
        return sorted(step for step, _ in seen)

    def test_fixed_reports_each_step_once(self):
        self.assertEqual(self.reported("r14/fixed"), ["10", "20", "30", "40"])

    def test_broken_reports_a_step_twice(self):
        self.assertEqual(self.reported("r14/broken"), ["10", "20", "30", "30", "40"])


if __name__ == "__main__":
    unittest.main()
