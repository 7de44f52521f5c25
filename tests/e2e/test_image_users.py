#!/usr/bin/env python3
"""USER of images, where an ordinary user runs the emulator: programs of a replica, and those of `caip jobs shell`, are the
user that the image names, to whom the image's files belong. If the tests run as root, the emulator runs as the user nobody."""

import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import framework_image  # noqa: E402
import machine_job  # noqa: E402
import support  # noqa: E402

BUSYBOX = Path('/bin/busybox')
PROJECT = 'demo-project'
HOME = '/home/trainer'
NOTE = 'of the image\n'
NO_RIGHTS = '0000000000000000'
RIGHTS_OF_ROOT = '00000000a00c25fb'  # of a container, with CAP_SYS_PTRACE and without CAP_MKNOD
USERS = {'number': '1234', 'name': 'trainer', 'pair': '1234:200', 'stranger': '5678', 'root': '', 'group': '0:200'}

# Prints the IDs and the rights of the shell itself.
LOOK = r'''
echo "ID [$(id -u):$(id -g)]"
while read -r name value rest; do
  if test "$name" = CapEff:; then echo "RIGHTS [$value]"; fi
done < /proc/self/status
'''

# Writes where the image's user may: the home directory, the working directory with a file of the image, and its output.
WRITE = r'''
for place in "$HOME" "$(pwd)"; do
  echo own > "$place/own" && echo "WROTE [$place/own $(stat -c %u:%g "$place/own")]"
done
echo more >> note && echo "NOTE [$(stat -c %s note)]"
chown 0:0 note 2> /dev/null || echo "KEPT [$(stat -c %u:%g note)]"
echo "OUTPUT [opened]" > /dev/stdout
'''

# Waits for a line in a pipe, in a process of its own.
HOLD = r'''
mkfifo /tmp/release
(read -r line < /tmp/release; echo "RELEASED [$line]") &
wait
'''

# Fills a disk of 8 MB.
FILL = r'''
dd if=/dev/zero of="$HOME/large" bs=1048576 count=12 2> /dev/null && echo "NO LIMIT"
echo "FILLED [$(stat -c %u "$HOME/large")]"
'''


def write_image(directory, user):
    """An image with busybox, the user trainer with a home directory, and a working directory with a file."""
    made = framework_image.Layout(directory)
    files = directory / 'files'
    for name in ('bin', 'etc', 'home', 'app', 'tmp'):
        (files / name).mkdir(parents=True)
    (files / 'home/trainer').mkdir()
    for name in ('sh', 'cat', 'id', 'stat', 'mkfifo', 'chown', 'dd', 'test'):
        shutil.copyfile(BUSYBOX.resolve(), files / 'bin' / name)
        (files / 'bin' / name).chmod(0o755)
    (files / 'etc/passwd').write_text(f'root:x:0:0:root:/root:/bin/sh\ntrainer:x:1234:100::{HOME}:/bin/sh\n')
    (files / 'etc/group').write_text('root:x:0:\nusers:x:100:\nteam:x:200:\n')
    (files / 'app/note').write_text(NOTE)
    made.add_layer({f'/{entry.name}': entry for entry in files.iterdir()})
    return made.finish({'Entrypoint': ['/bin/sh'], 'Env': ['PATH=/bin'], 'WorkingDir': '/app', 'User': user})


