#!/usr/bin/env python3
"""The host prevents a run: exit code 3 and words, never the fault of the scenario or its trainer."""

import json
import subprocess
import sys

import scenario_case
import small_disk

NETWORKS = (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"])
# Runs a command in a new network. While its trainer waits, another program begins to listen on port 2222 of all addresses.
BUSY_PORT = """
import fcntl, json, pathlib, socket, struct, subprocess, sys, time
words, folder = json.loads(sys.argv[1]), pathlib.Path(sys.argv[2])
with socket.socket() as used:
    fcntl.ioctl(used, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
run = subprocess.Popen(words)
while not (folder / "ready").exists() and run.poll() is None:
    time.sleep(0.02)
with socket.create_server(("0.0.0.0", 2222)):
    (folder / "taken").touch()
    sys.exit(run.wait())
"""
# Runs a command in a new network in which another program has port 2222 of all addresses from the start.
TAKEN_PORT = """
import fcntl, json, socket, struct, subprocess, sys
with socket.socket() as used:
    fcntl.ioctl(used, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
with socket.create_server(("0.0.0.0", 2222)):
    sys.exit(subprocess.run(json.loads(sys.argv[1])).returncode)
"""
LISTENS = """
import pathlib, socket
folder = pathlib.Path(%r)
(folder / "ready").touch()
while not (folder / "taken").exists():
    time.sleep(0.02)
cluster = json.loads(os.environ["TF_CONFIG"])
host, port = cluster["cluster"][cluster["task"]["type"]][cluster["task"]["index"]].split(":")
server = socket.create_server((host, int(port)))
record(1)
"""
# Listens on the port of TF_CONFIG, as servers of TensorFlow do, until both replicas have their ports.
LISTENS_EVERYWHERE = """
import pathlib, socket
folder = pathlib.Path(%r)
cluster = json.loads(os.environ["TF_CONFIG"])
role, index = cluster["task"]["type"], cluster["task"]["index"]
server = socket.create_server(("0.0.0.0", int(cluster["cluster"][role][index].rsplit(":", 1)[1])))
(folder / ("up-" + role)).touch()
while len(list(folder.glob("up-*"))) < 2:
    time.sleep(0.02)
record(1)
"""
FAILS_WITHOUT_LISTENING = """
if json.loads(os.environ["TF_CONFIG"])["task"]["type"] == "worker":
    raise SystemExit(7)
time.sleep(600)
"""
CLUSTER = """
job:
  config: {scaleTier: CUSTOM, masterType: n1-standard-4, workerCount: 1, workerType: n1-standard-4}
expect: {state: SUCCEEDED}
"""


class HostFailures(scenario_case.Case):
    def network(self):
        """The words before a command that give it a network of its own."""
        for words in NETWORKS:
            if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
                return words
        self.skipTest("this host allows no network namespaces")

    def caip(self, *words):
        """The output of a command on the state directory of the test."""
        return subprocess.run([scenario_case.caip(), *words, "--project", "demo", "--state", str(self.folder / "state")],
                              stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout

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
                    [*small, scenario_case.caip(), "scenario", "run", str(file), "--state", str(state)],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("The disk is full", done.stdout)

    def test_too_few_descriptors_are_a_failure_of_the_host(self):
        """Never of the scenario or the trainer. With the largest number, the run succeeds."""
        file = self.scenario("record(1)\n", "expect: {state: SUCCEEDED}\n"
                             # The limits are so wide that only a lack of descriptors ends the run.
                             "limits: {wall: 1h, no_progress: 1h}\n")
        codes = {}
        for number in (*range(20, 76, 4), 200):
            done = subprocess.run(
                ["prlimit", f"--nofile={number}", scenario_case.caip(), "scenario", "run", str(file),
                 "--state", str(self.folder / "state")],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
            codes[number] = done.returncode
            self.assertIn(done.returncode, (0, 3), f"{number}: {done.stdout}")
            if done.returncode == 3:
                self.assertIn("open files", done.stdout)
                self.assertIn("ulimit -Hn", done.stdout)
        self.assertEqual((codes[20], codes[200]), (3, 0))

    def test_check_and_explore_name_too_few_descriptors(self):
        trainer = self.folder / "trainer.sh"
        trainer.write_text("#!/bin/sh\necho done\n")
        trainer.chmod(0o755)
        job = ["--master-image-uri", "gcr.io/p/i:v1", "--map-image", f"gcr.io/p/i:v1={trainer}"]
        state = ["--state", str(self.folder / "state")]
        for words in (["check", "--filter", "start/succeeds", *state, *job],
                      ["explore", "--max-points", "1", "--jobs", "1", *state, "--", *job]):
            for number, code in ((24, 3), (48, 3), (200, 0)):
                with self.subTest(words[0], number=number):
                    done = subprocess.run(["prlimit", f"--nofile={number}", scenario_case.caip(), *words],
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
                    self.assertEqual(done.returncode, code, done.stdout)
                    if code:
                        self.assertIn(f"This host allows {number} open files", done.stdout)
                        self.assertIn("nothing about the trainer", done.stdout)

    def test_a_port_that_another_program_takes_is_a_failure_of_the_host(self):
        network = self.network()
        file = self.scenario(LISTENS % str(self.folder), CLUSTER)
        for addressing, code in (("loopback", 3), ("ports", 0)):
            with self.subTest(addressing):
                for name in ("ready", "taken"):
                    (self.folder / name).unlink(missing_ok=True)
                self.configure(f"isolation: process\naddressing: {addressing}\n")
                words = [scenario_case.caip(), "scenario", "run", str(file), "--state", str(self.folder / "state")]
                done = subprocess.run([*network, sys.executable, "-c", BUSY_PORT, json.dumps(words), self.folder],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                self.assertEqual(done.returncode, code, done.stdout)
                if code:
                    self.assertIn("another program began to listen on port 2222 of all addresses", done.stdout)

    def test_a_job_whose_port_is_taken_gets_other_ports(self):
        network = self.network()
        trainer = self.folder / "trainer.py"
        trainer.write_text("#!/usr/bin/python3\nimport json, os, pathlib, time, socket\nrecord = str\n"
                           + LISTENS_EVERYWHERE % str(self.folder))
        trainer.chmod(0o755)
        words = [scenario_case.caip(), "jobs", "submit", "training", "taken", "--region", "us-central1",
                 "--scale-tier", "custom", "--master-machine-type", "n1-standard-4", "--worker-machine-type", "n1-standard-4",
                 "--worker-count", "1", "--master-image-uri", "gcr.io/p/i:v1", "--map-image", f"gcr.io/p/i:v1={trainer}",
                 "--isolation", "process", "--stream-logs", "--project", "demo", "--state", str(self.folder / "state")]
        done = subprocess.run([*network, sys.executable, "-c", TAKEN_PORT, json.dumps(words)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("state: SUCCEEDED", self.caip("jobs", "describe", "taken"))
        # The replicas wait for each other, so both listened.
        self.assertEqual(len(list(self.folder.glob("up-*"))), 2)
        warnings = [line for line in self.caip("jobs", "logs", "taken").splitlines()
                    if "A program of this host listens on port 2222 of all addresses" in line]
        self.assertEqual(len(warnings), 1, done.stdout)
        self.assertIn("WARNING", warnings[0])

    def test_processes_that_need_the_same_port_are_a_failure_of_the_host(self):
        for trainer, addressing, code in ((LISTENS_EVERYWHERE % str(self.folder), "loopback", 3),
                                          (LISTENS_EVERYWHERE % str(self.folder), "ports", 0),
                                          (FAILS_WITHOUT_LISTENING, "loopback", 1)):
            with self.subTest(addressing, code=code):
                for up in self.folder.glob("up-*"):
                    up.unlink()
                self.configure(f"isolation: process\naddressing: {addressing}\n")
                done = subprocess.run([scenario_case.caip(), "scenario", "run", str(self.scenario(trainer, CLUSTER)),
                                       "--state", str(self.folder / "state")],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                self.assertEqual(done.returncode, code, done.stdout)
                if code == 3:
                    self.assertIn("another one listened on port 2222 of all addresses", done.stdout)
                    self.assertIn("addressing: ports", done.stdout)


if __name__ == "__main__":
    scenario_case.main()
