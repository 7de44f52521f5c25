#!/usr/bin/env python3
"""Runs the actors of the storm against one emulator for a while, without kills, and watches its memory and descriptors.

The actors delete what they make, so that what the emulator keeps stays about the same. Each sample is one
line of the report. In the end, growth is the difference between the middle and the last third of the
samples, each by its median, extrapolated to a day.

Exit codes: 0 flat, and nothing was lost; 1 something grows, or was lost; 2 wrong arguments.
"""

import argparse
import random
import statistics
import sys
import threading
import time
from pathlib import Path

import storm
from world import Lost

SECONDS_OF_A_DAY = 86_400
SAMPLE_SECONDS = 5
MEMORY_GROWTH_MAX = 0.5  # of the memory of the middle third, in a day
DESCRIPTOR_GROWTH_MAX = 4  # between the thirds


def sample(pid):
    """(its own resident memory in KiB, open descriptors, threads) of a process.

    Pages of mapped files are not its own: the kernel drops them when memory is short.
    """
    status = Path(f'/proc/{pid}/status').read_text()
    fields = dict(line.split(':', 1) for line in status.splitlines() if ':' in line)
    return (int(fields['RssAnon'].split()[0]), len(list(Path(f'/proc/{pid}/fd').iterdir())),
            int(fields['Threads']))


def third(samples, number):
    """The medians of the samples of one third (0, 1, 2)."""
    part = samples[len(samples) * number // 3:len(samples) * (number + 1) // 3]
    return [statistics.median(column) for column in zip(*part)]


def growth(samples, seconds):
    """(memory in KiB a day, share of the middle third a day, descriptors)."""
    middle, last = third(samples, 1), third(samples, 2)
    memory = (last[0] - middle[0]) / (seconds / 3) * SECONDS_OF_A_DAY
    return memory, memory / middle[0], last[1] - middle[1]


class Soak(storm.Storm):
    """Works in turns: all actors act, then all verify and forget what they made."""

    def turn(self, seconds):
        over = threading.Event()
        threads = [threading.Thread(target=self.work, args=(actor, over)) for actor in self.actors]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        over.set()
        for thread in threads:
            thread.join()
        self.verify()
        for actor in self.actors:
            actor.clear()


def run(given):
    chance = random.Random(given.seed)
    samples = []
    with Soak(given.caip, chance) as soak:
        began = time.monotonic()
        while time.monotonic() - began < given.minutes * 60 and not soak.failures:
            soak.turn(SAMPLE_SECONDS)
            samples.append(sample(soak.emulator.process.pid))
            print('soak: {:6.0f} s  {:8d} KiB  {:4d} descriptors  {:4d} threads'.format(
                time.monotonic() - began, *samples[-1]), flush=True)
        seconds = time.monotonic() - began
        if not soak.failures:
            soak.finish()
        for failure in soak.failures:
            print(f'soak: {failure}', flush=True)
        memory, share, descriptors = growth(samples, seconds)
        print(f'soak: {soak.operations} operations; a day would add {memory / 1024:.0f} MiB '
              f'({share:.0%}); {descriptors:+.0f} descriptors', flush=True)
        grows = share > MEMORY_GROWTH_MAX or descriptors > DESCRIPTOR_GROWTH_MAX
        return 1 if soak.failures or grows else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--minutes', type=float, default=5, help='how long to run (default: 5)')
    parser.add_argument('--seed', type=int, default=1, help='seed of the random choices')
    parser.add_argument('--caip', default=storm.newest_caip())
    given = parser.parse_args()
    if not given.caip or given.minutes <= 0:
        parser.error('caip must be built, and --minutes must be positive')
    try:
        return run(given)
    except Lost as error:
        print(f'soak: {error}', flush=True)
        return 1


if __name__ == '__main__':
    sys.exit(main())