class OfAnOrdinaryUser(unittest.TestCase):
    """Jobs of an emulator that an ordinary user runs."""

    flags = ()
    prefix = () if os.getuid() else machine_job.JobOfAnOrdinaryUser.prefix

    @classmethod
    def setUpClass(cls):
        if not BUSYBOX.exists():
            raise unittest.SkipTest('busybox is not in /bin')
        if cls.prefix:
            support.need('setpriv')
            if not machine_job.may_run(cls.prefix, support.caip_binary(), 'version'):
                raise unittest.SkipTest('nobody may not run this caip')
        support.need_isolation(cls.prefix)
        scratch = Path(tempfile.mkdtemp(prefix='caip-users-'))
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        scratch.chmod(0o755)
        images = {f'gcr.io/p/{name}:v1': write_image(scratch / name, user) for name, user in USERS.items()}
        cls.emulator = support.Emulator('--isolation', 'machine', *cls.flags,
                                        config=f'images: {json.dumps(images)}\ncompanions: []\n', prefix=cls.prefix)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()

    def begin(self, image, script):
        """Submits a job that is named after its image."""
        self.addCleanup(self.emulator.caip, 'jobs', 'cancel', image, '--project', PROJECT, check=False)
        self.emulator.caip('jobs', 'submit', 'training', image, '--region', 'us-central1', '--project', PROJECT,
                           '--master-image-uri', f'gcr.io/p/{image}:v1', '--', '-c', script)

    def log_of(self, job):
        """The log, when the job has succeeded."""
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', PROJECT, check=False)
        log = done.stdout + done.stderr
        described = self.emulator.caip('jobs', 'describe', job, '--project', PROJECT, '--format', 'json')
        self.assertEqual(json.loads(described.stdout)['state'], 'SUCCEEDED', log)
        return log

    def shell(self, job, script):
        """Runs a script in the job's replica."""
        return self.emulator.caip('jobs', 'shell', job, '--replica', 'master-replica-0', '--project', PROJECT, '--', 'sh', '-c',
                                  script, check=False)

    def check_identity(self, text, ids, rights):
        """`ids`: user and group, as the script prints them."""
        self.assertEqual(self.values(text, 'ID'), [ids], text)
        self.assertEqual(self.values(text, 'RIGHTS'), [rights], text)

    @staticmethod
    def values(text, name):
        return re.findall(rf'\b{name} \[(.*?)\]', text)


class Users(OfAnOrdinaryUser):
    def test_a_number_is_the_user_who_writes_the_files_of_the_image(self):
        self.begin('number', LOOK + WRITE)
        log = self.log_of('number')
        self.check_identity(log, '1234:100', NO_RIGHTS)
        self.assertEqual(self.values(log, 'WROTE'), [f'{HOME}/own 1234:100', '/app/own 1234:100'], log)
        self.assertEqual(self.values(log, 'NOTE'), [str(len(NOTE + 'more\n'))], log)
        self.assertEqual(self.values(log, 'KEPT'), ['1234:100'], log)
        self.assertEqual(self.values(log, 'OUTPUT'), ['opened'], log)
        self.assertNotIn('runs as root of its machine', log)

    def test_a_name_is_looked_up_in_the_image(self):
        self.begin('name', LOOK)
        self.check_identity(self.log_of('name'), '1234:100', NO_RIGHTS)

    def test_a_group_is_the_group_of_the_user(self):
        self.begin('pair', LOOK)
        self.check_identity(self.log_of('pair'), '1234:200', NO_RIGHTS)

    def test_a_number_that_the_image_does_not_know_has_the_group_of_root(self):
        self.begin('stranger', LOOK)
        self.check_identity(self.log_of('stranger'), '5678:0', NO_RIGHTS)

    def test_an_image_that_names_none_runs_as_root_of_its_machine(self):
        self.begin('root', LOOK)
        log = self.log_of('root')
        self.check_identity(log, '0:0', RIGHTS_OF_ROOT)
        self.assertNotIn('runs as root of its machine', log)

    def test_root_with_another_group_keeps_its_own_with_a_line_in_the_log(self):
        self.begin('group', LOOK)
        log = self.log_of('group')
        self.check_identity(log, '0:0', RIGHTS_OF_ROOT)
        self.assertIn('The image names the user root with the group 200. It runs in the group of root', log)


