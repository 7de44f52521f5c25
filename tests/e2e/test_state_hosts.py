#!/usr/bin/env python3
"""`caip state` where links, writes or locks fail, and with archives, mounts and links that people bring."""

import errno
import io
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tarfile
import tempfile
import unittest

import old_state
from old_state import SECONDS, Server, caip, contents, wait_for

CALLS = os.environ['CAIP_STOPPED_CALLS']
NAMESPACES = (['unshare', '--mount'], ['unshare', '--user', '--map-root-user', '--mount'])


class Hosts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-hosts-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.state = self.folder / 'state'
        self.archive = self.folder / 'backup.tar'
        self.restored = self.folder / 'restored'
        old_state.make(self.state)

    def run_on(self, state, *words, **variables):
        """Runs caip where the library of stopped_calls.c lets calls fail."""
        return caip(state, *words, environment={'LD_PRELOAD': CALLS, 'CAIP_STOP_BELOW': str(self.folder), **variables})

    def run_well(self, state, *words):
        done = caip(state, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def names(self, folder):
        return sorted(each.name for each in folder.iterdir())


class FileSystems(Hosts):
    def test_files_that_cannot_be_linked_are_copied(self):
        before = contents(self.state)
        for error in (errno.EPERM, errno.EXDEV):
            with self.subTest(error=errno.errorcode[error]):
                archive, place = self.folder / f'{error}.tar', self.folder / f'restored-{error}'
                done = self.run_on(self.state, 'state', 'backup', str(archive), CAIP_LINK_ERROR=str(error))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.run_well(place, 'state', 'restore', str(archive))
                file = place / 'buckets' / old_state.OBJECT
                self.assertEqual(file.read_bytes(), old_state.WEIGHTS)
                database = sqlite3.connect(place / 'buckets.db')
                [(inode, record)] = database.execute('SELECT inode, record FROM objects').fetchall()
                database.close()
                self.assertEqual(inode, file.stat().st_ino, 'the object counts as changed by hand')
                self.assertEqual(json.loads(record)['metadata'], {'epoch': '7'})
        self.assertEqual(contents(self.state), before)

    def test_info_reads_a_read_only_state(self):
        with Server(self.state, '--map-image=gcr.io/p/sh:1=/bin/sh'):
            busy = self.run_on(self.state, 'state', 'info', '--json', CAIP_READ_ONLY='1')
            self.assertEqual(busy.returncode, 0, busy.stderr)
            self.assertTrue(json.loads(busy.stdout)['usedBy']['pid'])
        done = self.run_on(self.state, 'state', 'info', '--json', CAIP_READ_ONLY='1')
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads(done.stdout)
        self.assertIsNone(facts['usedBy'])
        self.assertEqual(facts['databases'][0]['counts']['jobs'], 4)

    def test_a_full_file_system_is_named_with_the_remedy(self):
        def fails(state, full, *words):
            done = self.run_on(state, *words, CAIP_FULL_BELOW=str(full))
            self.assertEqual(done.returncode, 1, done.stdout)
            return done.stderr

        out = self.folder / 'out'
        out.mkdir()
        said = fails(self.state, self.state, 'state', 'backup', str(self.archive))
        self.assertIn(f"The file system of the state directory '{self.state}' is full.", said)
        self.assertIn('Nothing was saved. Free space there', said)
        said = fails(self.state, out, 'state', 'backup', str(out / 'backup.tar'))
        self.assertIn(f"The file system of the archive '{out}/backup.tar' is full. Nothing was saved.", said)
        self.assertEqual(self.names(out), [])
        self.run_well(self.state, 'state', 'backup', str(self.archive))
        said = fails(self.restored, self.folder / '.restored.restoring', 'state', 'restore', str(self.archive))
        self.assertIn(f"The file system of the state directory '{self.restored}' is full. Nothing was restored.", said)
        said = fails(self.state, self.state / 'migrations', 'state', 'migrate')
        self.assertIn('is full. A migration first copies the old databases. No database was migrated.', said)
        self.assertEqual(self.names(self.folder), ['backup.tar', 'out', 'state'])
        self.assertEqual([name for name in self.names(self.state) if name.startswith('.')], [])


class Interrupts(Hosts):
    def test_a_backup_that_waits_for_a_lock_ends_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                writer = sqlite3.connect(self.state / 'jobs.db', isolation_level=None)
                writer.execute('BEGIN IMMEDIATE')
                process = subprocess.Popen([old_state.CAIP, 'state', 'backup', str(self.archive), '--state', str(self.state)],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                wait_for(lambda: any(name.startswith('.backup-') for name in self.names(self.state)), 'the begin of the backup')
                process.send_signal(number)
                _, said = process.communicate(timeout=SECONDS)
                writer.execute('ROLLBACK')
                writer.close()
                self.assertEqual(process.returncode, 130, said)
                self.assertIn('Interrupted. Nothing was saved.', said)
                self.assertEqual([name for name in self.names(self.state) if name.startswith('.backup-')], [])
                self.assertEqual(self.names(self.folder), ['state'])


class Archives(Hosts):
    def setUp(self):
        super().setUp()
        for name in ('größe', 'gro\u0308ße', '模型', 'x' * 200):
            (self.state / 'buckets/fixture-bucket' / name).write_text('by hand')
        self.run_well(self.state, 'state', 'backup', str(self.archive))

    def test_gnu_tar_unpacks_without_a_warning(self):
        version = subprocess.run(['tar', '--version'], capture_output=True, text=True).stdout
        if 'GNU tar' not in version:
            self.skipTest('tar is not GNU tar')
        place = self.folder / 'unpacked'
        place.mkdir()
        for locale in ('C', 'C.UTF-8'):
            done = subprocess.run(['tar', '-xf', self.archive, '-C', place], env={**os.environ, 'LC_ALL': locale},
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
        subprocess.run(['sha256sum', '--check', '--strict', '--quiet', 'state.sha256'], cwd=place, check=True)
        saved = place / 'state/buckets/fixture-bucket'
        self.assertEqual(self.names(saved), self.names(self.state / 'buckets/fixture-bucket'))

    def test_an_unknown_member_is_refused_by_name_before_anything_is_written(self):
        with tarfile.open(self.archive) as opened:
            members = [(each, opened.extractfile(each).read() if each.isfile() else None) for each in opened]
        for name in ('state/environments/e/bin/python3', 'state/owner.lock', 'state/jobs.db-wal', 'state/server.log',
                     'state/images/layers/l', 'state/buckets2/o'):
            with self.subTest(name=name):
                added = tarfile.TarInfo(name)
                with tarfile.open(self.archive, 'w', format=tarfile.PAX_FORMAT) as made:
                    for each, data in [*members[:-1], (added, b'x'), members[-1]]:
                        each.size = len(data) if data is not None else 0
                        made.addfile(each, io.BytesIO(data) if data is not None else None)
                count = self.folder.parent / (self.folder.name + '.count')
                self.addCleanup(count.unlink, missing_ok=True)
                done = self.run_on(self.restored, 'state', 'restore', str(self.archive), CAIP_STOP_COUNT=str(count))
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"has a member '{name}' that no backup has", done.stderr)
                self.assertEqual(count.read_text(), '0\n', 'something was written')

    def test_an_archive_is_read_from_a_pipe(self):
        pipe = self.folder / 'pipe'
        os.mkfifo(pipe)
        writer = subprocess.Popen(['cp', self.archive, pipe])
        self.run_well(self.restored, 'state', 'restore', str(pipe))
        self.assertEqual(writer.wait(), 0)
        self.assertEqual((self.restored / 'buckets' / old_state.OBJECT).read_bytes(), old_state.WEIGHTS)


class Places(Hosts):
    def setUp(self):
        super().setUp()
        self.run_well(self.state, 'state', 'backup', str(self.archive))

    def test_a_symbolic_link_leads_to_its_directory(self):
        link = self.folder / 'link'
        link.symlink_to('restored')
        done = caip(link, 'state', 'restore', str(self.archive))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"'{link}' is a symbolic link to 'restored', which does not exist. Make that directory", done.stderr)
        self.restored.mkdir()
        self.run_well(link, 'state', 'restore', str(self.archive))
        self.assertTrue(link.is_symlink())
        self.assertEqual((self.restored / 'buckets' / old_state.OBJECT).read_bytes(), old_state.WEIGHTS)
        self.assertIn("is not empty: it has 'buckets'.", caip(link, 'state', 'restore', str(self.archive)).stderr)

    def in_mount(self, script):
        """Runs lines of a shell in a namespace where the directory `restored` is a file system of its own."""
        self.restored.mkdir(exist_ok=True)
        mount = ['mount', '-t', 'tmpfs', 'none', str(self.restored)]
        works = [each for each in NAMESPACES if subprocess.run([*each, *mount], capture_output=True).returncode == 0]
        if not works:
            self.skipTest('this host allows no mounts')
        lines = f'set -e\nmount -t tmpfs none {self.restored}\ncd {self.folder}\n{script}'
        given = {**os.environ, 'CAIP_STATE': str(self.restored), 'CAIP': old_state.CAIP, 'PRELOAD': CALLS}
        return subprocess.run([*works[0], 'bash', '-c', lines], env=given, capture_output=True, text=True, timeout=SECONDS)

    def test_a_mount_point_is_filled(self):
        done = self.in_mount('mkdir restored/lost+found\n'
                             '"$CAIP" state restore backup.tar\n'
                             f'cat restored/buckets/{old_state.OBJECT}\n'
                             'ls -A restored; stat -c %a restored; "$CAIP" state info --json >/dev/null')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(old_state.WEIGHTS.decode(), done.stdout)
        self.assertIn('jobs.db\n', done.stdout)
        self.assertNotIn('restoring', done.stdout.split('Restored')[1].split('\n', 1)[1])
        self.assertTrue(done.stdout.endswith('700\n'))
        self.assertEqual(self.names(self.folder), ['backup.tar', 'restored', 'state'])

    def test_a_mount_point_that_is_half_filled_is_no_state(self):
        # killed at each of its last calls: the files move one by one
        count = 'LD_PRELOAD="$PRELOAD" CAIP_STOP_BELOW="$PWD/restored" CAIP_STOP_COUNT="$PWD/count" "$CAIP" state restore backup.tar'
        done = self.in_mount(f'{count}\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = int((self.folder / 'count').read_text())
        seen = set()
        for call in range(calls - 14, calls + 1):
            stopped = count.replace('CAIP_STOP_COUNT="$PWD/count"', f'CAIP_STOP_AT={call}')
            done = self.in_mount(f'{stopped} || true\nls -A restored\n'
                                 '"$CAIP" state migrate && echo usable\n')
            left = done.stdout.split()
            half = '.restoring' in left
            seen.add(half)
            self.assertEqual('usable' not in left, half, done.stdout + done.stderr)
            if half:
                self.assertIn('or its restoration was interrupted', done.stderr)
            else:
                self.assertIn('buckets', left)
        self.assertIn(True, seen)


class Newer(Hosts):
    def test_a_state_of_a_newer_caip_is_refused_by_the_commands_of_images(self):
        old_state.run_sql(self.state / 'jobs.db', 'PRAGMA user_version = 99')
        (self.state / 'images').mkdir()
        before = contents(self.state)
        for words in (['images', 'import', str(self.archive)], ['images', 'map', 'gcr.io/p/sh:1=/bin/sh'],
                      ['images', 'remove', 'gcr.io/p/sh:1'], ['images', 'list']):
            with self.subTest(words=words):
                done = caip(self.state, *words)
                self.assertEqual(done.returncode, 1)
                self.assertIn('jobs.db has version 99, and this caip', done.stderr)
        self.assertEqual(contents(self.state), before)


if __name__ == '__main__':
    unittest.main(verbosity=2)
