#!/usr/bin/env python3
"""Replicas that are processes of this host need port 2222 of all addresses, and another process has it: an exploration
names the host with exit code 3, or tries the restart again, and never finds a fault of the trainer.
"""

import json
import subprocess
import sys

import scenario_case
from test_host_failures import BUSY_PORT, CLUSTER, LISTENS, LISTENS_EVERYWHERE, NETWORKS

ONE_REPLICA = "expect: {state: SUCCEEDED}\n"
# Counts its starts in files of this host, where it also meets the test. `listen` takes the port of TF_CONFIG, of all addresses.
COUNTS_STARTS = """
import pathlib, socket
job, place = folder(flag("job-dir")), pathlib.Path(FOLDER)
start = 1
while True:
    try:
        os.close(os.open(place / ("start-%d" % start), os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        start += 1
def await_file(name):
    while not (place / name).exists():
        time.sleep(0.02)
def listen():
    cluster = json.loads(os.environ["TF_CONFIG"])
    address = cluster["cluster"][cluster["task"]["type"]][cluster["task"]["index"]]
    return socket.create_server(("0.0.0.0", int(address.rsplit(":", 1)[1])))
"""
TRAINS = """
step = max((int(name[5:]) for name in job.list("ckpt-")), default=0)
while step < 6:
    step += 1
    record(step)
    if step % 2 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
"""
# The two baseline runs of an exploration are starts 1 and 2. The first two restarts that are tried need the port at the same
# time: one gets it, and keeps it until the other one has failed.
LISTENS_BESIDE_ANOTHER_RUN = COUNTS_STARTS + """
if start in (3, 4):
    await_file("start-%d" % (7 - start))
try:
    server = listen()
except OSError:
    (place / "failed").touch()
    raise
if start in (3, 4):
    await_file("failed")
""" + TRAINS
# Each restart that is tried waits until another program has the port.
LISTENS_AFTER_ANOTHER_PROGRAM = COUNTS_STARTS + """
if start > 2:
    (place / "ready").touch()
    await_file("taken")
server = listen()
""" + TRAINS


class ExploredPorts(scenario_case.Case):
    def in_this_folder(self, trainer):
        return trainer.replace("FOLDER", repr(str(self.folder)))

    def run_in_a_network(self, *words):
        """Runs caip in a network of its own. When the trainer is ready, another program takes the port (BUSY_PORT)."""
        network = next((words for words in NETWORKS if subprocess.run([*words, "true"], capture_output=True).returncode == 0),
                       None)
        if network is None:
            self.skipTest("this host allows no network namespaces")
        for old in [self.folder / "ready", self.folder / "taken", *self.folder.glob("start-*")]:
            old.unlink(missing_ok=True)
        words = [scenario_case.caip(), *words, "--state", str(self.folder / "state")]
        return subprocess.run([*network, sys.executable, "-c", BUSY_PORT, json.dumps(words), self.folder],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)

    def explore(self, file, *words):
        return ["explore", str(file), "--out", str(self.folder / "out"), *words]

    def test_a_port_that_another_program_takes_in_the_baseline_run(self):
        for job in (CLUSTER, ONE_REPLICA):
            with self.subTest(job):
                file = self.scenario(LISTENS % str(self.folder), job)
                self.configure("isolation: process\n")
                done = self.run_in_a_network(*self.explore(file))
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("another program began to listen on port 2222 of all addresses", done.stdout)

    def test_a_port_of_the_only_replica_of_a_scenario(self):
        file = self.scenario(LISTENS % str(self.folder), ONE_REPLICA)
        for addressing, code in (("loopback", 3), ("ports", 0)):
            with self.subTest(addressing):
                self.configure(f"isolation: process\naddressing: {addressing}\n")
                done = self.run_in_a_network("scenario", "run", str(file))
                self.assertEqual(done.returncode, code, done.stdout)
                if code:
                    self.assertIn("another program began to listen on port 2222 of all addresses", done.stdout)

    def test_replicas_that_need_the_same_port_in_the_baseline_run(self):
        file = self.scenario(LISTENS_EVERYWHERE % str(self.folder), CLUSTER)
        self.configure("isolation: process\n")
        done = self.run_in_a_network(*self.explore(file))
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("another one listened on port 2222 of all addresses", done.stdout)

    def test_a_restart_whose_port_another_program_takes_does_not_count(self):
        file = self.scenario(self.in_this_folder(LISTENS_AFTER_ANOTHER_PROGRAM), ONE_REPLICA)
        self.configure("isolation: process\n")
        report = self.folder / "explored.json"
        for jobs in ("1", "2"):
            with self.subTest(jobs=jobs):
                done = self.run_in_a_network(*self.explore(file, "--jobs", jobs, "--json", str(report)))
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("another program began to listen on port 2222 of all addresses", done.stdout)
                found = json.loads(report.read_text())
                self.assertEqual((found["tried"], found["findings"]), (0, []))
                self.assertIn("another program has port 2222", found["ended"])

    def test_restarts_that_need_the_same_port_are_tried_one_by_one(self):
        file = self.scenario(self.in_this_folder(LISTENS_BESIDE_ANOTHER_RUN), ONE_REPLICA)
        self.configure("isolation: process\n")
        report = self.folder / "explored.json"
        done = self.run_in_a_network(*self.explore(file, "--jobs", "2", "--json", str(report)))
        self.assertTrue((self.folder / "failed").exists(), done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        found = json.loads(report.read_text())
        self.assertEqual((found["tried"], found["findings"]), (found["restarts"], []))


if __name__ == "__main__":
    scenario_case.main()
