#!/usr/bin/env python3
"""The process that `caip jobs shell` starts in a machine: before it executes its program, programs of the replica see it, and
root of the machine may trace it. It has no right that they lack, and no file of caip, and nobody can change the file of its
program."""

import ast
import errno
import os
import select
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import machine_job  # noqa: E402
import support  # noqa: E402

IMAGE = 'gcr.io/p/sleeper:v1'
CONTAINER = 0xa00c25fb  # the capabilities of a container, with CAP_SYS_PTRACE and without CAP_MKNOD
SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'
# The process looks for its program in all these directories, which takes a while.
LONG_PATH = '/x:' * 40000 + SYSTEM_PATH

# Looks at all processes that begin, until a program has made a file.
WATCH = r'''
import errno
import os

def try_to_change(process, name):
    """Sets the mode of the process's program as it is. Returns the name of the program, and the error."""
    try:
        program = os.open(f'/proc/{process}/exe', os.O_PATH)
    except OSError as error:
        # A process that ends has no program from then on, whether or not somebody has waited for it.
        is_gone = error.errno in (errno.ENOENT, errno.ESRCH)
        return '' if is_gone else name, error.errno
    opened = f'/proc/self/fd/{program}'
    name = os.path.basename(os.readlink(opened))
    try:
        os.chmod(opened, os.stat(opened).st_mode & 0o7777)
        return name, 0
    except OSError as error:
        return name, error.errno
    finally:
        os.close(program)

known = set(os.listdir('/proc'))
seen = set()
changes = set()
print('ready', flush=True)
while not os.path.exists('/tmp/made'):
    for entry in os.listdir('/proc'):
        if entry in known or not entry.isdigit():
            continue
        try:
            with open(f'/proc/{entry}/status') as status:
                fields = dict(line.rstrip('\n').split(':\t', 1) for line in status if ':\t' in line)
        except OSError:
            continue
        try:
            files = len([fd for fd in os.listdir(f'/proc/{entry}/fd') if int(fd) > 2])
        except OSError:
            files = 0
        seen.add((fields['Name'], fields['CapPrm'], fields['CapEff'], fields['CapBnd'], files))
        change = try_to_change(entry, fields['Name'])
        if change[0] == 'caip' and not any(one[0] == 'caip' for one in changes):
            print('seen', flush=True)
        changes.add(change)
print((sorted(seen), sorted(changes)), flush=True)
'''


def makes_read_only_mounts(prefix):
    """Whether a caip of this user can be executed from a read-only mount: Linux 5.12 and later, with the right to mount."""
    release = tuple(int(number) for number in os.uname().release.split('.')[:2])
    return release >= (5, 12) and support.run([*prefix, 'unshare', '--mount', 'true'], check=False).returncode == 0


class OfRoot(unittest.TestCase):
    """Of an emulator that the user of the tests runs."""

    prefix = ()

    @classmethod
    def setUpClass(cls):
        support.need_entry()
        support.need_isolation(cls.prefix)
        config = f'images: {{"{IMAGE}": "env PATH={LONG_PATH} sleep 600"}}\n'
        cls.emulator = support.Emulator('--isolation', 'machine', config=config, prefix=cls.prefix)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()
        cls.emulator.caip('jobs', 'submit', 'training', 'job', '--project', 'p', '--region', 'us-central1', '--master-image-uri',
                          IMAGE)

    def words(self, *program):
        return [str(word) for word in (*self.prefix, support.caip_binary(), 'jobs', 'shell', 'job', '--project', 'p', '--state',
                                       self.emulator.state, '--', *program)]

    def environment(self):
        return {**support.clean_environment(), **self.emulator.home}

    def runs(self):
        return support.run(self.words('/bin/true'), env=self.environment(), check=False).returncode == 0

    def enters_seen_by(self, watch):
        """Starts a program, and returns whether its process was seen."""
        support.run(self.words('true'), env=self.environment())
        return select.select([watch.stdout], [], [], 0)[0]

    def test_it_has_no_more_rights_than_the_replica(self):
        support.wait_for(self.runs, 'the replica')
        python = shutil.which('python3', path=SYSTEM_PATH)
        if python is None:
            self.skipTest(f'no python3 in {SYSTEM_PATH}')
        with subprocess.Popen(self.words(python, '-c', WATCH), stdout=subprocess.PIPE, text=True,
                              env=self.environment()) as watch:
            self.assertEqual(watch.stdout.readline(), 'ready\n')
            try:
                support.wait_for(lambda: self.enters_seen_by(watch), 'a process that is seen before its program')
                self.assertEqual(watch.stdout.readline(), 'seen\n')
            finally:
                support.run(self.words('touch', '/tmp/made'), env=self.environment())
            seen, changes = ast.literal_eval(watch.stdout.read())
        before = [one for one in seen if one[0] == 'caip']
        if makes_read_only_mounts(self.prefix):
            self.assertEqual([change for change in changes if change[0] == 'caip'], [('caip', errno.EROFS)], changes)
        for _, *rights, files in before:
            for mask in rights:
                self.assertEqual(int(mask, 16) & ~CONTAINER, 0, seen)
            self.assertLessEqual(files, 1, seen)  # its socket for the report of a failure


class OfAnOrdinaryUser(OfRoot):
    """If the tests run as root: of an emulator that the user nobody runs."""

    prefix = machine_job.JobOfAnOrdinaryUser.prefix

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('the tests run as an ordinary user already')
        support.need('setpriv')
        if not machine_job.may_run(cls.prefix, support.caip_binary(), 'version'):
            raise unittest.SkipTest('nobody may not run this caip')
        super().setUpClass()


if __name__ == '__main__':
    support.main()
