"""`gcloud storage`, configured by the variables of `caip env`: every common command."""

import json
import os
import random
import signal
import subprocess
import tempfile
from pathlib import Path

import relay
import support

MIB = 1 << 20
STRANGE = ('a b', 'a+b', 'a#b', 'a%20b', 'a?b', 'grüße/日本', "it's", 'a&b=c', '~$!(x)')


def write(path, size=None, text='', seed=1):
    """Writes a file of this text, or of so many random bytes, and creates its folders."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(random.Random(seed).randbytes(size) if size is not None else text.encode())
    return path


def contents(directory):
    """All files as {relative name: bytes}."""
    return {str(path.relative_to(directory)): path.read_bytes()
            for path in sorted(Path(directory).rglob('*')) if path.is_file()}


class StorageTest(support.EmulatorTest):
    """An emulator, a bucket made by gcloud for each test, a folder for files."""

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        super().setUpClass()

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bucket = f'gs://b{random.randrange(10**9)}'
        self.storage('buckets', 'create', self.bucket)

    def storage(self, *words, check=True, env=None, cwd=None):
        """`gcloud storage …`."""
        return support.run(['gcloud', 'storage', *words], check=check, cwd=cwd or self.work,
                           env={**self.emulator.env, 'CLOUDSDK_STORAGE_MAX_RETRIES': '2',
                                **(env or {})})

    def json(self, *words):
        """The JSON that a command prints."""
        return json.loads(self.storage(*words, '--format=json').stdout)

    def urls(self, *words):
        """The lines of `ls`."""
        return [line for line in self.storage('ls', *words).stdout.splitlines() if line]

    def cat(self, url, *words):
        return self.storage('cat', *words, url).stdout


class Files(StorageTest):
    """Small files, with all commands."""

    def test_cp_cat_and_back(self):
        write(self.work / 'a.txt', text='0123456789')
        self.storage('cp', 'a.txt', f'{self.bucket}/d/a.txt')
        self.assertEqual(self.cat(f'{self.bucket}/d/a.txt'), '0123456789')
        self.assertEqual(self.cat(f'{self.bucket}/d/a.txt', '-r', '1-3'), '123')
        self.assertEqual(self.cat(f'{self.bucket}/d/a.txt', '-r', '-4'), '6789')
        self.assertEqual(self.cat(f'{self.bucket}/d/a.txt', '-r', '7-'), '789')
        self.storage('cp', f'{self.bucket}/d/a.txt', 'back.txt')
        self.assertEqual((self.work / 'back.txt').read_text(), '0123456789')
        write(self.work / 'empty', size=0)
        self.storage('cp', 'empty', self.bucket)
        self.storage('cp', f'{self.bucket}/empty', 'empty2')
        self.assertEqual((self.work / 'empty2').read_bytes(), b'')
        done = self.storage('cp', f'{self.bucket}/none', 'x', check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('matched no objects', done.stderr)

    def test_strange_names(self):
        for name in STRANGE:
            write(self.work / 'tree' / name, text=name)
        self.storage('cp', '-r', 'tree', self.bucket)
        self.assertEqual(sorted(self.urls('-r', f'{self.bucket}/**')),
                         sorted(f'{self.bucket}/tree/{name}' for name in STRANGE))
        # In a URL, ? and # have a meaning of their own for gcloud, so these are removed by prefix.
        self.storage('cp', '-r', f'{self.bucket}/tree', '.', cwd=self.folder('down'))
        self.assertEqual(contents(self.work / 'down/tree'),
                         {name: name.encode() for name in STRANGE})
        self.storage('mv', f'{self.bucket}/tree/a+b', f'{self.bucket}/c d%41')
        self.assertEqual(self.cat(f'{self.bucket}/c d%41'), 'a+b')
        self.storage('rm', '-r', f'{self.bucket}/tree')
        self.assertEqual(self.urls(f'{self.bucket}/**'), [f'{self.bucket}/c d%41'])

    def folder(self, name):
        (self.work / name).mkdir()
        return self.work / name

    def test_ls_in_all_its_forms(self):
        for name in ('a.txt', 'd/b.txt', 'd/c.csv', 'd/e/f.txt'):
            write(self.work / 't' / name, text=name)
        self.storage('cp', '-r', 't/*', self.bucket)
        b = self.bucket
        self.assertEqual(self.urls(b), [f'{b}/a.txt', f'{b}/d/'])
        self.assertEqual(self.urls(f'{b}/d/'), [f'{b}/d/b.txt', f'{b}/d/c.csv', f'{b}/d/e/'])
        self.assertEqual(self.urls(f'{b}/*.txt'), [f'{b}/a.txt'])
        self.assertEqual(self.urls(f'{b}/**.txt'), [f'{b}/a.txt', f'{b}/d/b.txt', f'{b}/d/e/f.txt'])
        self.assertEqual(self.urls(f'{b}/d/[bc].*'), [f'{b}/d/b.txt', f'{b}/d/c.csv'])
        self.assertEqual(self.urls('-r', f'{b}/d'), [
            f'{b}/d/:', f'{b}/d/b.txt', f'{b}/d/c.csv', f'{b}/d/e/:', f'{b}/d/e/f.txt'])
        self.assertRegex(self.storage('ls', '-l', f'{b}/a.txt').stdout,
                         rf' 5  \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ  {b}/a.txt\n'
                         r'TOTAL: 1 objects, 5 bytes \(5\S*B\)')
        full = self.storage('ls', '-L', f'{b}/d/b.txt').stdout
        for line in (r'Content-Length: +7', r'Content-Type: +text/plain', r'Generation: +\d+',
                     r'Hash \(MD5\): +\S{22}==', r'Hash \(CRC32C\): +\S{6}=='):
            self.assertRegex(full, line)
        entry, = json.loads(self.storage('ls', '--json', f'{b}/a.txt').stdout)
        self.assertEqual((entry['type'], entry['metadata']['size']), ('cloud_object', '5'))
        self.assertIn(f'{b}/', self.urls())
        self.assertEqual(self.storage('ls', f'{b}/none', check=False).returncode, 1)

    def test_mv_and_cp_in_the_cloud(self):
        write(self.work / 'a', text='a')
        self.storage('cp', 'a', f'{self.bucket}/a', '--content-type=x/y',
                     '--custom-metadata=k=v', '--cache-control=no-cache')
        self.storage('cp', f'{self.bucket}/a', f'{self.bucket}/b')
        self.storage('mv', f'{self.bucket}/a', f'{self.bucket}/c/d')
        self.assertEqual(self.urls(f'{self.bucket}/**'),
                         [f'{self.bucket}/b', f'{self.bucket}/c/d'])
        told = self.json('objects', 'describe', f'{self.bucket}/c/d')
        self.assertEqual((told['content_type'], told['custom_fields'], told['cache_control']),
                         ('x/y', {'k': 'v'}, 'no-cache'))
        self.storage('mv', f'{self.bucket}/b', 'here')
        self.assertEqual((self.work / 'here').read_text(), 'a')
        done = self.storage('cp', '--if-generation-match=0', 'a', f'{self.bucket}/c/d', check=False)
        self.assertIn('412', done.stderr)

    def test_standard_input_and_output(self):
        support.run(['bash', '-c', f'head -c 30000000 /dev/zero | gcloud storage cp - '
                     f'{self.bucket}/zero && gcloud storage cat {self.bucket}/zero | wc -c '
                     f'> count'], env=self.emulator.env, cwd=self.work)
        self.assertEqual((self.work / 'count').read_text().strip(), '30000000')

    def test_compressed_uploads(self):
        write(self.work / 'a.txt', text='x' * 100_000)
        self.storage('cp', '-Z', 'a.txt', f'{self.bucket}/a.txt')
        told = self.json('objects', 'describe', f'{self.bucket}/a.txt')
        self.assertEqual(told['content_encoding'], 'gzip')
        self.assertLess(int(told['size']), 10_000)
        self.storage('cp', f'{self.bucket}/a.txt', 'back')
        self.assertEqual((self.work / 'back').read_text(), 'x' * 100_000)
        write(self.work / 'b.txt', text='y' * 100_000)
        self.storage('cp', '-J', 'b.txt', f'{self.bucket}/b.txt')  # compressed on the network only
        told = self.json('objects', 'describe', f'{self.bucket}/b.txt')
        self.assertEqual(int(told['size']), 100_000)
        self.assertNotIn('content_encoding', told)

    def test_hash_and_du(self):
        write(self.work / 'd/a', text='abc')
        write(self.work / 'd/e/b', size=1000)
        self.storage('cp', '-r', 'd', self.bucket)
        here = self.json('hash', 'd/a')[0]
        there = self.json('hash', f'{self.bucket}/d/a')[0]
        self.assertEqual(here['md5_hash'], 'kAFQmDzST7DWlj99KOF/cg==')
        self.assertEqual((here['md5_hash'], here['crc32c_hash']),
                         (there['md5_hash'], there['crc32c_hash']))
        told = {line.split()[1]: int(line.split()[0])
                for line in self.storage('du', self.bucket).stdout.splitlines()}
        self.assertEqual(told[f'{self.bucket}/d/e/'], 1000)
        self.assertEqual(told[f'{self.bucket}/d/'], 1003)
        self.assertEqual(self.storage('du', '-s', self.bucket).stdout.split(),
                         ['1003', self.bucket])


class Rsync(StorageTest):
    """rsync in both directions."""

    def sync(self, *words):
        """Runs rsync, and returns the copies and removals that it made."""
        said = self.storage('rsync', '-r', *words).stderr
        return [line for line in said.splitlines() if line.startswith(('Copying', 'Removing'))]

    def test_a_second_run_does_nothing(self):
        for i in range(20):
            write(self.work / f'tree/{i % 3}/{i}', size=i * 100, seed=i)
        os.utime(self.work / 'tree/0/3', (10**9, 10**9))
        there = f'{self.bucket}/t'
        self.assertEqual(len(self.sync('tree', there)), 20)
        self.assertEqual(self.sync('tree', there), [])
        down = self.work / 'down'
        down.mkdir()
        self.assertEqual(len(self.sync(there, down)), 20)
        self.assertEqual(self.sync(there, down), [])
        self.assertEqual(contents(down), contents(self.work / 'tree'))
        self.assertEqual((down / '0/3').stat().st_mtime, 10**9)
        write(self.work / 'tree/1/1', text='changed')
        (self.work / 'tree/2/2').unlink()
        self.assertEqual(len(self.sync('--delete-unmatched-destination-objects', 'tree', there)), 2)
        self.assertEqual(self.cat(f'{there}/1/1'), 'changed')
        self.assertEqual(len(self.urls(f'{there}/**')), 19)
        other = f'{self.bucket}/u'
        self.assertEqual(len(self.sync(there, other)), 19)
        self.assertEqual(self.sync(there, other), [])


class Resources(StorageTest):
    """`objects` and `buckets`."""

    def test_objects(self):
        for name in 'abc':
            write(self.work / name, text=name)
        self.storage('cp', 'a', 'b', 'c', self.bucket)
        self.storage('objects', 'compose', *(f'{self.bucket}/{n}' for n in 'abc'),
                     f'{self.bucket}/whole')
        self.assertEqual(self.cat(f'{self.bucket}/whole'), 'abc')
        told = self.json('objects', 'describe', f'{self.bucket}/whole')
        self.assertEqual(told['component_count'], 3)
        self.assertNotIn('md5_hash', told)
        self.storage('objects', 'update', f'{self.bucket}/whole', '--content-type=a/b',
                     '--custom-metadata=x=1,y=2', '--content-language=de')
        self.storage('objects', 'update', f'{self.bucket}/whole', '--update-custom-metadata=y=3',
                     '--clear-content-language')
        told = self.json('objects', 'describe', f'{self.bucket}/whole')
        self.assertEqual((told['content_type'], told['custom_fields']),
                         ('a/b', {'x': '1', 'y': '3'}))
        self.assertNotIn('content_language', told)
        listed = self.json('objects', 'list', f'{self.bucket}/**')
        self.assertEqual([entry['name'] for entry in listed], ['a', 'b', 'c', 'whole'])
        self.storage('objects', 'update', f'{self.bucket}/a', '--storage-class=nearline')
        self.assertEqual(self.json('objects', 'describe', f'{self.bucket}/a')['storage_class'],
                         'NEARLINE')

    def test_buckets(self):
        bucket = self.bucket + '-x'
        self.storage('buckets', 'create', bucket, '--location=europe-west1',
                     '--default-storage-class=nearline', '--uniform-bucket-level-access')
        told = self.json('buckets', 'describe', bucket)
        self.assertEqual((told['location'], told['default_storage_class']),
                         ('EUROPE-WEST1', 'NEARLINE'))
        self.assertTrue(told['uniform_bucket_level_access'])
        self.storage('buckets', 'update', bucket, '--update-labels=team=a', '--versioning')
        told = self.json('buckets', 'describe', bucket)
        self.assertEqual((told['labels'], told['versioning_enabled']), ({'team': 'a'}, True))
        self.assertIn(bucket[5:], [entry['name'] for entry in self.json('buckets', 'list')])
        done = self.storage('buckets', 'create', bucket, check=False)
        self.assertIn('409', done.stderr)
        write(self.work / 'a', text='a')
        self.storage('cp', 'a', bucket)
        self.assertIn('not empty', self.storage('buckets', 'delete', bucket, check=False).stderr)
        self.storage('rm', '-r', bucket)
        self.assertIn('not found', self.storage('buckets', 'describe', bucket, check=False).stderr)
        self.storage('buckets', 'create', bucket)
        self.storage('buckets', 'delete', bucket)

    def test_policies(self):
        role = 'roles/storage.objectViewer'
        with_role = (f'--role={role}',)
        for i in range(4):  # gcloud sends the etags of about half of all policies in other characters
            made = self.json('buckets', 'add-iam-policy-binding', self.bucket, f'--member=user:u{i}@a.b', *with_role)
            members = next(one for one in made['bindings'] if one['role'] == role)['members']
            self.assertIn(f'user:u{i}@a.b', members)
        self.storage('buckets', 'remove-iam-policy-binding', self.bucket, '--member=user:u0@a.b', *with_role)
        bindings = self.json('buckets', 'get-iam-policy', self.bucket)['bindings']
        kept = next(one for one in bindings if one['role'] == role)
        self.assertEqual(sorted(kept['members']), [f'user:u{i}@a.b' for i in (1, 2, 3)])

    def test_versions(self):
        self.storage('buckets', 'update', self.bucket, '--versioning')
        for text in '12':
            write(self.work / 'v', text=text)
            self.storage('cp', 'v', f'{self.bucket}/v')
        self.storage('rm', f'{self.bucket}/v')
        self.assertEqual(self.storage('ls', f'{self.bucket}/**', check=False).returncode, 1)
        old, new = self.urls('-a', f'{self.bucket}/v')
        self.assertEqual((self.cat(old), self.cat(new)), ('1', '2'))
        self.storage('cp', old, f'{self.bucket}/v')
        self.assertEqual(self.cat(f'{self.bucket}/v'), '1')
        self.storage('rm', '-a', f'{self.bucket}/v')
        self.assertEqual(self.storage('ls', '-a', f'{self.bucket}/v', check=False).returncode, 1)


class BigFiles(StorageTest):
    """Parallel composite uploads, sliced downloads, and uploads that are interrupted."""

    def same(self, one, two):
        support.run(['cmp', one, two])

    def test_200_megabytes_go_up_in_parts_and_come_down_in_slices(self):
        big = write(self.work / 'big', size=200_000_000)
        self.storage('cp', big, f'{self.bucket}/big')
        told = self.json('objects', 'describe', f'{self.bucket}/big')
        self.assertEqual((told['size'], told['component_count']), (200_000_000, 4))
        self.assertEqual(self.urls(f'{self.bucket}/**'), [f'{self.bucket}/big'])
        with relay.Relay(self.emulator.port) as wire:
            self.storage('cp', f'{self.bucket}/big', 'down', env={
                'CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE': wire.url + '/storage/v1/'})
            slices = [headers for method, target, headers in wire.requests
                      if method == 'GET' and 'alt=media' in target]
        self.same(big, self.work / 'down')
        self.assertGreater(len(slices), 1)

    def begin(self, wire, big):
        """Starts an upload that halts half way."""
        wire.hold_after(12_000_000)
        env = {**self.emulator.env,
               'CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE': wire.url + '/storage/v1/'}
        with open(self.work / 'gcloud.log', 'wb') as log:
            client = subprocess.Popen(['gcloud', 'storage', 'cp', big, f'{self.bucket}/big'],
                                      env=env, stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.end, client)
        self.assertTrue(wire.held.wait(120), (self.work / 'gcloud.log').read_text())
        return client, env

    @staticmethod
    def end(client):
        try:
            os.killpg(client.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        client.wait()

    def test_an_upload_is_resumed_after_its_client_was_killed(self):
        self.interrupted(restart=False)

    def test_an_upload_is_resumed_after_its_client_and_the_emulator_were_killed(self):
        self.interrupted(restart=True)

    def interrupted(self, restart):
        big = write(self.work / 'big', size=30_000_000)
        with relay.Relay(self.emulator.port) as wire:
            client, env = self.begin(wire, big)
            self.end(client)
            if restart:
                self.emulator.restart(kill=True)
                wire.target = self.emulator.port
            wire.cut()
            wire.let_go()
            before = wire.sent
            support.run(['gcloud', 'storage', 'cp', big, f'{self.bucket}/big'], env=env)
            again = wire.sent - before
        self.assertLess(again, 25_000_000, 'all of it was sent again')
        self.storage('cp', f'{self.bucket}/big', 'down')
        self.same(big, self.work / 'down')

    def test_an_upload_continues_after_the_emulator_was_killed_and_restarted(self):
        big = write(self.work / 'big', size=30_000_000)
        with relay.Relay(self.emulator.port) as wire:
            client, _ = self.begin(wire, big)
            self.emulator.restart(kill=True)
            wire.target = self.emulator.port
            wire.cut()
            wire.let_go()
            before = wire.sent
            self.assertEqual(client.wait(300), 0, (self.work / 'gcloud.log').read_text())
            self.assertLess(wire.sent - before, 25_000_000, 'all of it was sent again')
        self.storage('cp', f'{self.bucket}/big', 'down')
        self.same(big, self.work / 'down')


if __name__ == '__main__':
    support.main()
