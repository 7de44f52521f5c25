#!/usr/bin/env python3
"""Measures what one emulator holds: queued jobs, replicas of one job, and clients that follow a log; and where that ends.

Starts an emulator of its own on an empty state directory for each of the three. Prints the tables of docs/scale.md: first what was
measured, then what one more job, replica or client costs, and how many of them the limits of this host allow at that cost. A line of
a log is compared with the time that pipes of this host take to hand a line to the same number of readers. 0 leaves a part out.

    bench/scale.py [--caip build/release/caip] [--jobs 10000] [--replicas 200] [--streams 1000] [--page docs/scale.md]

--page writes the tables into the page.
"""
import argparse
import asyncio
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from scale_tables import (KIB, Costs, Emulator, descendants, disk_of, each_text, memory_of, rounds_text, row, seconds_text, show,
                          timed, write_page)

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKERS = 8  # connections that create jobs
JOBS = "/v1/projects/demo/jobs"
SLEEPER = "gcr.io/p/sleep"
IDLE_SECONDS = 5
FOLLOW = "/emulator/v1/projects/demo/jobs/talk:follow?state=RUNNING"  # answers at once in another state
FOLLOWERS_AT_ONCE = 100
SECONDS_MAX = 60  # until clients are served


def job(name, image, workers=0):
    spec = {"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": {"imageUri": image}}
    if workers:
        spec.update(workerType="n1-standard-4", workerCount=str(workers), workerConfig={"imageUri": image})
    return {"jobId": name, "trainingInput": spec}


