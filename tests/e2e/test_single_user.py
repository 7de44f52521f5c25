#!/usr/bin/env python3
"""USER of images, where root of a user namespace runs the emulator that has no other user, or root who may make no namespaces:
the same as where an ordinary user runs it. Root of the host runs programs in the machines of both."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))
sys.path.insert(0, str(ROOT / 'tests/e2e'))

import support  # noqa: E402
import test_image_users  # noqa: E402


class SingleUser:
    """The emulator and its clients are root of such namespaces."""

    prefix = ('unshare', '--user', '--map-root-user')

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('needs root')
        if support.run([*cls.prefix, 'true'], check=False).returncode != 0:
            raise unittest.SkipTest('this host makes no such user namespace')
        super().setUpClass()


class Users(SingleUser, test_image_users.Users):
    pass


class Shells(SingleUser, test_image_users.Shells):
    def shell(self, job, script):
        """Runs a script in the job's replica, as root of the namespace of the emulator."""
        words = ['nsenter', '--user', '--preserve-credentials', '--target', self.emulator.process.pid, support.caip_binary(),
                 'jobs', 'shell', job, '--state', self.emulator.state, '--replica', 'master-replica-0', '--project',
                 test_image_users.PROJECT, '--', 'sh', '-c', script]
        return support.run(words, env={**support.clean_environment(), **self.emulator.home}, check=False)


class OfRootOfTheHost:
    """Shells of root of the host, who is in another group."""

    def shell(self, job, script):
        words = ['setpriv', '--groups', '4321', support.caip_binary(), 'jobs', 'shell', job, '--state', self.emulator.state,
                 '--replica', 'master-replica-0', '--project', test_image_users.PROJECT, '--', 'sh', '-c', script]
        return support.run(words, env={**support.clean_environment(), **self.emulator.home}, check=False)


class ShellsFromOutside(OfRootOfTheHost, SingleUser, test_image_users.Shells):
    """The emulator is in a user namespace."""


class ShellsInMachinesOfAnotherUser(OfRootOfTheHost, test_image_users.Shells):
    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('needs root')
        super().setUpClass()

    def test_have_no_group_of_root(self):
        self.hold('group')
        done = self.shell('group', 'while read -r name list; do test $name != Groups: || echo "GROUPS [$list]"; done < '
                                  '/proc/self/status')
        self.assertEqual(self.values(done.stdout, 'GROUPS'), [''], done.stderr)


class WithoutRights:
    """Root runs the emulator, without the right to make namespaces."""

    prefix = ('setpriv', '--bounding-set', '-sys_admin')

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('needs root')
        if support.run([*SingleUser.prefix, 'true'], check=False).returncode != 0:
            raise unittest.SkipTest('this host makes no user namespace')
        super().setUpClass()


class UsersWithoutRights(WithoutRights, test_image_users.Users):
    pass


class ShellsWithoutRights(WithoutRights, test_image_users.Shells):
    pass


class NoMachines(WithoutRights, unittest.TestCase):
    """The kernel makes no user namespace either."""

    prefix = ('unshare', '--user', '--map-root-user', 'sh', '-c',
              'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -sys_admin "$@"', 'sh')
    why = 'making the namespaces of a machine: No space left on device. A setting of this host denies user namespaces'

    def test_the_doctor_reports_why(self):
        with tempfile.TemporaryDirectory() as state:
            done = support.run([*self.prefix, support.caip_binary(), 'doctor', '--format', 'json', '--state', state])
        fact = next(fact for fact in json.loads(done.stdout) if fact['name'] == 'isolation')
        self.assertEqual(fact['found'], 'no')
        self.assertIn(self.why, fact['detail'])

    def test_machines_are_refused_with_the_reason(self):
        with tempfile.TemporaryDirectory() as state:
            done = support.run([*self.prefix, support.caip_binary(), 'serve', '--port', '0', '--isolation', 'machine', '--state',
                                state], check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f'Replicas cannot have machines of their own on this host ({self.why}', done.stderr)


class WatchedUsers(SingleUser, test_image_users.WatchedUsers):
    pass


if __name__ == '__main__':
    support.main()
