#!/usr/bin/env python3
"""Runs the actors of the storm against one emulator without kills, and watches its memory and descriptors.

The actors delete what they make, so that what the emulator keeps stays about the same. Each sample is one
line of the report.

With --minutes, samples count after a warm-up, in which caches fill that have a bound. The line through
the samples of the memory (least squares) is extrapolated to a day. Descriptors are compared by the
medians of the middle and of the last third of the samples. With --turns, each turn has a fixed number of
operations, for a test of seconds. Memory grows if each sample of the last third is above all of the middle
third, by more than a bound for each operation of both thirds. Descriptors grow if each turn of the last
third leaves one. README.md says which leaks this does not see.

The last line has the number of operations, the descriptors at the beginning and at the end, and with
--minutes what the line of the memory grows by for each operation and in a day.

A sample is taken when the emulator has closed the connections of the actors, and its number of descriptors
stays the same: its threads close sockets and directories a moment after the last answer. With --minutes, the
emulator has also had nothing to do for RETURN_SECONDS, and has given free memory back since.

Exit codes: 0 flat, and nothing was lost; 1 something grows, or was lost; 2 wrong arguments.
"""

import argparse
import concurrent.futures
import os
import random
import statistics
import sys
import threading
import time
from pathlib import Path

import job_actors
import storm
from world import Client, Lost, PROJECT

SECONDS_OF_A_DAY = 86_400
WORK_SECONDS = 40  # of the actors before each sample
RETURN_SECONDS = 11  # after so long, the emulator has given free memory back (emulator/app/free_memory.h)
IDLE_SECONDS = 0.02  # with less processor time in RETURN_SECONDS, it has nothing left to do
IDLE_ROUNDS_MAX = 10  # then the sample is taken anyway
MEMORY_GROWTH_MAX = 0.5  # of the median of the memory, in a day
DESCRIPTOR_GROWTH_MAX = 4  # between the thirds
OPERATIONS = 30  # of each actor in a turn of --turns
JOB_OPERATIONS = 3  # the same of an actor that starts processes
OPERATION_GROWTH_MAX = 4_096  # bytes for each operation
SANITIZED_KIB = 1 << 30  # the address space of a program with a sanitizer, which keeps freed memory
REST_SECONDS = 0.5  # the descriptors stay the same for this time before a sample
REST_SECONDS_MAX = 10  # then the sample is taken anyway
READERS = 4  # connections that the emulator keeps (kIdleMax in fakes/logging/book, kIdleReadersMax in src/host/store)
LOG_ENTRIES = 200  # so many, and a job so large, that parallel lists of them overlap
LARGE_ARGUMENTS = ['x' * 1_000] * 100  # the variable CLOUD_ML_JOB has at most 128 KiB
LIST_ROUNDS = 100


def sample(pid):
    """(its own resident memory in KiB, open descriptors, threads) of a process.

    Pages of mapped files are not its own: the kernel drops them when memory is short.
    """
    return status(pid, 'RssAnon'), descriptors(pid), status(pid, 'Threads')


