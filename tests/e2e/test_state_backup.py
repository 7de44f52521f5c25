#!/usr/bin/env python3
"""`caip state backup` and `restore`: what is saved while an emulator runs, and archives that are damaged or hostile."""

import hashlib
import io
import json
import os
import pathlib
import signal
import stat
import subprocess
import tarfile
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request

import old_state
from old_state import SECONDS, Server, caip, contents, dump, wait_for

CALLS = os.environ['CAIP_STOPPED_CALLS']
IMAGE = '--map-image=gcr.io/p/sh:1=/bin/sh'
NOTE = 'caip-state-backup.json'
SUMS = 'state.sha256'


def members(archive):
    """The members of an archive: pairs of their TarInfo and their bytes."""
    with tarfile.open(archive) as opened:
        return [(member, opened.extractfile(member).read() if member.isfile() else None) for member in opened]


def write(archive, made):
    """An archive of such pairs, with digests that fit its files unless it has its own."""
    with tarfile.open(archive, 'w', format=tarfile.PAX_FORMAT) as opened:
        for member, data in made:
            if data is not None:
                member.size = len(data)
            opened.addfile(member, io.BytesIO(data) if data is not None else None)


def with_sums(made):
    lines = [f'{hashlib.sha256(data).hexdigest()}  {member.name}\n'
             for member, data in made if data is not None and member.name != SUMS]
    return [(member, ''.join(lines).encode() if member.name == SUMS else data) for member, data in made]


def member(name, kind=tarfile.REGTYPE, target=''):
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = target
    return made


