"""A cluster of real processes on loopback addresses, as the service would start them."""
import json
import os
import re
import socket
import subprocess
import sys
import time

from digits_source import DATA, DIGITS

DEADLINE_SECONDS = 120.0


def wait_until(condition, awaited, describe=lambda: ""):
    """The condition's first true value. Fails after the deadline, and names the condition."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain for %s\n%s" % (awaited, describe()))
        time.sleep(0.005)


def free_address(host):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return "%s:%d" % probe.getsockname()


class Replicas:
    """Starts, kills and restarts replicas; each start has its own log file."""

    def __init__(self, folder, flags, workers=0, servers=0, chief="chief"):
        self.folder, self.flags = folder, flags
        self.job_dir, self.data, self.storage = os.path.join(folder, "job"), DATA, ""
        self._processes, self._starts = {}, {}
        entries = {chief: 1, "worker": workers, "ps": servers}
        hosts = ("127.0.0.%d" % number for number in range(2, 200))
        self.cluster = {role: [free_address(next(hosts)) for _ in range(count)]
                        for role, count in entries.items() if count}

    def start(self, role, index=0):
        name = (role, index)
        self._starts[name] = self._starts.get(name, 0) + 1
        environment = dict(os.environ, PYTHONPATH=DIGITS, PYTHONDONTWRITEBYTECODE="1",
                           STORAGE_EMULATOR_HOST=self.storage)
        environment["TF_CONFIG"] = json.dumps({
            "cluster": self.cluster, "task": {"type": role, "index": index, "cloud": "x-ml"},
            "job": {"scale_tier": "CUSTOM"}, "environment": "cloud"})
        command = [sys.executable, "-m", "trainer.task", "--data", self.data,
                   "--job-dir", "ignored"]
        with open(self._log_path(name), "wb") as log:
            self._processes[name] = subprocess.Popen(
                command + self.flags + ["--job-dir", self.job_dir], env=environment,
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def start_all(self, evaluators=0):
        for role, addresses in self.cluster.items():
            for index in range(len(addresses)):
                self.start(role, index)
        for index in range(evaluators):
            self.start("evaluator", index)

    def log(self, role, index=0):
        with open(self._log_path((role, index)), encoding="utf-8") as log:
            return log.read()

    def logs(self):
        return "\n".join("--- %s %d, start %d\n%s" % (name + (count, self.log(*name)))
                         for name, count in self._starts.items())

    def await_line(self, pattern, role, index=0):
        return wait_until(lambda: re.search(pattern, self.log(role, index), re.MULTILINE),
                          "/%s/ in the log of %s %d" % (pattern, role, index), self.logs)

    def kill(self, role, index=0):
        process = self._processes[(role, index)]
        if process.poll() is not None:
            raise AssertionError("%s %d had ended before it was killed\n%s"
                                 % (role, index, self.logs()))
        process.kill()
        process.wait()

    def await_exit(self, role, index=0):
        process = self._processes[(role, index)]
        return wait_until(lambda: process.poll() is not None and [process.returncode],
                          "the exit of %s %d" % (role, index), self.logs)[0]

    def await_all(self):
        """The exit status of every replica, by name."""
        return {name: self.await_exit(*name) for name in self._processes}

    def stop(self):
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()

    def read_json(self, name):
        with open(os.path.join(self.job_dir, name), encoding="utf-8") as file:
            return json.load(file)

    def _log_path(self, name):
        return os.path.join(self.folder, "%s-%d-%d.log" % (name + (self._starts[name],)))