def in_parallel(count, action):
    """Runs action(indices) in WORKERS threads."""
    threads = [threading.Thread(target=action, args=(list(range(w, count, WORKERS)),)) for w in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def for_each_job(emulator, count, request):
    """Sends request(index) = (method, path, body) for each job, over WORKERS connections. Returns the seconds."""
    def send(indices):
        connection = emulator.connect()
        for index in indices:
            emulator.ask(*request(index), connection)
    return timed(lambda: in_parallel(count, send))[0]


def all_pages(emulator, connection):
    """How many jobs all pages of the list have together."""
    seen, token = 0, ""
    while True:
        page = emulator.ask("GET", f"{JOBS}?pageSize=100&pageToken={token}", connection=connection)
        seen, token = seen + len(page.get("jobs", [])), page.get("nextPageToken", "")
        if not token:
            return seen


def read_queue(emulator, count):
    """Lists and describes the jobs, over HTTP and by commands."""
    connection, some = emulator.connect(), f"job_{count // 2}"
    row("list the newest 100 of them", rounds_text(lambda: emulator.ask("GET", f"{JOBS}?pageSize=100", connection=connection)))
    row("get one of them", rounds_text(lambda: emulator.ask("GET", f"{JOBS}/{some}", connection=connection)))
    seconds, seen = timed(lambda: all_pages(emulator, connection))
    assert seen == count + 1, f"the list has {seen} jobs"
    row(f"list all {count}, 100 a page", each_text(seconds, count))
    row(f"`caip jobs describe {some}`", rounds_text(lambda: emulator.command("jobs", "describe", some)))
    row("`caip jobs list --limit 100`", rounds_text(lambda: emulator.command("jobs", "list", "--limit", "100")))
    row("`caip jobs list`", rounds_text(lambda: emulator.command("jobs", "list"), 3), emulator)


def queued_jobs(caip, folder, count, costs):
    state = folder / "queue"
    flags = ["--queue-delay", "constant:24h", "--map-image", f"{SLEEPER}=sleep 100000"]
    seconds, emulator = timed(lambda: Emulator(caip, state, flags))
    row("start an emulator without jobs", seconds_text(seconds), emulator)
    # While a replica lives, emulated time does not skip the wait of other jobs in the queue.
    emulator.ask("POST", JOBS, job("holder", SLEEPER))
    wait_for_state(emulator, "holder", ("RUNNING",))
    before, empty = emulator.usage(), disk_of(state)
    seconds = for_each_job(emulator, count, lambda index: ("POST", JOBS, job(f"job_{index}", SLEEPER)))
    row(f"create {count} jobs over {WORKERS} connections; all are queued", each_text(seconds, count), emulator)
    waiting = emulator.ask("GET", f"{JOBS}?filter=state%3DQUEUED&pageSize=1")["jobs"]
    states = {emulator.ask("GET", f"{JOBS}/job_{index}")["state"] for index in (0, count // 2, count - 1)}
    assert waiting and states == {"QUEUED"}, states
    costs.add("queued job", count, before, emulator.usage(), f"{(disk_of(state) - empty) / count / KIB:.1f} KiB on disk")
    read_queue(emulator, count)
    used = emulator.processor_seconds()
    time.sleep(IDLE_SECONDS)
    row("processor time of the emulator while nobody asks", f"{(emulator.processor_seconds() - used) / IDLE_SECONDS:.1%} of a core")
    emulator.kill()
    seconds, emulator = timed(lambda: Emulator(caip, state, flags))
    row(f"start again after SIGKILL, with {count} unfinished jobs", seconds_text(seconds), emulator)
    seconds = for_each_job(emulator, count, lambda index: ("POST", f"{JOBS}/job_{index}:cancel", {}))
    row(f"cancel all {count}", each_text(seconds, count), emulator)
    emulator.stop()


def wait_for_state(emulator, name, wanted):
    connection = emulator.connect()
    while True:
        state = emulator.ask("GET", f"{JOBS}/{name}", connection=connection)["state"]
        if state in wanted:
            return state
        time.sleep(0.02)


def replicas(caip, folder, count, costs):
    emulator = Emulator(caip, folder / "replicas", ["--map-image", f"{SLEEPER}=sleep 100000"])
    before, helpers = emulator.usage(), descendants(emulator.process.pid)
    memory = memory_of(helpers)
    start = time.perf_counter()
    emulator.ask("POST", JOBS, job("wide", SLEEPER, count - 1))
    reached = wait_for_state(emulator, "wide", ("RUNNING", "FAILED"))
    if reached != "RUNNING":
        sys.exit(f"the job with {count} replicas ended as {reached}: "
                 f"{emulator.ask('GET', f'{JOBS}/wide').get('errorMessage')}")
    row(f"one job of {count} replicas, from create to RUNNING", each_text(time.perf_counter() - start, count), emulator)
    below = descendants(emulator.process.pid)
    outside = (memory_of(below) - memory) / count
    processes = (len(below) - len(helpers)) / count
    limit = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) / processes
    costs.add("replica that sleeps", count, before, emulator.usage(),
              f"{processes:.1f} processes with {outside / KIB:.0f} KiB", [("processes", limit)])
    connection = emulator.connect()
    row("get the job", rounds_text(lambda: emulator.ask("GET", f"{JOBS}/wide", connection=connection)))
    start = time.perf_counter()
    emulator.ask("POST", f"{JOBS}/wide:cancel", {})
    wait_for_state(emulator, "wide", ("CANCELLED",))
    row("cancel it, until all replicas have ended", each_text(time.perf_counter() - start, count), emulator)
    emulator.stop()


class Refused(Exception):
    """The emulator has refused a client."""


async def ask_for_lines(streams, after):
    """Sends a request that waits for lines after an entry. Returns its answer."""
    reader, writer = streams
    path = f"{FOLLOW}&waitMs=60000&after={after}"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length:"))
    body = await reader.readexactly(length)
    if " 200 " not in head.splitlines()[0]:
        raise Refused(head.splitlines()[0].removeprefix("HTTP/1.1 "))
    return json.loads(body)


class Followers:
    """Clients that wait for the next line of the trainer."""

    def __init__(self, emulator):
        self.emulator, self.seen, self.tasks = emulator, [], []
        self.last = emulator.ask("GET", FOLLOW)["last"]

    async def follow(self):
        streams, after = await asyncio.open_connection("127.0.0.1", self.emulator.port), self.last
        try:
            while True:
                answer = await ask_for_lines(streams, after)
                after = answer["last"]
                for entry in answer["entries"]:
                    if entry["task"] == "master-replica-0":
                        self.seen.append(time.time() - float(entry["message"]))
                        return
        finally:
            streams[1].close()

    async def add(self, count):
        """Starts clients, and waits until the emulator has a thread for each, or refuses one."""
        for first in range(0, count, FOLLOWERS_AT_ONCE):
            some = min(FOLLOWERS_AT_ONCE, count - first)
            self.tasks += [asyncio.create_task(self.follow()) for _ in range(some)]
            deadline = time.monotonic() + SECONDS_MAX
            wanted = self.emulator.threads + len(self.tasks)
            while self.emulator.usage()["threads"] < wanted and not self.errors():
                if time.monotonic() > deadline:
                    sys.exit(f"{some} more clients are not served after {SECONDS_MAX} s")
                await asyncio.sleep(0.005)

    def errors(self):
        return [task.exception() for task in self.tasks if task.done() and task.exception()]

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def hand_lines_to_pipes(count):
    """Seconds until each of `count` readers has a line, each from a pipe of its own."""
    loop, ends = asyncio.get_running_loop(), [os.pipe() for _ in range(count)]
    left, done = set(ends), asyncio.Event()

    def read(end):
        os.read(end[0], 64)
        left.discard(end)
        if not left:
            done.set()

    for end in ends:
        loop.add_reader(end[0], read, end)
    start = time.perf_counter()
    for end in ends:
        os.write(end[1], b"a line\n")
    await done.wait()
    seconds = time.perf_counter() - start
    for end in ends:
        loop.remove_reader(end[0])
        os.close(end[0])
        os.close(end[1])
    return seconds


async def follow_together(emulator, count, mark, costs):
    before, clients = emulator.usage(), Followers(emulator)
    start = time.perf_counter()
    await clients.add(count)
    if clients.errors():
        sys.exit(f"{len(clients.errors())} of {count} clients failed: {clients.errors()[0]}")
    row(f"{count} clients follow the log of a job", each_text(time.perf_counter() - start, count), emulator)
    held = emulator.usage()
    mark.touch()
    await asyncio.wait_for(asyncio.gather(*clients.tasks), 120)
    row(f"the job prints a line, until half of {count} clients have it", seconds_text(statistics.median(clients.seen)), emulator)
    row("until all of them have it", seconds_text(max(clients.seen)))
    row(f"{count} pipes of this host, until all readers have a line", seconds_text(await hand_lines_to_pipes(count)))
    more = Followers(emulator)
    while not more.errors():
        await more.add(FOLLOWERS_AT_ONCE)
    waiting = sum(not task.done() for task in more.tasks)
    row("clients, until the emulator refuses one", f"{waiting}; then {more.errors()[0]}", emulator)
    costs.add("client that follows a log", count, before, held, limits=[("connections, at most", waiting)])
    await more.stop()


def streams(caip, folder, count, costs):
    mark = folder / "print-now"
    talk = f"sh -c 'until [ -e {mark} ]; do sleep 0.01; done; date +%s.%N; sleep 100000'"
    emulator = Emulator(caip, folder / "streams", ["--isolation", "process", "--map-image", f"gcr.io/p/talk={talk}"])
    emulator.ask("POST", JOBS, job("talk", "gcr.io/p/talk"))
    wait_for_state(emulator, "talk", ("RUNNING",))
    asyncio.run(follow_together(emulator, count, mark, costs))
    emulator.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--caip", default=str(ROOT / "build/release/caip"))
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--replicas", type=int, default=200)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    version = subprocess.run([options.caip, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    load, costs = os.getloadavg()[0], Costs()
    show("measured", "| what | result | memory of the emulator | its threads | its open files |")
    show("measured", "|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="caip-scale-") as name:
        folder = pathlib.Path(name)
        for count, measure in ((options.jobs, queued_jobs), (options.replicas, replicas), (options.streams, streams)):
            if count:
                measure(options.caip, folder, count, costs)
    costs.report()
    print()
    show("measured", f"\n{version}, {os.cpu_count()} cores, load {load:.1f} before the run and {os.getloadavg()[0]:.1f} after it, "
                     f"at most {hard:,} open files.")
    if options.page:
        write_page(options.page)


if __name__ == "__main__":
    main()
