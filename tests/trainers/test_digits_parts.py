"""The digits trainer's parts: cluster, data, model, tickets, shards, checkpoints."""
import json
import os
import random
import shutil
import tempfile
import threading
import unittest

from digits_source import DATA
from trainer import cluster, data, parameter_server, storage, task, wire
from trainer.checkpoint import Broken, Checkpoints, State
from trainer.model import Model
from trainer.parameter_server import Shard, Stale, Vectors, bounds
from trainer.tickets import Tickets


HELD_OUT_BEGINS = [5, 6, 3, 4, 7, 3, 7, 1]


def read_cluster(addresses, role, index=0):
    return cluster.from_environment({"TF_CONFIG": json.dumps(
        {"cluster": addresses, "task": {"type": role, "index": index}})})


class ClusterTest(unittest.TestCase):
    def test_without_tf_config_the_process_is_a_chief_alone(self):
        here = cluster.from_environment({})
        self.assertEqual((here.role, here.chief, here.workers, here.shards),
                         ("chief", None, (), ()))

    def test_a_master_is_a_chief(self):
        here = read_cluster({"master": ["a:1"], "worker": ["b:2"]}, "master")
        self.assertEqual((here.role, here.own_address, here.shards),
                         ("chief", ("a", 1), (("a", 1),)))

    def test_each_role_finds_its_own_address(self):
        addresses = {"chief": ["a:1"], "worker": ["b:2", "c:3"], "ps": ["d:4"]}
        self.assertEqual(read_cluster(addresses, "worker", 1).own_address, ("c", 3))
        self.assertEqual(read_cluster(addresses, "ps").own_address, ("d", 4))
        self.assertEqual(read_cluster(addresses, "worker").shards, (("d", 4),))
        self.assertIsNone(read_cluster(addresses, "evaluator").own_address)

    def test_a_replica_that_the_cluster_does_not_name_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "worker 1"):
            read_cluster({"chief": ["a:1"], "worker": ["b:2"]}, "worker", 1)


class FlagsTest(unittest.TestCase):
    def test_the_last_of_a_repeated_flag_counts(self):
        options = task.parse(["--job-dir", "x", "--data", "d", "--job-dir", "gs://b/out"])
        self.assertEqual(options.job_dir, "gs://b/out")


class DataTest(unittest.TestCase):
    def test_a_fifth_is_held_out_and_always_the_same(self):
        train, held_out = data.load(DATA)
        self.assertEqual((len(train.labels), len(held_out.labels)), (1438, 359))
        self.assertEqual(held_out.labels[:8], HELD_OUT_BEGINS)

    def test_each_epoch_has_each_example_once_in_its_own_order(self):
        examples = data.Examples(list(range(10)), list(range(10)))
        batches = data.Batches(examples, 4, seed=1)
        epochs = [[image for step in range(first, first + batches.per_epoch)
                   for image in batches.of(step).images] for first in (1, 4)]
        self.assertEqual([sorted(epoch) for epoch in epochs], [list(range(10))] * 2)
        self.assertNotEqual(epochs[0], epochs[1])
        self.assertEqual(data.Batches(examples, 4, seed=1).of(5), batches.of(5))


class ModelTest(unittest.TestCase):
    def test_the_gradient_is_the_slope_of_the_loss(self):
        train, _ = data.load(DATA)
        batch = data.Examples(train.images[:5], train.labels[:5])
        model, nudge = Model(4), 1e-6
        values = model.initial(seed=3)
        gradient = model.loss_and_gradient(values, batch)[1]
        self.assertEqual(len(gradient), model.size)
        for place in random.Random(1).sample(range(model.size), 60) + [model.size - 1]:
            losses = []
            for sign in (-1, 1):
                moved = list(values)
                moved[place] += sign * nudge
                losses.append(model.loss_and_gradient(moved, batch)[0])
            slope = (losses[1] - losses[0]) / (2 * nudge)
            self.assertAlmostEqual(gradient[place], slope, places=5, msg="parameter %d" % place)


def filled(generation=7, size=3):
    shard = Shard()
    shard.fill(generation, [[1.0] * size, [0.0] * size, [0.0] * size])
    return shard


class ShardTest(unittest.TestCase):
    def test_applies_each_step_once(self):
        shard = filled()
        first = list(shard.push(7, 4, 0.1, [1.0, -1.0, 0.0]))
        self.assertLess(first[0], 1.0)
        self.assertGreater(first[1], 1.0)
        self.assertEqual(shard.push(7, 4, 0.1, [9.0, 9.0, 9.0]), first)
        self.assertEqual(shard.snapshot(7)[1], 1)

    def test_refuses_every_other_generation(self):
        shard = filled()
        for generation in (0, 6, 8):
            with self.assertRaises(Stale):
                shard.push(generation, 1, 0.1, [1.0] * 3)
        with self.assertRaises(Stale):
            shard.fill(6, [[0.0]] * 3)
        self.assertEqual(shard.pull(7), [1.0] * 3)

    def test_an_empty_one_reports_that_over_the_network(self):
        server = wire.Server(("127.0.0.1", 0), lambda request, _: parameter_server.answer(
            Shard(), request))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        peer = wire.Peer(server.server_address)
        self.addCleanup(peer.close)
        answer = peer.ask(wire.message(wire.PULL, 7), patience=0.0)
        self.assertEqual((answer.op, answer.generation), (wire.STALE, 0))

    def test_the_parts_cover_all_parameters_once(self):
        vector = list(range(11))
        for count in (1, 2, 3, 11):
            joined = [value for part in bounds(11, count) for value in vector[part]]
            self.assertEqual(joined, vector)


