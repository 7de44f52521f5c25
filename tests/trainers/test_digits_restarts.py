"""The digits trainer as a cluster of processes, whose replicas are killed during training."""
import json
import os
import shutil
import tempfile
import unittest

from digits_source import DATA
from fake_bucket import FakeBucket
from replica_processes import Replicas

STEPS = 300
FLAGS = ["--steps", str(STEPS), "--checkpoint-every", "50"]


class RestartTest(unittest.TestCase):
    def cluster(self, *args, **kwargs):
        folder = tempfile.mkdtemp(prefix="digits-")
        self.addCleanup(shutil.rmtree, folder)
        replicas = Replicas(folder, *args, **kwargs)
        self.addCleanup(replicas.stop)
        return replicas

    def assert_finished(self, replicas):
        statuses = replicas.await_all()
        self.assertEqual(set(statuses.values()), {0}, "%s\n%s" % (statuses, replicas.logs()))
        metrics = replicas.read_json("model/metrics.json")
        self.assertEqual(metrics["steps"], STEPS)
        self.assertGreater(metrics["accuracy"], 0.9)
        self.assertEqual(replicas.read_json("model/model.json")["metrics"], metrics)
        self.assertEqual(sorted(os.listdir(os.path.join(replicas.job_dir, "checkpoints"))),
                         ["ckpt-200", "ckpt-250", "ckpt-300"])

    def full_cluster(self):
        replicas = self.cluster(FLAGS, workers=2, servers=2)
        replicas.start_all(evaluators=1)
        return replicas

    def test_trains_without_any_restart_and_evaluates_the_last_checkpoint(self):
        replicas = self.full_cluster()
        self.assert_finished(replicas)
        self.assertEqual(replicas.read_json("eval/%d.json" % STEPS)["accuracy"],
                         replicas.read_json("model/metrics.json")["accuracy"])
        self.assertIn("steps done here", replicas.log("worker", 0))
        self.assertIn("steps done here", replicas.log("worker", 1))

    def test_a_restarted_master_resumes_from_the_newest_checkpoint(self):
        replicas = self.full_cluster()
        replicas.await_line("^checkpoint 100 written", "chief")
        replicas.kill("chief")
        replicas.await_line("waiting for the chief", "worker", 0)
        replicas.start("chief")
        self.assert_finished(replicas)
        self.assertRegex(replicas.log("chief"), r"restored checkpoint 1[05]0 ")

    def test_a_restarted_worker_continues(self):
        replicas = self.full_cluster()
        replicas.await_line("^50 steps done here", "worker", 1)
        replicas.kill("worker", 1)
        replicas.start("worker", 1)
        self.assert_finished(replicas)
        self.assertNotIn("restored", replicas.log("chief"))

    def test_a_restarted_parameter_server_is_filled_from_the_newest_checkpoint(self):
        replicas = self.full_cluster()
        replicas.await_line("^checkpoint 100 written", "chief")
        replicas.kill("ps", 1)
        replicas.start("ps", 1)
        self.assert_finished(replicas)
        self.assertRegex(replicas.log("chief"), r"lost its values.*\n(.*\n)*restored checkpoint")
        self.assertIn("shard 1 filled", replicas.log("ps", 1))

    def test_a_restarted_evaluator_evaluates_no_checkpoint_twice(self):
        replicas = self.full_cluster()
        replicas.await_line('"step": 50', "evaluator")
        replicas.kill("evaluator")
        replicas.start("evaluator")
        self.assert_finished(replicas)
        self.assertNotIn('"step": 50}', replicas.log("evaluator"))
        self.assertIn('"step": 300', replicas.log("evaluator"))

    def test_everything_except_the_storage_may_be_lost_at_once(self):
        replicas = self.full_cluster()
        replicas.await_line("^checkpoint 50 written", "chief")
        for role, index in [("chief", 0), ("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]:
            replicas.kill(role, index)
        replicas.start_all()
        self.assert_finished(replicas)
        self.assertIn("restored checkpoint", replicas.log("chief"))

    def test_data_and_results_may_be_in_a_bucket_that_sometimes_fails(self):
        bucket = FakeBucket()
        self.addCleanup(bucket.close)
        with open(DATA, "rb") as file:
            bucket.objects[("bucket", "digits.csv.gz")] = file.read()
        replicas = self.cluster(FLAGS, workers=1, servers=1)
        replicas.job_dir, replicas.storage = "gs://bucket/job", bucket.address
        replicas.data = "gs://bucket/digits.csv.gz"
        bucket.faults = [503, None, 429]
        replicas.start_all(evaluators=1)
        replicas.await_line("^checkpoint 50 written", "chief")
        bucket.faults = [503, 503]
        replicas.kill("chief")
        replicas.start("chief")
        statuses = replicas.await_all()
        self.assertEqual(set(statuses.values()), {0}, "%s\n%s" % (statuses, replicas.logs()))
        names = [name for _, name in bucket.objects]
        self.assertIn("job/checkpoints/ckpt-300/manifest.json", names)
        self.assertIn("job/eval/300.json", names)
        metrics = json.loads(bucket.objects[("bucket", "job/model/metrics.json")].decode())
        self.assertEqual(metrics["steps"], STEPS)
        self.assertGreater(metrics["accuracy"], 0.9)

    def test_without_servers_the_chief_holds_the_parameters(self):
        replicas = self.cluster(FLAGS, workers=2, chief="master")
        replicas.start_all()
        replicas.await_line("^checkpoint 50 written", "master")
        replicas.kill("master")
        replicas.start("master")
        self.assert_finished(replicas)

    def test_without_workers_the_chief_trains_against_the_servers(self):
        replicas = self.cluster(FLAGS, servers=2)
        replicas.start_all()
        replicas.await_line("^checkpoint 50 written", "chief")
        replicas.kill("ps", 0)
        replicas.start("ps", 0)
        self.assert_finished(replicas)

    def test_a_single_killed_master_ends_with_the_parameters_of_one_that_was_not_killed(self):
        killed, twin = self.cluster(FLAGS), self.cluster(FLAGS)
        killed.start("chief")
        killed.await_line("^checkpoint 100 written", "chief")
        killed.kill("chief")
        killed.start("chief")
        self.assert_finished(killed)
        self.assertIn("restored checkpoint", killed.log("chief"))
        twin.start("chief")
        self.assert_finished(twin)
        self.assertEqual(killed.read_json("model/model.json")["parameters"],
                         twin.read_json("model/model.json")["parameters"])

    def test_a_master_restarted_after_the_end_does_not_train(self):
        replicas = self.cluster(FLAGS)
        replicas.start("chief")
        self.assert_finished(replicas)
        before = replicas.read_json("model/metrics.json")
        replicas.start("chief")
        self.assert_finished(replicas)
        self.assertEqual(replicas.read_json("model/metrics.json"), before)
        self.assertNotIn("checkpoint", replicas.log("chief"))

    def test_an_accuracy_below_the_target_fails_the_master(self):
        replicas = self.cluster(["--steps", "2", "--target-accuracy", "0.999"])
        replicas.start("chief")
        self.assertEqual(replicas.await_exit("chief"), 1)
        self.assertIn("below --target-accuracy 0.9990", replicas.log("chief"))


if __name__ == "__main__":
    unittest.main()
