#!/usr/bin/env python3
"""Measures what one emulator holds: queued jobs, replicas of one job, and clients that follow a log.

Starts an emulator of its own on an empty state directory, and prints a table in Markdown with times, the emulator's memory and its
threads. A line of a log is compared with the time that a pipe of this host takes to hand a line to the same number of readers.

    bench/scale.py [--caip build/release/caip] [--jobs 10000] [--replicas 200] [--streams 1000]
"""
import argparse
import http.client
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKERS = 8  # connections that create jobs


class Emulator:
    """An emulator on a state directory, started in the foreground."""

    def __init__(self, caip, state, flags=()):
        self.process = subprocess.Popen([caip, "serve", "--state", str(state), "--port", "0", "--access-log", "off", *flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.port, said = None, ""
        for line in self.process.stderr:
            said += line
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split()[0].strip("/.,"))
                break
        if self.port is None:
            sys.exit("the emulator did not start: " + said)
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(self, method, path, body=None, connection=None):
        used = connection or self.connect()
        used.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = used.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text or b"{}")

    def status(self, name):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        return 0

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)


def job(name, image, workers=0):
    spec = {"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": {"imageUri": image}}
    if workers:
        spec.update(workerType="n1-standard-4", workerCount=str(workers), workerConfig={"imageUri": image})
    return {"jobId": name, "trainingInput": spec}


def timed(action):
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def in_parallel(count, action):
    """Runs action(connection number, indices) in WORKERS threads."""
    threads = [threading.Thread(target=action, args=(list(range(w, count, WORKERS)),)) for w in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def row(name, seconds, emulator, each=None):
    per = "" if each is None else f"{1000 * seconds / each:.2f} ms each"
    print(f"| {name} | {seconds:.2f} s | {per} | {emulator.status('VmRSS') // 1024} MiB | {emulator.status('Threads')} |", flush=True)


def queued_jobs(caip, folder, count):
    state = folder / "queue"
    flags = ["--queue-delay", "constant:24h", "--map-image", "gcr.io/p/sleep=sleep 100000"]
    emulator = Emulator(caip, state, flags)
    row("an emulator without jobs", 0, emulator)

    def create(indices):
        connection = emulator.connect()
        for index in indices:
            emulator.ask("POST", "/v1/projects/demo/jobs", job(f"job_{index}", "gcr.io/p/sleep"), connection)

    seconds, _ = timed(lambda: in_parallel(count, create))
    row(f"create {count} jobs over {WORKERS} connections; all are queued", seconds, emulator, count)
    connection = emulator.connect()
    seconds, page = timed(lambda: emulator.ask("GET", "/v1/projects/demo/jobs?pageSize=100", connection=connection))
    assert len(page["jobs"]) == 100
    row("list the newest 100 of them", seconds, emulator)
    seconds, _ = timed(lambda: emulator.ask("GET", f"/v1/projects/demo/jobs/job_{count // 2}", connection=connection))
    row("get one of them", seconds, emulator)
    emulator.process.kill()
    emulator.process.wait()
    seconds, emulator = timed(lambda: Emulator(caip, state, flags))
    row(f"start again after SIGKILL, with {count} unfinished jobs", seconds, emulator)

    def cancel(indices):
        own = emulator.connect()
        for index in indices:
            emulator.ask("POST", f"/v1/projects/demo/jobs/job_{index}:cancel", {}, own)

    seconds, _ = timed(lambda: in_parallel(count, cancel))
    row(f"cancel all {count}", seconds, emulator, count)
    emulator.stop()


def wait_for_state(emulator, name, wanted):
    connection = emulator.connect()
    while True:
        state = emulator.ask("GET", f"/v1/projects/demo/jobs/{name}", connection=connection)["state"]
        if state in wanted:
            return state
        time.sleep(0.02)


def replicas(caip, folder, count):
    emulator = Emulator(caip, folder / "replicas", ["--map-image", "gcr.io/p/sleep=sleep 100000"])
    start = time.perf_counter()
    emulator.ask("POST", "/v1/projects/demo/jobs", job("wide", "gcr.io/p/sleep", count - 1))
    state_reached = wait_for_state(emulator, "wide", ("RUNNING", "FAILED"))
    if state_reached != "RUNNING":
        sys.exit(f"the job with {count} replicas ended as {state_reached}")
    row(f"one job of {count} replicas, from create to RUNNING", time.perf_counter() - start, emulator, count)
    start = time.perf_counter()
    emulator.ask("POST", "/v1/projects/demo/jobs/wide:cancel", {})
    wait_for_state(emulator, "wide", ("CANCELLED",))
    row("cancel it, until all replicas have ended", time.perf_counter() - start, emulator, count)
    emulator.stop()


def pipes(count):
    """Seconds until `count` threads have read a line, each from a pipe of its own."""
    ends = [os.pipe() for _ in range(count)]
    seen = []

    def read(end):
        os.read(end, 64)
        seen.append(time.perf_counter())

    threads = [threading.Thread(target=read, args=(end[0],)) for end in ends]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    for end in ends:
        os.write(end[1], b"a line\n")
    for thread in threads:
        thread.join()
    for end in ends:
        os.close(end[0])
        os.close(end[1])
    return max(seen) - start


def streams(caip, folder, count):
    mark = folder / "print-now"
    emulator = Emulator(caip, folder / "streams", ["--isolation", "process", "--map-image",
                                      f"gcr.io/p/talk=sh -c 'until [ -e {mark} ]; do sleep 0.01; done; date +%s.%N; sleep 100000'"])
    emulator.ask("POST", "/v1/projects/demo/jobs", job("talk", "gcr.io/p/talk"))
    wait_for_state(emulator, "talk", ("RUNNING",))
    seen, failed = [], []

    def follow():
        try:
            connection, after = emulator.connect(), ""
            while True:
                answer = emulator.ask("GET", f"/emulator/v1/projects/demo/jobs/talk:follow?waitMs=60000&after={after}",
                                      connection=connection)
                after = answer["last"]
                for entry in answer["entries"]:
                    if entry["task"] == "master-replica-0":
                        seen.append(time.time() - float(entry["message"]))
                        return
        except Exception as error:  # the report says how many
            failed.append(error)

    start = time.perf_counter()
    threads = [threading.Thread(target=follow, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    while emulator.status("Threads") < count and time.perf_counter() - start < 60:
        time.sleep(0.05)
    row(f"{count} clients follow the log of a job", time.perf_counter() - start, emulator)
    mark.touch()
    for thread in threads:
        thread.join(timeout=120)
    if failed or len(seen) != count:
        print(f"| {len(failed)} clients failed, {count - len(seen)} saw no line: {failed[:1]} | | | | |")
    if seen:
        row("a line is printed, until half of them have it", statistics.median(seen), emulator)
        row("until all of them have it", max(seen), emulator)
        print(f"| the same number of pipes of this host, until all have a line | {pipes(count):.3f} s | | | |")
    emulator.process.kill()
    emulator.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--caip", default=str(ROOT / "build/release/caip"))
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--replicas", type=int, default=200)
    parser.add_argument("--streams", type=int, default=1_000)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| | time | | memory of the emulator | its threads |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="caip-scale-") as name:
        folder = pathlib.Path(name)
        if options.jobs:
            queued_jobs(options.caip, folder, options.jobs)
        if options.replicas:
            replicas(options.caip, folder, options.replicas)
        if options.streams:
            streams(options.caip, folder, options.streams)


if __name__ == "__main__":
    main()