class TicketsTest(unittest.TestCase):
    def setUp(self):
        self.tickets = Tickets()
        self.tickets.begin(7, 10, 12)

    def test_a_step_of_a_lost_worker_is_handed_out_again(self):
        self.assertEqual(self.tickets.next("a", 0, 0, 0.0).step, 11)
        self.assertEqual(self.tickets.next("b", 0, 0, 0.0).step, 12)
        self.tickets.leave("a")
        self.assertEqual(self.tickets.next("b", 7, 12, 0.0).step, 11)

    def test_a_done_step_of_an_earlier_generation_does_not_count(self):
        self.tickets.next("a", 0, 0, 0.0)
        self.tickets.begin(8, 10, 12)
        self.assertEqual(self.tickets.next("b", 7, 0, 0.0)[1:], (8, 11))
        self.assertEqual(self.tickets.next("a", 7, 11, 0.0)[1:], (8, 12))

    def test_a_stale_shard_ends_the_wait_for_the_boundary(self):
        ticket = self.tickets.next("a", 0, 0, 0.0)
        self.tickets.report_stale("a", 6)
        self.tickets.report_stale("a", ticket.generation)
        self.assertFalse(self.tickets.wait_for_boundary())

    def test_workers_that_come_and_go_do_every_step_up_to_each_boundary_exactly_once(self):
        shard, seen, chance = filled(), [], random.Random(5)
        self.tickets.begin(7, 0, 20)

        def work(fate):
            owner, done = object(), 0
            while True:
                kind, generation, step = self.tickets.next(owner, 7, done, 0.0)
                if kind == wire.FINISHED:
                    return
                done = 0
                late = fate.random()
                if late > 0.2:
                    shard.push(generation, step, 0.1, [0.0] * 3)
                    done = step
                if late < 0.4:  # the machine is lost, before or after the push
                    self.tickets.leave(owner)
                    owner, done = object(), 0

        threads = [threading.Thread(target=work, args=(random.Random(chance.random()),),
                                    daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for boundary in range(20, 201, 20):
            self.assertTrue(self.tickets.wait_for_boundary())
            seen.append(shard.snapshot(7)[1])
            if boundary < 200:
                self.tickets.extend(boundary + 20)
        self.tickets.finish()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, list(range(20, 201, 20)))


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        self.job_dir = tempfile.mkdtemp(prefix="digits-")
        self.addCleanup(shutil.rmtree, self.job_dir)
        self.checkpoints = Checkpoints(self.job_dir, {"hidden": 1})

    def write(self, step):
        self.checkpoints.write(State(step, Vectors([step + 0.1], [2.0], [3.0]), 1.5))

    def path(self, name):
        return os.path.join(self.job_dir, "checkpoints", name)

    def test_the_newest_is_newest_by_number_and_the_last_three_are_kept(self):
        for step in (80, 90, 100, 1000):
            self.write(step)
        self.assertEqual(self.checkpoints.steps(), [90, 100, 1000])
        newest = self.checkpoints.newest()
        self.assertEqual((newest.step, list(newest.vectors.values), newest.seconds),
                         (1000, [1000.1], 1.5))
        self.assertEqual(sorted(os.listdir(self.path(""))), ["ckpt-100", "ckpt-1000", "ckpt-90"])

    def test_an_incomplete_one_is_skipped(self):
        for spoil in ("manifest.json", "values.f64", "state.json"):
            self.write(10)
            self.write(20)
            os.remove(self.path("ckpt-20/" + spoil))
            self.assertEqual(self.checkpoints.newest().step, 10, spoil)

    def test_one_with_objects_of_two_attempts_is_skipped(self):
        self.write(10)
        self.write(20)
        storage.write(self.path("ckpt-20/means.f64"), b"\0" * 8)
        with self.assertRaisesRegex(Broken, "means.f64"):
            self.checkpoints.read(20)
        self.assertEqual(self.checkpoints.newest().step, 10)

    def test_removes_what_a_stopped_predecessor_deleted_or_wrote_in_part(self):
        for step in (10, 20):
            self.write(step)
        os.remove(os.path.join(self.job_dir, "checkpoints/ckpt-10/manifest.json"))
        with open(os.path.join(self.job_dir, "checkpoints/ckpt-10/.partial-x"), "w"):
            pass
        for step in (30, 40, 50):
            self.write(step)
        self.assertEqual(sorted(os.listdir(os.path.join(self.job_dir, "checkpoints"))),
                         ["ckpt-30", "ckpt-40", "ckpt-50"])

    def test_remains_of_a_stopped_predecessor_are_removed(self):
        self.write(10)
        self.write(20)
        os.remove(self.path("ckpt-20/manifest.json"))
        self.checkpoints.discard_after(10)
        self.assertEqual(os.listdir(self.path("")), ["ckpt-10"])

    def test_one_of_another_shape_is_an_error_and_not_a_fresh_start(self):
        self.write(10)
        with self.assertRaisesRegex(SystemExit, "another --job-dir"):
            Checkpoints(self.job_dir, {"hidden": 2}).newest()


if __name__ == "__main__":
    unittest.main()
