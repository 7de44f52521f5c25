#!/usr/bin/env python3
"""The storm finds what an emulator leaves, although a launcher has neither an environment nor arguments."""

import collections
import contextlib
import os
import signal
import time
import unittest

import storm
from world import PROJECT, STUDY_IMAGE, Client, Emulator, facts_of

SECONDS = 60


def kill_if_left(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Leftovers(unittest.TestCase):
    """A launcher that is stopped survives its emulator, and does not end its replicas."""

    def setUp(self):
        self.emulator = Emulator(os.environ['CAIP'])
        self.addCleanup(self.emulator.remove)
        self.emulator.start()
        self.addCleanup(self.emulator.kill_all)

    def stop_launcher(self):
        launchers = self.emulator.launchers()
        self.assertEqual(len(launchers), 1)
        os.kill(launchers[0], signal.SIGSTOP)
        self.addCleanup(kill_if_left, launchers[0])
        return launchers[0]

    def start_replica(self):
        """The first process of a replica that runs."""
        client = Client(self.emulator)
        client.json('POST', f'/v1/projects/{PROJECT}/jobs', {'jobId': 'waits', 'trainingInput': {
            'region': 'us-central1', 'scaleTier': 'CUSTOM', 'masterType': 'n1-standard-4',
            'masterConfig': {'imageUri': STUDY_IMAGE, 'containerCommand': ['sleep', '1000']}}})
        client.close()
        deadline = time.monotonic() + SECONDS
        while not (marked := self.emulator.replicas()):
            self.assertLess(time.monotonic(), deadline, 'no replica runs')
            time.sleep(0.02)
        return facts_of(min(marked))[1]

    def test_a_launcher_that_outlives_its_emulator_is_found(self):
        launcher = self.stop_launcher()
        self.emulator.kill()
        self.assertIn(launcher, self.emulator.own_processes())
        self.assertFalse(self.emulator.is_launcher_lock_free(0))

    def test_an_unknown_launcher_that_outlives_its_emulator_holds_the_lock(self):
        launcher = self.stop_launcher()
        self.emulator.kill()
        self.emulator.family.clear()
        self.assertNotIn(launcher, self.emulator.own_processes())
        self.assertFalse(self.emulator.is_launcher_lock_free(0))
        os.kill(launcher, signal.SIGKILL)
        self.assertTrue(self.emulator.is_launcher_lock_free())

    def test_the_first_process_of_a_machine_is_found(self):
        first = self.start_replica()
        if os.readlink(f'/proc/{first}/ns/mnt') == os.readlink('/proc/self/ns/mnt'):
            self.skipTest('this host allows no machines')
        self.stop_launcher()
        self.emulator.kill()
        self.assertIn(first, self.emulator.own_processes())
        self.emulator.family.clear()
        self.assertIn(first, self.emulator.own_processes(), 'it can start after the family was noted')

    def test_nothing_is_left_after_all_was_killed(self):
        self.start_replica()
        self.stop_launcher()
        self.emulator.kill_all()
        self.assertEqual(self.emulator.own_processes(), {})
        self.assertTrue(self.emulator.is_launcher_lock_free())

    def test_killed_launchers_are_counted(self):
        self.assertEqual(self.emulator.kill_launcher(), 1)
        self.assertEqual(self.emulator.kill(), 0)


class Complaints(unittest.TestCase):
    def test_a_run_that_should_have_killed_launchers_and_did_not_fails(self):
        self.assertEqual(len(storm.complaints_about(collections.Counter(due=3))), 1)
        self.assertEqual(storm.complaints_about(collections.Counter(due=3, killed=1)), [])
        self.assertEqual(storm.complaints_about(collections.Counter()), [])


if __name__ == '__main__':
    unittest.main()
