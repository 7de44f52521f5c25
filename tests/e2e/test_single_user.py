#!/usr/bin/env python3
"""USER of images, where root of a user namespace runs the emulator that has no other user: the same as where an ordinary user
runs it."""

import os
import sys
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


class WatchedUsers(SingleUser, test_image_users.WatchedUsers):
    pass


if __name__ == '__main__':
    support.main()
