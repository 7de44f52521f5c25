#!/usr/bin/env python3
"""Machines of an ordinary user on hosts with more than one file system, as all containers are: a machine has the host's files
beside the mounts, and hides the state directory on any of them. If the tests run as root, the user nobody runs caip."""

import hashlib
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

import machine_job  # noqa: E402
import support  # noqa: E402

IMAGE = 'gcr.io/p/shell:v1'
LOCATION = ('--project', 'demo-project', '--region', 'us-central1')

# The mounts that an engine of containers makes.
LIKE_A_CONTAINER = 'for file in hosts hostname resolv.conf; do test ! -f /etc/$file || mount --bind /etc/$file /etc/$file; done'

# A /var with a directory of few entries, and with a mount, so that the machine of a user has no overlay of all of it. A process
# of the host holds locks.
SMALL_DIRECTORY = ('''mount -t tmpfs -o mode=755 none /var; mkdir -m 1777 /var/tmp; mkdir -p /var/data/inner /var/data/searched /var/data/closed /var/disk
echo text > /var/data/inner/file; echo text > /var/data/file; echo text > /var/data/searched/file
chmod 711 /var/data/searched; chmod 700 /var/data/closed; ln -s inner /var/data/link; mount -t tmpfs none /var/disk
exec 8< /var/data/file 9< /var/data/inner/file; flock -n 8; flock -n 9''')

LOOK_AT_ETC = r'''
cd /etc
echo "NAMES [$(ls -A | tr '\n' ' ')]"
for entry in * .[!.]*; do test ! -L "$entry" || links="$links$entry=$(readlink "$entry") "; done
echo "LINKS [$links]"
for file in passwd nsswitch.conf ld.so.cache; do test ! -e $file || echo "SUM [$file $(sha256sum < $file)]"; done
echo "USER [$(id -un)]"
echo new > /etc/caip-new && echo "NEW [$(cat /etc/caip-new)]"
echo "NAME [$(cat /etc/hostname)] HOST [$(hostname)]"
'''


