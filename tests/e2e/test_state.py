#!/usr/bin/env python3
"""`caip state info` and `migrate`, and what every command does with the state of an earlier or a later caip."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import tempfile
import unittest

import old_state
from old_state import Server, caip, contents, dump

CALLS = os.environ['CAIP_STOPPED_CALLS']
# A machine would run them again: the fixture has jobs that did not end.
IMAGE = '--map-image=gcr.io/p/sh:1=/bin/sh'


class States(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-state-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.state = self.folder / 'state'

    def info(self):
        done = caip(self.state, 'state', 'info', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def schemas(self):
        return {each['file']: each.get('version') for each in self.info()['databases']}

    def run_with_calls(self, *words, **variables):
        """Runs caip with the library that counts its changes of files."""
        environment = {'LD_PRELOAD': CALLS, 'CAIP_STOP_BELOW': str(self.folder), **variables}
        return caip(self.state, *words, environment=environment)


class Info(States):
    def test_tells_what_an_old_state_holds_and_changes_nothing(self):
        old_state.make(self.state)
        by_hand = self.state / 'buckets/made-by-hand/folder/object'
        by_hand.parent.mkdir(parents=True)
        by_hand.write_text('x')
        before = contents(self.state)
        facts = self.info()
        text = caip(self.state, 'state', 'info').stdout
        self.assertEqual(contents(self.state), before)
        self.assertEqual(facts['usedBy'], None)
        self.assertEqual(facts['lastUsedBy'], None)
        found = {each['name']: each for each in facts['databases']}
        self.assertEqual((found['jobs']['version'], found['jobs']['schema']), (2, 'old'))
        self.assertEqual(found['jobs']['counts'], {'jobs': 4, 'unfinished jobs': 2})
        self.assertEqual(found['logs']['counts'], {'log entries': 12})
        self.assertEqual(found['buckets']['counts'], {'buckets': 2, 'objects': 2, 'older versions of objects': 1})
        self.assertEqual(found['studies']['counts'], {'studies and trials': 1})
        self.assertEqual(found['images']['schema'], 'missing')
        self.assertIn('old: caip migrates it to 4', text)

    def test_has_no_temporary_files_of_a_killed_emulator(self):
        left = self.state / 'tmp/pip-abc/pip-unpack-def/wheel'
        with Server(self.state):
            pass
        left.parent.mkdir(parents=True)
        left.write_text('x')
        with Server(self.state):
            self.assertFalse(left.parent.parent.parent.exists())

    def test_reads_the_state_of_a_running_emulator(self):
        with Server(self.state, '--create-buckets') as server:
            self.assertEqual(caip(self.state, 'buckets', 'create', 'gs://a-bucket').returncode, 0)
            facts = self.info()
            self.assertEqual(facts['usedBy']['pid'], server.process.pid)
            self.assertEqual(facts['usedBy']['url'], server.url)
            found = {each['name']: each for each in facts['databases']}
            self.assertEqual(found['jobs']['schema'], 'current')
            self.assertEqual(found['buckets']['counts']['buckets'], 1)
        version = json.loads(caip(self.state, 'version', '--json').stdout)['version']
        self.assertEqual(self.info()['lastUsedBy']['caipVersion'], version)
        # a killed emulator leaves its last changes in the write-ahead log
        before = contents(self.state)
        self.assertEqual(self.info()['databases'][3]['counts']['buckets'], 1)
        self.assertEqual(contents(self.state), before)

    def test_names_a_damaged_database(self):
        old_state.make(self.state)
        (self.state / 'jobs.db').write_text('this is not a database')
        found = self.info()['databases'][0]
        self.assertEqual(found['schema'], 'damaged')
        self.assertIn('is not a database of caip', found['problem'])

    def test_refuses_a_missing_directory(self):
        done = caip(self.state, 'state', 'info')
        self.assertEqual(done.returncode, 1)
        self.assertIn('does not exist', done.stderr)
        self.assertFalse(self.state.exists())


class Migration(States):
    def check_contents(self):
        """The things of version 0.1, through the commands."""
        listed = caip(self.state, 'jobs', 'list', '--format', 'value(jobId)').stdout.split()
        self.assertEqual(sorted(listed), ['done', 'failed', 'runs', 'study'])
        self.assertIn('hello of 0.1', caip(self.state, 'jobs', 'logs', 'done').stdout)
        kept = caip(self.state, 'cat', f'gs://{old_state.OBJECT}', text=False).stdout
        self.assertEqual(kept, old_state.WEIGHTS)
        database = sqlite3.connect(self.state / 'buckets.db')
        self.assertEqual(database.execute('SELECT count(*) FROM versions').fetchone(), (1,))
        text = database.execute('SELECT record FROM objects').fetchone()[0]
        self.assertEqual(json.loads(text)['metadata'], {'epoch': '7'}, 'the object counts as changed by hand')
        database.close()

    def test_by_the_command(self):
        old_state.make(self.state)
        old = {file: dump(self.state / file) for file in old_state.DATABASES}
        planned = caip(self.state, 'state', 'migrate', '--dry-run')
        self.assertEqual(planned.stdout, 'Would migrate jobs.db from version 2 to 4.\n')
        self.assertFalse((self.state / 'migrations').exists())
        own = self.state / 'migrations' / 'notes of a person'
        own.mkdir(parents=True)
        done = caip(self.state, 'state', 'migrate')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(own.exists(), 'only copies are removed')
        own.rmdir()
        self.assertIn('Migrated jobs.db from version 2 to 4.\n', done.stdout)
        self.assertEqual(self.schemas(), {'jobs.db': 4, 'studies.db': 1, 'logs.db': 2, 'buckets.db': 1,
                                          'images/names.db': None})
        [copy] = self.info()['copies']
        self.assertTrue(copy['finished'])
        self.assertEqual(dump(pathlib.Path(copy['directory']) / 'jobs.db'), old['jobs.db'])
        self.assertEqual(caip(self.state, 'state', 'migrate').stdout, 'All databases have the schemas of this version.\n')
        with Server(self.state, IMAGE):
            self.check_contents()

    def test_by_the_start_of_an_emulator(self):
        old_state.make(self.state)
        old = dump(self.state / 'jobs.db')
        with Server(self.state, IMAGE):
            self.check_contents()
            refused = caip(self.state, 'state', 'migrate')
            self.assertEqual(refused.returncode, 1)
            self.assertIn('cannot be migrated while an emulator uses it', refused.stderr)
        [copy] = self.info()['copies']
        self.assertEqual(dump(pathlib.Path(copy['directory']) / 'jobs.db'), old)
        self.assertTrue((self.state / 'keys/public_keys.json').exists())

    def test_going_back_is_to_use_the_copy(self):
        old_state.make(self.state)
        old = dump(self.state / 'jobs.db')
        self.assertEqual(caip(self.state, 'state', 'migrate').returncode, 0)
        [copy] = self.info()['copies']
        for name in ('jobs.db', 'jobs.db-wal', 'jobs.db-shm'):
            (self.state / name).unlink(missing_ok=True)
        shutil.copy(pathlib.Path(copy['directory']) / 'jobs.db', self.state)
        self.assertEqual(dump(self.state / 'jobs.db'), old)

    def test_that_is_killed_at_any_call_leaves_the_old_state_or_the_new_one(self):
        old_state.make(self.state)
        old = dump(self.state / 'jobs.db')
        saved = self.folder / 'saved'
        shutil.copytree(self.state, saved)
        count = self.folder.parent / (self.folder.name + '.count')
        self.addCleanup(count.unlink)
        self.assertEqual(self.run_with_calls('state', 'migrate', CAIP_STOP_COUNT=str(count)).returncode, 0)
        new = dump(self.state / 'jobs.db')
        calls = int(count.read_text())
        self.assertGreater(calls, 30)
        for call in range(1, calls + 1):
            with self.subTest(call=call):
                shutil.rmtree(self.state)
                shutil.copytree(saved, self.state)
                killed = self.run_with_calls('state', 'migrate', CAIP_STOP_AT=str(call))
                self.assertEqual(killed.returncode, -signal.SIGKILL)
                self.assertIn(dump(self.state / 'jobs.db'), (old, new))
                again = caip(self.state, 'state', 'migrate')
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual(dump(self.state / 'jobs.db'), new)
                [copy] = [each for each in (self.state / 'migrations').iterdir()]
                self.assertEqual(dump(copy / 'jobs.db'), old)
                self.assertTrue(json.loads((copy / 'migration.json').read_text())['finished'])


class Refusals(States):
    def test_of_a_newer_state_by_every_command_that_would_use_it(self):
        old_state.make(self.state)
        database = sqlite3.connect(self.state / 'buckets.db')
        database.execute('PRAGMA user_version = 9')
        database.close()
        for words in (['serve', '--port', '0'], ['jobs', 'list'], ['state', 'migrate']):
            with self.subTest(words=words):
                done = caip(self.state, *words)
                self.assertEqual(done.returncode, 1)
                self.assertIn('was written by a newer version of caip', done.stderr)
                self.assertIn('buckets.db has version 9, and this caip', done.stderr)
                self.assertIn('supports versions up to 1. Use the newer caip', done.stderr)
        database = sqlite3.connect(self.state / 'buckets.db')
        self.assertEqual(database.execute('SELECT count(*) FROM objects').fetchone(), (1,), 'it was emptied')
        database.close()
        self.assertEqual(self.schemas()['jobs.db'], 2)
        self.assertEqual(self.info()['databases'][3]['schema'], 'newer')

    def test_of_a_state_that_another_version_uses(self):
        old_state.make(self.state)
        note = {'pid': os.getpid(), 'start_ticks': 1, 'url': 'http://127.0.0.1:1', 'version': '0.1.0',
                'started_at': '2026-11-22T00:00:00Z'}
        with open(self.state / 'owner.lock', 'w+b') as lock:
            # struct flock: type, whence, start, length, pid
            fcntl.fcntl(lock, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLK
            lock.write(json.dumps(note).ljust(1023).encode() + b'\n')
            lock.flush()
            for words in (['serve', '--port', '0'], ['state', 'migrate']):
                done = caip(self.state, *words)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f'process {os.getpid()}, version 0.1.0', done.stderr)
            self.assertEqual(self.info()['usedBy']['caipVersion'], '0.1.0')
        self.assertEqual(caip(self.state, 'state', 'migrate').returncode, 0)

    def test_of_a_network_file_system(self):
        for number, name in (('0x6969', 'NFS'), ('0xff534d42', 'CIFS'), ('0x0bd00bd0', 'Lustre')):
            done = self.run_with_calls('jobs', 'list', CAIP_STATFS_TYPE=number)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f'is on a network file system ({name})', done.stderr)
            self.assertIn('Name another with --state or $CAIP_STATE.', done.stderr)
            self.assertFalse(self.state.exists())
        self.assertEqual(self.run_with_calls('jobs', 'list', CAIP_STATFS_TYPE='0xef53').returncode, 0)


class Version(States):
    def test_has_a_short_form_a_long_one_and_json(self):
        short = caip(self.state, '--version').stdout
        self.assertRegex(short, r'^caip \d+\.\d+\.\d+\n$')
        long = caip(self.state, 'version').stdout
        self.assertTrue(long.startswith(short))
        self.assertIn('jobs.db         writes version 4, reads 1 to 4', long)
        facts = json.loads(caip(self.state, 'version', '--json').stdout)
        self.assertEqual(f'caip {facts["version"]}\n', short)
        self.assertEqual(facts['schemas']['jobs.db'], {'reads': [1, 4], 'writes': 4})
        self.assertEqual(facts['architecture'], os.uname().machine)
        self.assertRegex(facts['libraries']['sqlite'], r'^3\.')


if __name__ == '__main__':
    unittest.main(verbosity=2)