class Backups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-backup-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.state = self.folder / 'state'
        self.archive = self.folder / 'backup.tar'
        self.restored = self.folder / 'restored'

    def run_well(self, *words, **options):
        done = caip(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Saving(Backups):
    def test_of_a_running_emulator_keeps_jobs_logs_objects_and_keys(self):
        with Server(self.state, '--create-buckets', '--map-image', "gcr.io/p/sh:1=/bin/sh -c 'echo said'") as server:
            def ask(path, **options):
                request = urllib.request.Request(server.url + path, headers={'Content-Type': 'application/json'}, **options)
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    return json.load(answer)

            job = {'jobId': 'one', 'trainingInput': {'region': 'us-central1', 'masterConfig': {'imageUri': 'gcr.io/p/sh:1'}}}
            ask('/v1/projects/demo/jobs', data=json.dumps(job).encode(), method='POST')
            wait_for(lambda: ask('/v1/projects/demo/jobs/one')['state'] == 'SUCCEEDED', 'the end of the job')
            self.run_well(self.state, 'buckets', 'create', 'gs://a-bucket')
            for name, text in (('model/größe', 'small'), ('large', 'x' * 300_000)):
                (self.folder / 'object').write_text(text)
                self.run_well(self.state, 'cp', str(self.folder / 'object'), f'gs://a-bucket/{name}')
            place = '/storage/v1/b/a-bucket/o/' + urllib.parse.quote('model/größe', safe='')
            saved = ask(place)
            out = self.run_well(self.state, 'state', 'backup', str(self.archive))
            self.assertIn(f'Saved {self.state} to {self.archive} (', out)
            later = json.dumps({'name': 'later-bucket'}).encode()
            ask('/storage/v1/b?project=demo', data=later, method='POST')
        self.assertEqual(stat.S_IMODE(self.archive.stat().st_mode), 0o600)
        # other programs read it
        with tarfile.open(self.archive) as opened:
            safely = {'filter': 'data'} if hasattr(tarfile, 'data_filter') else {}  # Debian 12 has Python 3.11.2
            opened.extractall(self.folder / 'unpacked', **safely)
        subprocess.run(['sha256sum', '--check', '--strict', '--quiet', SUMS], cwd=self.folder / 'unpacked', check=True)
        self.run_well(self.restored, 'state', 'restore', str(self.archive))
        with Server(self.restored) as server:
            self.assertEqual(self.run_well(self.restored, 'jobs', 'list', '--format', 'value(jobId,state)').split(),
                             ['one', 'SUCCEEDED'])
            self.assertIn('said', self.run_well(self.restored, 'jobs', 'logs', 'one'))
            with urllib.request.urlopen(server.url + place, timeout=SECONDS) as answer:
                found = json.load(answer)
            for field in ('generation', 'md5Hash', 'timeCreated', 'contentType'):
                self.assertEqual(found[field], saved[field])
            self.assertEqual(len(self.run_well(self.restored, 'cat', 'gs://a-bucket/large')), 300_000)
            self.assertEqual(caip(self.restored, 'ls', 'gs://later-bucket').returncode, 1)
        for key in (self.state / 'keys').iterdir():
            self.assertEqual((self.restored / 'keys' / key.name).read_bytes(), key.read_bytes())

    def test_while_clients_write_fails_no_request_and_is_of_one_instant(self):
        # one thread writes a and then b, again and again: at any instant, a is as new as b, or one newer
        with Server(self.state, '--create-buckets') as server:
            def put(name, text):
                request = urllib.request.Request(f'{server.url}/upload/storage/v1/b/a-bucket/o?uploadType=media&name={name}',
                                                 data=text.encode(), method='POST')
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    self.assertEqual(answer.status, 200)

            self.run_well(self.state, 'buckets', 'create', 'gs://a-bucket')
            stops, failures, rounds = threading.Event(), [], [0]

            def write():
                try:
                    while not stops.is_set():
                        for name in ('a', 'b'):
                            put(name, str(rounds[0]).rjust(100_000 if rounds[0] % 2 else 10))
                        rounds[0] += 1
                except Exception as error:
                    failures.append(error)

            writer = threading.Thread(target=write)
            writer.start()
            for time in range(3):
                begun = rounds[0]
                wait_for(lambda: rounds[0] > begun or failures, 'a write')
                least = rounds[0] - 1
                archive = self.folder / f'{time}.tar'
                self.run_well(self.state, 'state', 'backup', str(archive))
                place = self.folder / f'restored-{time}'
                self.run_well(place, 'state', 'restore', str(archive))
                with tarfile.open(archive) as opened:
                    a, b = (int(opened.extractfile(f'state/buckets/a-bucket/{name}').read()) for name in 'ab')
                self.assertIn(a - b, (0, 1))
                self.assertGreaterEqual(b, least, 'an object that was acknowledged is missing')
            stops.set()
            writer.join()
            self.assertEqual(failures, [])

    def test_of_an_old_state_is_migrated_by_its_use(self):
        old_state.make(self.state)
        before = contents(self.state)
        self.run_well(self.state, 'state', 'backup', str(self.archive))
        self.assertEqual(contents(self.state), before)
        self.run_well(self.restored, 'state', 'restore', str(self.archive))
        self.assertEqual(dump(self.restored / 'jobs.db'), dump(self.state / 'jobs.db'))
        with Server(self.restored, IMAGE):
            self.assertEqual(self.run_well(self.restored, 'cat', f'gs://{old_state.OBJECT}'), old_state.WEIGHTS.decode())
        facts = json.loads(self.run_well(self.restored, 'state', 'info', '--json'))
        self.assertEqual(facts['databases'][0]['version'], 4)
        self.assertEqual(len(facts['copies']), 1)

    def test_while_a_job_runs_continues_it_from_the_backup(self):
        def state_of(place):
            return caip(place, 'jobs', 'describe', 'study', '--format', 'value(state)').stdout.strip()

        old_state.make_recent(self.state)
        with Server(self.state, IMAGE):
            wait_for(lambda: state_of(self.state) == 'RUNNING', 'the start of the job')
            self.run_well(self.state, 'state', 'backup', str(self.archive))
        self.run_well(self.restored, 'state', 'restore', str(self.archive))
        with Server(self.restored, IMAGE):
            wait_for(lambda: state_of(self.restored) == 'RUNNING', 'the continuation of the job')
            self.run_well(self.restored, 'jobs', 'cancel', 'study')
            wait_for(lambda: state_of(self.restored) == 'CANCELLED', 'the end of the job')

    def test_compresses_by_the_ending(self):
        old_state.make(self.state)
        for ending, magic in (('.gz', b'\x1f\x8b'), ('.zst', b'\x28\xb5\x2f\xfd')):
            archive = pathlib.Path(f'{self.archive}{ending}')
            self.run_well(self.state, 'state', 'backup', str(archive))
            self.assertTrue(archive.read_bytes().startswith(magic))
            place = self.folder / f'restored{ending}'
            self.run_well(place, 'state', 'restore', str(archive))
            self.assertEqual((place / 'buckets' / old_state.OBJECT).read_bytes(), old_state.WEIGHTS)

    def test_leaves_images_out_on_request(self):
        old_state.make(self.state)
        (self.state / 'images/blobs/sha256').mkdir(parents=True)
        (self.state / 'images/blobs/sha256' / ('a' * 64)).write_text('blob')
        self.run_well(self.state, 'state', 'backup', str(self.archive))
        self.run_well(self.state, 'state', 'backup', str(self.folder / 'without.tar'), '--no-images')
        with_blobs = [found.name for found, _ in members(self.archive) if 'blobs/sha256/' in found.name]
        self.assertEqual(with_blobs, ['state/images/blobs/sha256/' + 'a' * 64])
        without = [found.name for found, _ in members(self.folder / 'without.tar') if 'images' in found.name]
        self.assertEqual(without, [])

    def test_refuses_a_directory_that_is_no_state(self):
        photos = self.folder / 'photos'
        photos.mkdir(mode=0o700)
        (photos / 'a.jpg').write_text('x')
        done = caip(photos, 'state', 'backup', str(self.archive))
        self.assertEqual(done.returncode, 1)
        self.assertIn('is not a state directory', done.stderr)
        self.assertFalse(self.archive.exists())

    def test_refuses_to_unpack_into_a_directory_that_others_may_write(self):
        old_state.make(self.state)
        self.run_well(self.state, 'state', 'backup', str(self.archive))
        unpacking = self.folder / '.restored.restoring'
        unpacking.mkdir()
        unpacking.chmod(0o777)
        done = caip(self.restored, 'state', 'restore', str(self.archive))
        self.assertEqual(done.returncode, 1)
        self.assertIn('does not belong to you alone', done.stderr)
        self.assertEqual(list(unpacking.iterdir()), [])
        self.assertFalse(self.restored.exists())

    def test_refuses_a_newer_state_and_a_missing_one(self):
        for words in (['state', 'backup', str(self.archive)],):
            self.assertIn('does not exist', caip(self.state, *words).stderr)
        old_state.make(self.state)
        old_state.run_sql(self.state / 'jobs.db', 'PRAGMA user_version = 9')
        done = caip(self.state, 'state', 'backup', str(self.archive))
        self.assertEqual(done.returncode, 1)
        self.assertIn('jobs.db has version 9', done.stderr)
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), ['state'])

    def test_onto_a_full_disk_leaves_nothing(self):
        old_state.make(self.state)
        done = caip(self.state, 'state', 'backup', '/dev/full')
        self.assertIn('exists', done.stderr)
        done = subprocess.run(['bash', '-c', 'ulimit -f 64; trap "" XFSZ; exec "$0" "$@"', old_state.CAIP, 'state', 'backup',
                               str(self.archive), '--state', str(self.state)], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 1)
        self.assertIn('File too large', done.stderr)
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), ['state'])
        self.assertEqual([each.name for each in self.state.iterdir() if each.name.startswith('.')], [])