def descriptors(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def status(pid, field):
    """A number in the process's status; sizes are in KiB."""
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        name, value = line.split(':', 1)
        if name == field:
            return int(value.split()[0])
    raise KeyError(field)


def processor_time(pid):
    """Seconds, in steps of 10 ms."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def leaves_one_each_turn(rises):
    """Whether the first turn of the last third has at least 1 descriptor more than all before, the second 2, and so on."""
    return all(rise > turn for turn, rise in enumerate(rises))


def third(samples, number):
    """The median of the descriptors in one third (0, 1, 2) of the samples."""
    part = samples[len(samples) * number // 3:len(samples) * (number + 1) // 3]
    return statistics.median(sample[1] for sample in part)


def growth(times, samples):
    """(memory in KiB a second, share of the median in a day). `times`: in seconds, of each sample."""
    memory = [sample[0] for sample in samples]
    slope = statistics.linear_regression(times, memory).slope
    return slope, slope * SECONDS_OF_A_DAY / statistics.median(memory)


def figures(before, times, samples, operations):
    """The words of the last line. `before`: the sample before the first turn. `operations`: between the samples."""
    slope, share = growth(times, samples)
    of_operation = slope * 1024 * (times[-1] - times[0]) / operations
    return (f'memory {of_operation:+.1f} bytes an operation, {slope * SECONDS_OF_A_DAY / 1024:+.1f} MiB ({share:+.0%}) '
            f'a day; descriptors {before[1]} at the beginning, {samples[-1][1]} at the end')


class Soak(storm.Storm):
    """Works in turns: all actors act, then all verify and forget what they made."""

    def __init__(self, caip, chance):
        super().__init__(caip, chance)
        self.left = {}  # operations of each actor in a short turn

    def turn(self, seconds):
        over = threading.Event()
        threads = [threading.Thread(target=self.work, args=(actor, over)) for actor in self.actors]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        over.set()
        self.end_turn(threads)

    def short_turn(self):
        self.left = {actor: JOB_OPERATIONS if isinstance(actor, job_actors.JobActor) else OPERATIONS
                     for actor in self.actors}
        threads = [threading.Thread(target=self.work, args=(actor, threading.Event())) for actor in self.actors]
        for thread in threads:
            thread.start()
        self.end_turn(threads)

    def step(self, actor, over):
        super().step(actor, over)
        if actor in self.left:
            self.left[actor] -= 1
            if self.left[actor] <= 0:
                over.set()

    def end_turn(self, threads):
        for thread in threads:
            thread.join()
        self.verify()
        for actor in self.actors:
            actor.clear()
            actor.client.close()

    def fill_readers(self):
        """Makes the emulator open the connections to its databases that it keeps for concurrent readers."""
        clients = [Client(self.emulator) for _ in range(READERS)]
        large = job_actors.Jobs(clients[0], self.chance, 'large')
        large.training_input = {**large.training_input, 'args': LARGE_ARGUMENTS}
        large.create_one()
        clients[0].json('POST', '/v2/entries:write', {
            'logName': f'projects/{PROJECT}/logs/soak', 'resource': {'type': 'global'},
            'entries': [{'insertId': str(number), 'textPayload': 'soak'} for number in range(LOG_ENTRIES)]})
        query = {'resourceNames': [f'projects/{PROJECT}'], 'pageSize': LOG_ENTRIES}
        with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
            for _ in range(LIST_ROUNDS):
                list(pool.map(lambda client: client.json('GET', job_actors.JOBS), clients))
                list(pool.map(lambda client: client.json('POST', '/v2/entries:list', query), clients))
        large.clear()
        clients[0].json('DELETE', f'/v2/projects/{PROJECT}/logs/soak')
        for client in clients:
            client.close()

    def await_rest(self):
        """Returns when no client is connected and the number of descriptors stays the same, or after a limit."""
        began = since = time.monotonic()
        last = None
        while (now := time.monotonic()) - began < REST_SECONDS_MAX:
            seen = None if self.emulator.has_connections() else descriptors(self.emulator.process.pid)
            if seen is None or seen != last:
                last, since = seen, now
            elif now - since >= REST_SECONDS:
                return
            time.sleep(0.02)

    def await_given_back(self):
        """Returns when the emulator has nothing left to do, and has given free memory back since."""
        self.await_rest()
        for _ in range(IDLE_ROUNDS_MAX):
            used = processor_time(self.emulator.process.pid)
            time.sleep(RETURN_SECONDS)
            if processor_time(self.emulator.process.pid) - used < IDLE_SECONDS:
                return

    def sample(self):
        self.await_rest()
        found = sample(self.emulator.process.pid)
        print('soak: {:8d} operations  {:8d} KiB  {:4d} descriptors  {:4d} threads'.format(
            self.operations, *found), flush=True)
        return found

    def report(self, text):
        if not self.failures:
            self.finish()
        for failure in self.failures:
            print(f'soak: {failure}', flush=True)
        print(f'soak: {self.operations} operations; {text}', flush=True)


def run_minutes(soak, warm_up, minutes):
    before, times, samples, at, began = soak.sample(), [], [], [], time.monotonic()
    while (now := time.monotonic() - began) < (warm_up + minutes) * 60 and not soak.failures:
        soak.turn(WORK_SECONDS)
        soak.await_given_back()
        found = soak.sample()
        if now >= warm_up * 60:
            times.append(time.monotonic())
            samples.append(found)
            at.append(soak.operations)
    if soak.failures or len(samples) < 3:  # fewer have no middle third
        soak.report('not complete')
        return True
    soak.report(figures(before, times, samples, at[-1] - at[0]))
    more = third(samples, 2) - third(samples, 1)
    return growth(times, samples)[1] > MEMORY_GROWTH_MAX or more > DESCRIPTOR_GROWTH_MAX


def run_turns(soak, turns):
    before, samples, at = soak.sample(), [], []
    sanitized = status(soak.emulator.process.pid, 'VmSize') > SANITIZED_KIB
    while len(samples) < turns and not soak.failures:
        soak.short_turn()
        samples.append(soak.sample())
        at.append(soak.operations)
    middle, last = samples[turns // 3:turns * 2 // 3], samples[turns * 2 // 3:]
    if soak.failures or not middle or not last:
        soak.report('not complete')
        return True
    operations = at[-1] - at[turns // 3]
    memory = min(one[0] for one in last) - max(one[0] for one in middle)
    rises = [one[1] - max(two[1] for two in middle) for one in last]
    print(f'soak: at least {memory:+d} KiB from the middle to the last third, {rises[-1]:+d} descriptors', flush=True)
    soak.report(f'descriptors {before[1]} at the beginning, {samples[-1][1]} at the end')
    return leaves_one_each_turn(rises) or (not sanitized and memory * 1024 > operations * OPERATION_GROWTH_MAX)


def run(given):
    with Soak(given.caip, random.Random(given.seed)) as soak:
        soak.fill_readers()
        grows = run_turns(soak, given.turns) if given.turns else run_minutes(soak, given.warm_up, given.minutes)
        return 1 if soak.failures or grows else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--minutes', type=float, default=30, help='how long to measure (default: 30, at least 2)')
    parser.add_argument('--warm-up', type=float, default=10, help='minutes before that (default: 10)')
    parser.add_argument('--turns', type=int, help='number of short turns instead, at least 6')
    parser.add_argument('--seed', type=int, default=1, help='seed of the random choices')
    parser.add_argument('--caip', default=os.environ.get('CAIP') or storm.newest_caip())
    given = parser.parse_args()
    if not given.caip or given.minutes < 2 or given.warm_up < 0 or (given.turns or 6) < 6:
        parser.error('caip must be built, --minutes at least 2, --warm-up not negative, and --turns at least 6')
    try:
        return run(given)
    except Lost as error:
        print(f'soak: {error}', flush=True)
        return 1


if __name__ == '__main__':
    sys.exit(main())