class RefusedUsers(OfAnOrdinaryUser):
    """The kernel makes no user namespace below that of the emulator, whose root has no other user."""

    prefix = ('unshare', '--user', '--map-root-user', 'sh', '-c',
              'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh')

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('needs root')
        if support.run([*cls.prefix, 'true'], check=False).returncode != 0:
            raise unittest.SkipTest('this host makes no such user namespace')
        super().setUpClass()

    def test_are_root_with_a_line_in_the_log(self):
        self.begin('number', LOOK)
        log = self.log_of('number')
        self.check_identity(log, '0:0', RIGHTS_OF_ROOT)
        self.assertIn('This replica runs as root of its machine, not as the user that its image names, because the kernel '
                      'refuses a user namespace with that user: No space left on device.', log)


class Shells(OfAnOrdinaryUser):
    def hold(self, image):
        """Begins a job that waits, and awaits its pipe."""
        support.need_entry()
        self.begin(image, HOLD)
        support.wait_for(lambda: self.shell(image, 'test -p /tmp/release').returncode == 0, f'the pipe of {image}')

    def test_are_the_user_of_the_image_with_its_files_and_processes(self):
        self.hold('number')
        done = self.shell('number', LOOK + 'echo "DIRECTORY [$(pwd)]"; echo "INIT [$(cat /proc/1/comm)]"\n'
                                           'echo own > own; echo "OWNER [$(stat -c %u own)]"; exit 7')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.check_identity(done.stdout, '1234:100', NO_RIGHTS)
        self.assertEqual([self.values(done.stdout, name) for name in ('DIRECTORY', 'INIT', 'OWNER')],
                         [['/app'], ['caip-replica'], ['1234']])
        self.shell('number', 'echo by the shell > /tmp/release')
        self.assertEqual(self.values(self.log_of('number'), 'RELEASED'), ['by the shell'])

    def test_are_root_of_the_machine_in_an_image_without_a_user(self):
        self.hold('root')
        done = self.shell('root', LOOK)
        self.check_identity(done.stdout, '0:0', RIGHTS_OF_ROOT)
        self.shell('root', 'echo done > /tmp/release')
        self.assertEqual(self.values(self.log_of('root'), 'RELEASED'), ['done'])

    def test_leave_no_process_when_the_job_is_cancelled(self):
        """All processes of the user end with the job: the init of the machine is in another user namespace."""
        self.hold('pair')
        self.emulator.caip('jobs', 'cancel', 'pair', '--project', PROJECT)

        def state():
            described = self.emulator.caip('jobs', 'describe', 'pair', '--project', PROJECT, '--format', 'json')
            return json.loads(described.stdout)['state']
        support.wait_for(lambda: state() == 'CANCELLED', 'the end of the job')
        support.wait_for(lambda: not processes_of('pair'), 'the end of its processes')


class WatchedUsers(OfAnOrdinaryUser):
    """The disk of a replica has a limit, so caip watches its calls."""

    flags = ('--disk-limits', '8MB')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        facts = json.loads(cls.emulator.caip('doctor', '--format', 'json').stdout)
        watched = next(fact for fact in facts if fact['name'] == 'watched replicas')
        if watched['found'] != 'yes':
            raise unittest.SkipTest(f'the calls of a static program cannot be held here: {watched["detail"]}')

    def test_are_the_user_of_the_image(self):
        self.begin('number', LOOK + FILL)
        log = self.log_of('number')
        self.check_identity(log, '1234:100', NO_RIGHTS)
        self.assertEqual(self.values(log, 'FILLED'), ['1234'], log)
        self.assertNotIn('NO LIMIT', log)
        self.assertIn('boot disk of this replica was full', log)


def processes_of(job):
    """The processes of a job's replicas, by a variable of their environment."""
    found = []
    for entry in Path('/proc').glob('[0-9]*'):
        try:
            variables = (entry / 'environ').read_text(errors='replace').split('\0')
        except OSError:
            continue
        if any(one.startswith('CAIP_REPLICA=') and f'/{PROJECT}/{job}/' in one for one in variables):
            found.append(entry.name)
    return found


if __name__ == '__main__':
    support.main()
