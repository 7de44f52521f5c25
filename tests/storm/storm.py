#!/usr/bin/env python3
"""Kills the emulator under load again and again, and checks that it lost nothing that it had acknowledged.

Each round runs actors against one emulator: objects (written, composed, copied, moved, deleted), resumable
and multipart uploads, settings of buckets and objects, images, training jobs, custom jobs and tuning jobs,
log entries, studies. At a random moment the emulator, the process that starts its replicas, or both get
SIGKILL. With --power-cut all processes get it, and what was not synced may be gone from the disk. With
--faults the disk is full or read-only before the kill, or descriptors run out. The emulator starts again,
and each actor compares what it finds with what was acknowledged. No process of the killed emulator may be
left, nor one of a job that has ended. In the end all jobs end, the emulator stops, no process is left, and
the lock that launchers hold is free.

Exit codes: 0 nothing was lost; 1 something was lost (it is printed), or rounds should have killed launchers and
found none; 2 wrong arguments.
"""

import argparse
import collections
import errno
import functools
import http.client
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import job_actors
import registry_actors
import service_actors
import settings_actors
import storage_actors
import xml_actors
from disk_fault import DiskFault, build_disk_library
from world import Client, Emulator, Lost, Refused, ROOT

UNANSWERED = (OSError, http.client.HTTPException)
KINDS = (storage_actors.Objects, storage_actors.Objects, storage_actors.Uploads,
         job_actors.Jobs, job_actors.Jobs, service_actors.Logs, service_actors.Studies,
         xml_actors.MultipartUploads, registry_actors.Images, settings_actors.Settings,
         job_actors.CustomJobs, job_actors.TuningJobs, job_actors.VertexTuningJobs)
ROUNDS_OF_A_STATE = 25
ORPHAN_SECONDS = 10
SETTLE_SECONDS = 3  # a job's state that could not be saved is tried again each second


class Storm:
    """One emulator, its actors, and the kills."""

    def __init__(self, caip, chance):
        self.chance = chance
        self.emulator = Emulator(caip)
        self.summary = collections.Counter()
        self.actors = [kind(Client(self.emulator), random.Random(chance.getrandbits(64)),
                            f'{kind.__name__.lower()}{number}') for number, kind in enumerate(KINDS)]
        self.failures = []
        self.operations = 0
        self.launchers = collections.Counter()  # rounds 'due' to kill one, and those 'killed'

    def __enter__(self):
        self.emulator.start()
        Client(self.emulator).json('POST', '/storage/v1/b?project=storm-project', {'name': 'storm-bucket'})
        return self

    def __exit__(self, *_):
        if self.emulator.process.poll() is None:
            self.emulator.kill()
        self.emulator.remove()

    def work(self, actor, over):
        try:
            while not over.is_set():
                self.step(actor, over)
        except UNANSWERED as error:
            if not over.is_set():
                self.failures.append(f'{type(actor).__name__}: no answer before the kill: {error!r}')
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.failures.append(f'{type(actor).__name__}: {error!r}')
        finally:
            actor.client.close()

    def step(self, actor, _over):
        actor.act()
        self.operations += 1

    def round(self):
        over = threading.Event()
        threads = [threading.Thread(target=self.work, args=(actor, over)) for actor in self.actors]
        for thread in threads:
            thread.start()
        time.sleep(self.chance.uniform(0.02, 0.4))
        ended = self.interrupt(over)
        for thread in threads:
            thread.join()
        if ended:
            self.recover()
        self.verify()
        self.look_for_processes()

    def interrupt(self, over):
        """Ends processes of the emulator, and sets `over`. True: the emulator itself ended."""
        victim = self.chance.choice(['emulator', 'emulator', 'launcher', 'both'])
        self.launchers['due'] += victim in ('launcher', 'both')
        if victim == 'launcher':
            self.launchers['killed'] += self.emulator.kill_launcher()
            time.sleep(self.chance.uniform(0, 0.1))
        over.set()  # before the kill: an operation without an answer is right from now on
        if victim != 'launcher':
            self.launchers['killed'] += self.emulator.kill(launcher_too=victim == 'both')
        return victim != 'launcher'

    def recover(self):
        self.emulator.start()

    def verify(self):
        for actor in self.actors:
            try:
                actor.verify()
            except Lost as error:
                self.failures.append(f'{type(actor).__name__}: {error}')
            except UNANSWERED as error:
                self.failures.append(f'{type(actor).__name__}: no answer after the restart: {error!r}')

    def job_actors(self):
        return [actor for actor in self.actors if isinstance(actor, job_actors.JobActor)]

    def look_for_processes(self):
        """No process of an ended job, and soon none of an emulator that was killed, may be left."""
        ended = {name.rsplit('/', 1)[-1] for actor in self.job_actors() for name in actor.ended}
        late = {pid: job for pid, job in self.emulator.replicas().items() if job in ended}
        if late:
            self.failures.append(f'processes of jobs that have ended: {late}')
        self.await_none_of(self.emulator.orphans)

    def await_none_of(self, processes):
        deadline = time.monotonic() + ORPHAN_SECONDS
        while left := processes():
            if time.monotonic() > deadline:
                self.failures.append(f'processes are left: {left}')
                return
            time.sleep(0.02)

    def finish(self):
        for actor in self.job_actors():
            try:
                actor.drain()
            except Lost as error:
                self.failures.append(f'{type(actor).__name__}: {error}')
        self.emulator.stop()
        if not self.emulator.is_launcher_lock_free():
            self.failures.append('the lock of the launchers is still held')
        self.await_none_of(self.emulator.own_processes)