class UserMachines(unittest.TestCase):
    """Each test runs its commands with mounts of their own."""

    user = machine_job.JobOfAnOrdinaryUser.prefix if os.getuid() == 0 else ()
    namespace = ('unshare', '--mount') if os.getuid() == 0 else ('unshare', '--user', '--map-root-user', '--mount')

    @classmethod
    def setUpClass(cls):
        support.need('unshare', 'setpriv')
        if support.run([*cls.namespace, 'true'], check=False).returncode != 0:
            raise unittest.SkipTest('this host permits no mounts of a test')
        if not machine_job.may_run(cls.user, support.caip_binary(), 'version'):
            raise unittest.SkipTest('nobody may not run this caip')
        support.need_isolation(cls.user)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix='caip-mounts-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        settings = self.folder / 'settings.yaml'
        settings.write_text(f'isolation: machine\ncompanions: []\nimages: {{"{IMAGE}": [sh]}}\n')
        self.give(self.folder, settings)

    def give(self, *paths):
        """Gives the files to the user who runs caip."""
        if self.user:
            for path in paths:
                os.chown(path, machine_job.NOBODY, machine_job.NOBODY)

    def run_with_mounts(self, mounts, state, words):
        """Runs caip as the user, after the script has made mounts that only the command has."""
        env = {**support.clean_environment(), 'HOME': str(self.folder), 'CAIP_STATE': str(state)}
        script = f'set -e\n{mounts}\nexec "$@"'
        done = support.run([*self.namespace, 'sh', '-c', script, self.folder, *self.user, support.caip_binary(), *words],
                           env=env, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def log_of(self, mounts, script, state=None):
        """What the script writes on a machine."""
        return self.run_with_mounts(mounts, state or self.folder / 'state', [
            'jobs', 'submit', 'training', 'job', *LOCATION, '--master-image-uri', IMAGE, '--emulator-config',
            self.folder / 'settings.yaml', '--stream-logs', '--', '-c', script])

    @staticmethod
    def values(log, name):
        return re.findall(rf'\b{name} \[(.*?)\]', log)

    def test_have_all_of_a_directory_with_mounts(self):
        log = self.log_of(LIKE_A_CONTAINER, LOOK_AT_ETC)
        etc = Path('/etc')
        self.assertEqual(self.values(log, 'NAMES')[0].split(), sorted(entry.name for entry in etc.iterdir()), log)
        links = {entry.name: os.readlink(entry) for entry in etc.iterdir() if entry.is_symlink()}
        self.assertEqual(dict(pair.split('=', 1) for pair in self.values(log, 'LINKS')[0].split()), links, log)
        sums = dict(value.split()[:2] for value in self.values(log, 'SUM'))
        self.assertEqual(sums, {name: hashlib.sha256((etc / name).read_bytes()).hexdigest() for name in sums}, log)
        self.assertIn('passwd', sums)
        self.assertEqual(self.values(log, 'USER'), ['root'], log)
        self.assertEqual(self.values(log, 'NEW'), ['new'], log)
        self.assertFalse((etc / 'caip-new').exists())
        self.assertEqual(self.values(log, 'NAME'), self.values(log, 'HOST'), log)

    def test_write_beside_a_mount(self):
        mounts = 'mount --bind /usr/local/share /usr/local/share; mount --bind /usr/share /var/lib/misc'
        script = ('for place in /usr /usr/local /var /var/lib; do echo x > $place/caip-new && echo "WROTE [$place]"; done\n'
                  'echo x 2>&1 > /usr/local/share/caip-new | grep -o "Read-only.*" | while read why; do echo "NOT [$why]"; done\n'
                  'echo "SHOWN [$(ls -A /var/lib/misc | tr "\\n" " ")]"\n'
                  'for directory in lib bin; do echo "HERE [$(ls -A /usr/local/$directory | tr "\\n" " ")]"; done')
        log = self.log_of(mounts, script)
        self.assertEqual(self.values(log, 'WROTE'), ['/usr', '/usr/local', '/var', '/var/lib'], log)
        self.assertEqual(self.values(log, 'NOT'), ['Read-only file system'], log)
        self.assertEqual(self.values(log, 'SHOWN')[0].split(), sorted(os.listdir('/usr/share')), log)
        self.assertEqual([sorted(names.split()) for names in self.values(log, 'HERE')],
                         [sorted(os.listdir(f'/usr/local/{name}')) for name in ('lib', 'bin')], log)

    def test_write_in_a_small_directory(self):
        script = ('echo "READ [$(cat /var/data/link/file /var/data/searched/file | tr "\\n" " ")]"; echo new > /var/data/new && echo "NEW [$(cat /var/data/new)]"\n'
                  'echo "NAMES [$(ls -A /var/data | tr "\\n" " ")]"\n'
                  'for name in searched closed; do echo "MODES [$(stat -c %a /var/data/$name)]"; done\n'
                  'for file in file inner/file; do flock -n /var/data/$file true && echo "FREE [$file]"; done')
        log = self.log_of(SMALL_DIRECTORY, script)
        self.assertEqual(self.values(log, 'READ'), ['text text '], log)
        self.assertEqual(self.values(log, 'MODES'), ['711', '700'], log)
        self.assertEqual(self.values(log, 'NEW'), ['new'], log)
        self.assertEqual(self.values(log, 'NAMES')[0].split(), ['closed', 'file', 'inner', 'link', 'new', 'searched'], log)
        self.assertEqual(self.values(log, 'FREE'), ['file', 'inner/file'], log)

    def test_run_programs_of_the_host_without_rights_of_their_own(self):
        script = ("grep -E ' /var/data(/inner|/file)? ' /proc/self/mountinfo | while read -r a b c d place flags rest; do\n"
                  'echo "FLAGS [$place,$flags]"; done')
        flags = self.values(self.log_of(SMALL_DIRECTORY, script), 'FLAGS')
        self.assertTrue(flags)
        for mount in flags:
            self.assertIn('nosuid', mount.split(','))

    def test_have_a_directory_for_running_programs(self):
        script = ('echo x > /run/pid && echo "WROTE [/run/pid]"\n'
                  'for place in /run /run/lock /var/run /var/lock; do test ! -d $place || echo "HAS [$place]"; done\n'
                  'echo "FILES [$(ls -A /run | tr "\\n" " ")]"')
        for mounts in (':', 'mount --bind /usr/share /var/lib/misc'):
            with self.subTest(mounts=mounts):
                log = self.log_of(mounts, script, state=self.folder / f'state-{len(mounts)}')
                self.assertEqual(self.values(log, 'WROTE'), ['/run/pid'], log)
                places = [place for place in ('/run', '/run/lock', '/var/run', '/var/lock') if os.path.isdir(place)]
                self.assertEqual(self.values(log, 'HAS'), places, log)
                self.assertLessEqual(set(self.values(log, 'FILES')[0].split()), {'pid', 'lock', 'systemd', 'resolvconf'}, log)

    def test_hide_the_state_directory_on_another_file_system(self):
        owner = machine_job.NOBODY if self.user else 0
        mounts = f'mount -t tmpfs none /mnt; mkdir /mnt/data; echo x > /mnt/data/file; chown -R {owner}:{owner} /mnt/data'
        log = self.log_of(mounts, 'cat /mnt/data/file > /dev/null && echo "DATA [read]"\n'
                                  'echo "STATE [$(ls -A /mnt/data/state)]"; find /mnt/data/state -name "client-token*"',
                          state='/mnt/data/state')
        self.assertEqual(self.values(log, 'DATA'), ['read'], log)
        self.assertEqual(self.values(log, 'STATE'), [''], log)
        self.assertNotIn('client-token', log)

    def test_hide_the_state_directory_in_other_mounts_of_its_file_system(self):
        owner = machine_job.NOBODY if self.user else 0
        mounts = (f'mount -t tmpfs none /mnt; mkdir /mnt/data /mnt/deep; chown {owner}:{owner} /mnt/data\n'
                  'mount --bind /mnt/data /opt; mount --bind /mnt /mnt/deep')
        places = ('/mnt/data', '/opt', '/mnt/deep/data')
        script = '\n'.join(f'ls {place} | while read -r name; do echo "SEEN [{place}/$name]"; done\n'
                           f'echo "STATE [$(ls -A {place}/state)]"' for place in places)
        log = self.log_of(mounts, script, state='/mnt/data/state')
        self.assertEqual(self.values(log, 'SEEN'), [f'{place}/state' for place in places], log)
        self.assertEqual(self.values(log, 'STATE'), ['', '', ''], log)

    def test_run_packages_of_a_state_directory_with_a_colon(self):
        state = self.folder / 'co:lon'
        package = support.write_package(self.folder / 'app', 'print("RAN [yes]")')
        self.give(package.parent, package, *package.iterdir())
        self.run_with_mounts(':', state, ['buckets', 'create', 'staging', '--project', 'demo-project'])
        log = self.run_with_mounts(':', state, [
            'jobs', 'submit', 'training', 'job', *LOCATION, '--package-path', package, '--module-name', 'trainer.task',
            '--staging-bucket', 'gs://staging', '--runtime-version', '2.11', '--python-version', '3.7', '--emulator-config',
            self.folder / 'settings.yaml', '--stream-logs'])
        self.assertEqual(self.values(log, 'RAN'), ['yes'], log)


class MachinesOfRoot(UserMachines):
    """Root's machines have an overlay of the whole root of the host, also of its /run unless something is mounted there."""

    user = ()
    test_have_a_directory_for_running_programs = None
    test_run_programs_of_the_host_without_rights_of_their_own = None

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('needs root')
        super().setUpClass()


if __name__ == '__main__':
    support.main()