class Restoring(Backups):
    def setUp(self):
        super().setUp()
        old_state.make(self.state)
        self.run_well(self.state, 'state', 'backup', str(self.archive))

    def refuse(self, words):
        """The archive is refused with these words, and nothing is left."""
        before = sorted(each.name for each in self.folder.iterdir())
        done = caip(self.restored, 'state', 'restore', str(self.archive))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stderr)
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), before)

    def test_needs_a_missing_or_empty_directory(self):
        self.restored.mkdir()
        (self.restored / 'mine').write_text('kept')
        self.refuse('is not empty')
        self.assertEqual((self.restored / 'mine').read_text(), 'kept')
        (self.restored / 'mine').unlink()
        self.run_well(self.restored, 'state', 'restore', str(self.archive))
        self.refuse('is not empty')

    def test_refuses_a_file_that_is_cut_off_anywhere(self):
        whole = self.archive.read_bytes()
        ends = [0, 1, 511, 512, 700, len(whole) // 3, len(whole) // 2, len(whole) - 20_000, len(whole) - 1024 * 9]
        sums_end = whole.rindex(f'state/buckets/{old_state.OBJECT}'.encode())
        for end in [*ends, sums_end, sums_end + 200]:
            with self.subTest(end=end):
                self.archive.write_bytes(whole[:end])
                self.refuse('ackup')

    def test_refuses_what_is_no_backup(self):
        for data in (b'', b'not a tar', b'\x1f\x8b garbage', b'\0' * 10240):
            self.archive.write_bytes(data)
            self.refuse('is not a backup of a state directory')
        write(self.archive, [(member('state/jobs.db'), b'')])
        self.refuse('is not a backup of a state directory')
        write(self.archive, [(member(NOTE), b'{"format": "other"}')])
        self.refuse('is not a backup of a state directory')
        self.archive.unlink()
        self.refuse('No such file')

    def test_refuses_changed_missing_and_added_files(self):
        made = members(self.archive)
        at = next(i for i, (found, _) in enumerate(made) if found.name.endswith(old_state.OBJECT))
        changed = [*made[:at], (made[at][0], b'weights of 0.2\n'), *made[at + 1:]]
        write(self.archive, changed)
        self.refuse(f"'state/buckets/{old_state.OBJECT}' differs from what was saved")
        write(self.archive, [*made[:at], *made[at + 1:]])
        self.refuse('differs from what was saved')
        write(self.archive, [*made[:-1], (member('state/buckets/added'), b'x'), made[-1]])
        self.refuse("'state/buckets/added' differs from what was saved")
        write(self.archive, made[:-1])
        self.refuse('is cut off or damaged')
        # digests that fit do not help an object's record without its file
        write(self.archive, with_sums([*made[:at], *made[at + 1:]]))
        self.refuse("The bytes of the object 'model/weights.txt' of the bucket 'fixture-bucket' are missing.")

    def test_refuses_members_that_no_backup_has(self):
        made = members(self.archive)
        outside = self.folder / 'outside'
        hostile = [
            member(str(outside)), member('state/../../outside'), member('../outside'), member('state/./x'), member('outside'),
            member('state//x'), member('state/'), member('state/link', tarfile.SYMTYPE, str(self.folder)),
            member('state/link', tarfile.LNKTYPE, '/etc/passwd'), member('state/pipe', tarfile.FIFOTYPE),
            member('state/device', tarfile.CHRTYPE), member('state/jobs.db'), member('state/buckets', tarfile.DIRTYPE),
            member('state/jobs.db/x'), member('state/missing/x'),
        ]
        for each in hostile:
            with self.subTest(name=each.name, type=each.type):
                data = b'x' if each.isreg() else None
                write(self.archive, with_sums([*made[:-1], (each, data), made[-1]]))
                self.refuse('that no backup has')
                self.assertFalse(outside.exists())
        # a file through a link that the archive makes first
        link = (member('state/link', tarfile.SYMTYPE, str(self.folder)), None)
        write(self.archive, with_sums([*made[:-1], link, (member('state/link/outside'), b'x'), made[-1]]))
        self.refuse('that no backup has')
        self.assertFalse(outside.exists())
        write(self.archive, [*made, (member('state/after'), b'x')])
        self.refuse('that no backup has')

    def test_refuses_the_backup_of_a_newer_caip(self):
        made = members(self.archive)
        for change in ({'formatVersion': 2}, {'stateLayout': 2}):
            note = {**json.loads(made[0][1]), **change, 'caipVersion': '12.0.0'}
            write(self.archive, with_sums([(made[0][0], json.dumps(note).encode()), *made[1:]]))
            self.refuse('was made by caip 12.0.0, which is newer than this, 0.')
        old_state.run_sql(self.state / 'jobs.db', 'PRAGMA user_version = 9')
        newer = (self.state / 'jobs.db').read_bytes()
        write(self.archive, with_sums([(found, newer if found.name == 'state/jobs.db' else data) for found, data in made]))
        self.refuse('was made by a newer caip')

    def test_that_is_killed_at_any_call_leaves_no_directory_and_can_be_repeated(self):
        count = self.folder / 'count'
        environment = {'LD_PRELOAD': CALLS, 'CAIP_STOP_BELOW': str(self.folder)}
        self.run_well(self.folder / 'first', 'state', 'restore', str(self.archive),
                      environment={**environment, 'CAIP_STOP_COUNT': str(count)})
        calls = int(count.read_text())
        self.assertGreater(calls, 30)
        old = dump(self.state / 'jobs.db')
        for call in range(1, calls, 3):
            with self.subTest(call=call):
                place = self.folder / f'restored-{call}'
                killed = caip(place, 'state', 'restore', str(self.archive),
                              environment={**environment, 'CAIP_STOP_AT': str(call)})
                self.assertEqual(killed.returncode, -signal.SIGKILL)
                if not place.exists():
                    self.run_well(place, 'state', 'restore', str(self.archive))
                self.assertEqual(dump(place / 'jobs.db'), old)
                self.assertEqual((place / 'buckets' / old_state.OBJECT).read_bytes(), old_state.WEIGHTS)
                self.assertFalse((self.folder / f'.restored-{call}.restoring').exists())

    def test_saving_that_is_killed_at_any_call_leaves_no_archive(self):
        count = self.folder / 'count'
        environment = {'LD_PRELOAD': CALLS, 'CAIP_STOP_BELOW': str(self.folder)}
        before = contents(self.state)
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
            unnamed = True
        except OSError:  # this file system has no files without names
            unnamed = False
        self.run_well(self.state, 'state', 'backup', str(self.folder / 'first.tar'),
                      environment={**environment, 'CAIP_STOP_COUNT': str(count)})
        for call in range(1, int(count.read_text()), 7):
            with self.subTest(call=call):
                archive = self.folder / f'{call}.tar'
                killed = caip(self.state, 'state', 'backup', str(archive),
                              environment={**environment, 'CAIP_STOP_AT': str(call)})
                self.assertEqual(killed.returncode, -signal.SIGKILL)
                left = [each.name for each in self.folder.iterdir() if each.name.startswith(archive.name)]
                self.assertNotIn(archive.name, left)
                if unnamed:
                    self.assertEqual(left, [])
        self.run_well(self.state, 'state', 'backup', str(self.folder / 'last.tar'))
        self.assertEqual(contents(self.state), before)


if __name__ == '__main__':
    unittest.main(verbosity=2)
