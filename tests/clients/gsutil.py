"""gsutil 5: through gcloud over http, and by itself (JSON API) over TLS on the same port."""

import json
import os
import random
import tempfile
from pathlib import Path

import support


def write(path, text):
    """Writes a file of this text, and creates its folders."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Everything:
    """The commands. Subclasses choose the protocol."""

    boto = 'boto'

    @classmethod
    def setUpClass(cls):
        support.need('gsutil')
        super().setUpClass()

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bucket = f'gs://b{random.randrange(10**9)}'
        self.gsutil('mb', self.bucket)

    def gsutil(self, *words, check=True):
        boto = Path(self.emulator.env['CLOUDSDK_CONFIG'], self.boto)
        return support.run(['gsutil', *words], check=check, cwd=self.work,
                           env={**self.emulator.env, 'BOTO_CONFIG': str(boto)})

    def urls(self, *words):
        return [line for line in self.gsutil('ls', *words).stdout.splitlines() if line]

    def test_mb_cp_ls_cat_rm_rb(self):
        b = self.bucket
        write(self.work / 'a.txt', '0123456789')
        write(self.work / 'd/b c+d#%?ü.txt', 'x')
        self.gsutil('cp', 'a.txt', b)
        self.gsutil('-m', 'cp', '-r', 'd', b)
        self.assertEqual(self.urls(b), [f'{b}/a.txt', f'{b}/d/'])
        self.assertEqual(self.urls('-r', f'{b}/**'), [f'{b}/a.txt', f'{b}/d/b c+d#%?ü.txt'])
        self.assertIn(' 10  ', self.gsutil('ls', '-l', f'{b}/a.txt').stdout)
        self.assertRegex(self.gsutil('ls', '-L', f'{b}/a.txt').stdout, r'Content-Length: +10')
        self.assertEqual(self.gsutil('cat', f'{b}/a.txt').stdout, '0123456789')
        self.assertEqual(self.gsutil('cat', '-r', '1-3', f'{b}/a.txt').stdout, '123')
        self.gsutil('cp', f'{b}/a.txt', 'back')
        self.assertEqual((self.work / 'back').read_text(), '0123456789')
        self.assertIn(f'{b}/', self.urls())
        self.assertNotEqual(self.gsutil('rb', b, check=False).returncode, 0)  # not empty
        self.gsutil('-m', 'rm', '-r', f'{b}/d', f'{b}/a.txt')
        self.gsutil('rb', b)
        self.assertNotEqual(self.gsutil('ls', b, check=False).returncode, 0)

    def test_mv_cp_in_the_cloud_compose(self):
        b = self.bucket
        for name in 'ab':
            write(self.work / name, name)
        self.gsutil('cp', 'a', 'b', b)
        self.gsutil('cp', f'{b}/a', f'{b}/c/a')
        self.gsutil('mv', f'{b}/c/a', f'{b}/c/z')
        self.gsutil('compose', f'{b}/a', f'{b}/b', f'{b}/c/z', f'{b}/whole')
        self.assertEqual(self.gsutil('cat', f'{b}/whole').stdout, 'aba')
        self.assertEqual(self.urls(f'{b}/**'), [f'{b}/a', f'{b}/b', f'{b}/c/z', f'{b}/whole'])

    def test_a_second_rsync_does_nothing(self):
        for i in range(12):
            os.utime(write(self.work / f'tree/{i % 3}/{i}', 'x' * i), (10**9 + i, 10**9 + i))
        words = ['-m', 'rsync', '-r', 'tree', f'{self.bucket}/t']
        self.assertEqual(self.gsutil(*words).stderr.count('Copying file:'), 12)
        self.assertEqual(self.gsutil(*words).stderr.count('Copying file:'), 0)
        (self.work / 'tree/1/1').unlink()
        (self.work / 'down').mkdir()
        self.gsutil('-m', 'rsync', '-r', '-d', 'tree', f'{self.bucket}/t')
        self.gsutil('-m', 'rsync', '-r', f'{self.bucket}/t', 'down')
        self.assertEqual(sorted(p.name for p in (self.work / 'down').rglob('*') if p.is_file()),
                         sorted(str(i) for i in range(12) if i != 1))
        self.assertEqual(int((self.work / 'down/2/2').stat().st_mtime), 10**9 + 2)

    def test_stat_setmeta_hash_du(self):
        b = self.bucket
        write(self.work / 'd/a', 'abc')
        self.gsutil('-h', 'Cache-Control:no-cache', '-h', 'x-goog-meta-k:v', 'cp', 'd/a', f'{b}/d/a')
        self.gsutil('setmeta', '-h', 'Content-Type:text/csv', '-h', 'x-goog-meta-n:1', f'{b}/d/a')
        told = self.gsutil('stat', f'{b}/d/a').stdout
        for line in (r'Content-Type: +text/csv', r'Content-Length: +3', r'Cache-Control: +no-cache',
                     r'k: +v', r'n: +1', r'Hash \(md5\): +kAFQmDzST7DWlj99KOF/cg=='):
            with self.subTest(line=line):
                self.assertRegex(told.replace('Hash (MD5)', 'Hash (md5)'), line)
        self.assertEqual(self.gsutil('-q', 'stat', f'{b}/none', check=False).returncode, 1)
        here, there = self.gsutil('hash', '-m', 'd/a').stdout, self.gsutil('hash', '-m',
                                                                          f'{b}/d/a').stdout
        for told in (here, there):
            self.assertIn('kAFQmDzST7DWlj99KOF/cg==', told)
        self.assertEqual(self.gsutil('du', '-s', b).stdout.split(), ['3', b])

    def test_a_big_file_is_sent_in_a_session(self):
        data = random.Random(1).randbytes(20_000_000)
        (self.work / 'big').write_bytes(data)
        self.gsutil('cp', 'big', self.bucket)
        self.gsutil('cp', f'{self.bucket}/big', 'down')
        self.assertEqual((self.work / 'down').read_bytes(), data)


class ThroughGcloud(Everything, support.EmulatorTest):
    """With the boto file of `caip env`: gsutil passes the work to gcloud storage."""


class OverTls(Everything, support.EmulatorTest):
    """gsutil by itself, with the other boto file: https on the same port."""

    boto = 'boto-tls'

    def test_policies_of_buckets_and_objects(self):
        b = self.bucket
        for i in range(4):  # etags of about half of all policies have characters that gsutil sends otherwise
            self.gsutil('iam', 'ch', f'user:u{i}@a.b:objectViewer', b)
        bindings = json.loads(self.gsutil('iam', 'get', b).stdout)['bindings']
        viewers = next(one for one in bindings if one['role'] == 'roles/storage.objectViewer')
        self.assertEqual(sorted(viewers['members']), [f'user:u{i}@a.b' for i in range(4)])
        self.gsutil('cp', write(self.work / 'o', 'text'), f'{b}/o')
        self.gsutil('iam', 'ch', 'user:r@a.b:legacyObjectReader', f'{b}/o')
        self.assertIn('user-r@a.b', self.gsutil('acl', 'get', f'{b}/o').stdout)
        self.assertEqual(json.loads(self.gsutil('iam', 'get', b).stdout)['bindings'], bindings)

    def test_autoclass(self):
        b = self.bucket
        self.gsutil('autoclass', 'set', 'on', b)
        self.assertIn('Enabled: True', self.gsutil('autoclass', 'get', b).stdout)
        self.assertRegex(self.gsutil('ls', '-L', '-b', b).stdout, r'Autoclass:\s+Enabled on ')
        self.gsutil('autoclass', 'set', 'off', b)
        self.assertIn('Enabled: False', self.gsutil('autoclass', 'get', b).stdout)

    def test_versions(self):
        b = self.bucket
        self.gsutil('versioning', 'set', 'on', b)
        self.assertIn('Enabled', self.gsutil('versioning', 'get', b).stdout)
        for text in '12':
            self.gsutil('cp', write(self.work / 'v', text), f'{b}/v')
        old, new = self.urls('-a', f'{b}/v')
        self.assertEqual([self.gsutil('cat', url).stdout for url in (old, new)], ['1', '2'])
        self.gsutil('rm', '-a', f'{b}/v')
        self.assertNotEqual(self.gsutil('ls', '-a', f'{b}/v', check=False).returncode, 0)


if __name__ == '__main__':
    support.main()
