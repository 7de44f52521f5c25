"""rclone with its Google Cloud Storage backend: uploads and downloads a tree of 200 files, twice."""

import os
import random
import tempfile
from pathlib import Path

import support
import toolchains


class Rclone(support.EmulatorTest):
    """Configured by variables only, without a configuration file."""

    @classmethod
    def setUpClass(cls):
        cls.program = toolchains.debian_program('rclone', 'rclone')
        super().setUpClass()

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bucket = f'g:b{random.randrange(10**9)}'
        self.env = {**self.emulator.env, 'RCLONE_CONFIG': '/dev/null',
                    'RCLONE_CONFIG_G_TYPE': 'google cloud storage',
                    'RCLONE_CONFIG_G_ANONYMOUS': 'true',
                    'RCLONE_CONFIG_G_BUCKET_POLICY_ONLY': 'true',
                    'RCLONE_CONFIG_G_PROJECT_NUMBER': '1',
                    'RCLONE_CONFIG_G_ENDPOINT': self.emulator.url + '/storage/v1/',
                    'RCLONE_LOW_LEVEL_RETRIES': '1', 'RCLONE_RETRIES': '1'}
        self.rclone('mkdir', self.bucket)

    def rclone(self, *words, check=True):
        return support.run([self.program, *words], env=self.env, cwd=self.work, check=check)

    def copied(self, *words):
        """How many files a copy or sync transferred."""
        said = self.rclone(*words, '-v').stderr
        return said.count(': Copied (')

    def tree(self, name):
        for i in range(200):
            path = self.work / name / f'd{i % 7}' / f'e {i % 3}' / f'file+{i}#ü.bin'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(random.Random(i).randbytes(i * 37))
            os.utime(path, (10**9 + i, 10**9 + i))

    def test_copy_sync_check_and_purge_of_200_files_twice(self):
        self.tree('tree')
        there = self.bucket + '/t'
        for turn in (1, 2):
            with self.subTest(turn=turn):
                self.assertEqual(self.copied('copy', 'tree', there), 200)
                self.assertEqual(self.copied('copy', 'tree', there), 0)
                self.rclone('check', 'tree', there)
                self.rclone('check', '--download', 'tree', there)
                changed = self.work / 'tree/d0/e 0/file+0#ü.bin'
                changed.write_text(f'changed {turn}')
                (self.work / f'tree/d1/e 1/file+1#ü.bin').unlink(missing_ok=True)
                self.assertEqual(self.copied('sync', 'tree', there), 1)
                self.rclone('check', 'tree', there)
                self.assertEqual(self.copied('copy', there, f'down{turn}'), 199)
                self.assertEqual(int((self.work / f'down{turn}/d2/e 2/file+2#ü.bin')
                                     .stat().st_mtime), 10**9 + 2)
                self.rclone('check', f'down{turn}', there)
                self.rclone('purge', there)
                self.assertEqual(self.rclone('lsf', self.bucket).stdout, '')
                self.tree('tree')
        (self.work / 'tree/d1/e 1/file+1#ü.bin').write_text('other')
        self.rclone('copy', 'down1', there)
        self.assertNotEqual(self.rclone('check', 'tree', there, check=False).returncode, 0)

    def test_small_commands(self):
        (self.work / 'a').write_text('0123456789')
        self.rclone('copyto', 'a', self.bucket + '/d/a b')
        self.rclone('moveto', self.bucket + '/d/a b', self.bucket + '/e/ü+%41')
        self.assertEqual(self.rclone('cat', self.bucket + '/e/ü+%41').stdout, '0123456789')
        self.assertEqual(self.rclone('cat', '--offset', '2', '--count', '3',
                                     self.bucket + '/e/ü+%41').stdout, '234')
        self.assertIn('(10 Byte)', self.rclone('size', self.bucket).stdout)
        self.assertIn(self.bucket[2:], self.rclone('lsd', 'g:').stdout)
        self.assertEqual(self.rclone('lsd', self.bucket).stdout.split()[-1], 'e')
        self.assertEqual(sorted(self.rclone('lsf', '-R', self.bucket).stdout.splitlines()),
                         ['e/', 'e/ü+%41'])
        self.assertEqual(self.rclone('hashsum', 'md5', self.bucket).stdout.split()[0],
                         '781e5e245d69b566979b86e28d23f2c7')
        self.rclone('copy', self.bucket + '/e', self.bucket + '/f')  # in the cloud
        self.rclone('deletefile', self.bucket + '/e/ü+%41')
        self.assertEqual(self.rclone('lsf', '-R', '--files-only', self.bucket).stdout, 'f/ü+%41\n')
        self.rclone('purge', self.bucket)
        self.assertNotIn(self.bucket[2:], self.rclone('lsd', 'g:').stdout)

    def test_a_stream_and_a_file_in_chunks(self):
        data = random.Random(1).randbytes(40_000_000)
        (self.work / 'big').write_bytes(data)
        self.rclone('copyto', 'big', self.bucket + '/big', '--gcs-no-check-bucket')
        support.run(['bash', '-c', f"'{self.program}' rcat {self.bucket}/streamed < big"],
                    env=self.env, cwd=self.work)
        for name in ('big', 'streamed'):
            self.rclone('copyto', f'{self.bucket}/{name}', 'back')
            self.assertEqual((self.work / 'back').read_bytes(), data)


if __name__ == '__main__':
    support.main()