class PowerCuts(Storm):
    """Cuts the power: what was not synced may be gone from the disk."""

    def __init__(self, caip, chance, library):
        super().__init__(caip, chance)
        self.disk = self.emulator.watch_disk(library)
        for actor in self.actors:
            actor.power_cuts = True

    def interrupt(self, over):
        over.set()
        self.emulator.kill_all()
        return True

    def recover(self):
        self.summary.update(self.disk.cut(self.chance))
        super().recover()


class Faults(Storm):
    """Makes the disk full or read-only, or takes the descriptors, for a while. Then it kills the emulator.

    An operation in that time may be refused. Soon after it all works, and what was acknowledged is there.
    """

    def __init__(self, caip, chance, library):
        super().__init__(caip, chance)
        self.fault = DiskFault(self.emulator.directory / 'fault')
        self.emulator.environment.update(self.fault.environment(library))
        self.begun, self.settled = threading.Event(), threading.Event()
        self.doubtful = set()  # actors that do not know whether their last operation had an effect
        for actor in self.actors:
            actor.may_fail = True

    def round(self):
        self.begun.clear()
        self.settled.clear()
        super().round()

    def interrupt(self, over):
        kind = self.chance.choice(['full disk', 'read-only disk', 'no descriptors'])
        self.summary[f'times {kind}'] += 1
        self.begun.set()
        with self.make(kind):
            time.sleep(self.chance.uniform(0.02, 0.4))
        if self.chance.random() < 0.3:
            time.sleep(SETTLE_SECONDS)
            self.settled.set()
            time.sleep(0.2)
        return super().interrupt(over)

    def make(self, kind):
        if kind == 'no descriptors':
            return self.emulator.few_descriptors(self.chance.randrange(6))
        return self.fault.of(errno.ENOSPC if kind == 'full disk' else errno.EROFS)

    def step(self, actor, over):
        settled = self.settled.is_set()
        try:
            if actor in self.doubtful:
                actor.verify()
                self.doubtful.discard(actor)
            super().step(actor, over)
        except (Refused, *UNANSWERED) as error:
            killed = over.is_set() and not isinstance(error, Refused)
            if settled or killed or isinstance(error, TimeoutError) or not self.begun.is_set():
                raise
            self.doubtful.add(actor)
            self.summary['operations refused'] += 1
            time.sleep(0.01)

    def verify(self):
        super().verify()
        self.doubtful.clear()


def newest_caip():
    built = [ROOT / 'build' / name / 'caip' for name in ('release', 'quick', 'dev')]
    built = [path for path in built if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=int, default=100, help='number of kills (default: 100)')
    parser.add_argument('--seed', type=int, help='seed of the random choices, to repeat a run')
    parser.add_argument('--caip', default=os.environ.get('CAIP') or newest_caip())
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--faults', action='store_true', help='also fill the disk, make it read-only, take descriptors')
    kinds.add_argument('--power-cut', action='store_true', help='also drop what was not synced to the disk')
    given = parser.parse_args()
    if not given.caip or not Path(given.caip).exists():
        parser.error('caip is not built. Build it, or give --caip.')
    return given


def kind_of_storm(given, directory):
    """Makes the storm that the arguments ask for; None: this host cannot."""
    if not given.power_cut and not given.faults:
        return Storm
    library = build_disk_library(directory)
    return library and functools.partial(PowerCuts if given.power_cut else Faults, library=library)


def complaints_about(launchers):
    """The rounds test nothing about launchers if the storm does not find these."""
    if launchers['killed'] or not launchers['due']:
        return []
    failure = f'{launchers["due"]} rounds should have killed a launcher, and none did'
    print(f'storm: {failure}', flush=True)
    return [failure]


def run(given, make_storm, chance):
    rounds, operations, failures, began = 0, 0, [], time.monotonic()
    summary, launchers = collections.Counter(), collections.Counter()
    while rounds < given.rounds and len(failures) < 10:
        with make_storm(given.caip, chance) as storm:
            for _ in range(min(ROUNDS_OF_A_STATE, given.rounds - rounds)):
                storm.round()
                rounds += 1
                if storm.failures:
                    break
            if not storm.failures:
                storm.finish()
            operations += storm.operations
            summary += storm.summary
            launchers += storm.launchers
            for failure in storm.failures:
                print(f'storm: round {rounds}: {failure}', flush=True)
            failures += storm.failures
    failures += complaints_about(launchers)
    for words, count in summary.items():
        print(f'storm: {count} {words}')
    print(f'storm: {rounds} kills under {operations} acknowledged operations in '
          f'{time.monotonic() - began:.0f} s: {len(failures)} losses, '
          f'{launchers["killed"]} launchers killed', flush=True)
    return 1 if failures else 0


def main():
    given = arguments()
    seed = given.seed if given.seed is not None else random.SystemRandom().getrandbits(32)
    print(f'storm: {given.rounds} rounds, seed {seed}', flush=True)
    with tempfile.TemporaryDirectory(prefix='caip-storm-') as directory:
        make_storm = kind_of_storm(given, directory)
        if make_storm is None:
            print('storm: skipped: this host has no C compiler')
            return 0
        return run(given, make_storm, random.Random(seed))


if __name__ == '__main__':
    sys.exit(main())
