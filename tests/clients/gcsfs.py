"""gcsfs with fsspec and pandas, configured by the variables of `caip env` only."""

import io
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

sys.path[:] = [p for p in sys.path if p and Path(p) != Path(__file__).parent] + [
    str(Path(__file__).parent)]  # this file's own name must not hide the library's

# pylint: disable=wrong-import-position
import support
import toolchains

if __name__ == '__main__':
    toolchains.inside(gcsfs=['gcsfs', 'pandas', 'pyarrow'])
    import fsspec
    import pandas

MIB = 1 << 20


class FileSystemTest(support.EmulatorTest):
    """gs:// as in a trainer: variables, no arguments."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        patch = mock.patch.dict(os.environ, cls.emulator.variables)
        patch.start()
        cls.addClassCleanup(patch.stop)
        # fsspec reads its variables at import; in a replica they are set before.
        fsspec.config.set_conf_env(fsspec.config.conf)

    def setUp(self):
        fsspec.get_filesystem_class('gs').clear_instance_cache()
        self.fs = fsspec.filesystem('gs')
        self.bucket = f'b{random.randrange(10**9)}'
        self.fs.mkdir(self.bucket)

    def put(self, *names):
        for name in names:
            self.fs.pipe_file(f'{self.bucket}/{name}', name.encode())

    def below(self, *names):
        return [f'{self.bucket}/{name}' for name in names]


class Frames(FileSystemTest):
    """pandas and models."""

    def test_csv_and_parquet(self):
        frame = pandas.DataFrame({'a': range(10_000), 'b': [f'ü{i}' for i in range(10_000)]})
        for kind in ('csv', 'parquet'):
            url = f'gs://{self.bucket}/data/frame.{kind}'
            how = {'index': False}
            getattr(frame, f'to_{kind}')(url, **how)
            back = getattr(pandas, f'read_{kind}')(url)
            pandas.testing.assert_frame_equal(back, frame)
        compressed = f'gs://{self.bucket}/frame.csv.gz'
        frame.to_csv(compressed, index=False)
        pandas.testing.assert_frame_equal(pandas.read_csv(compressed), frame)
        columns = pandas.read_parquet(f'gs://{self.bucket}/data/frame.parquet', columns=['a'])
        self.assertEqual(list(columns.columns), ['a'])

    def test_a_partitioned_data_set(self):
        frame = pandas.DataFrame({'day': ['mon', 'tue'] * 50, 'n': range(100)})
        url = f'gs://{self.bucket}/set'
        frame.to_parquet(url, partition_cols=['day'])
        files = [path for path in self.fs.find(url) if path.endswith('.parquet')]
        self.assertEqual(sorted(path.split('/')[-2] for path in files), ['day=mon', 'day=tue'])
        self.assertEqual(sorted(pandas.read_parquet(url).n), list(range(100)))

    def test_a_checkpoint_as_lightning_saves_it(self):
        """Serialized in memory, then written in one transaction (lightning's cloud_io)."""
        checkpoint = {'epoch': 3, 'weights': random.Random(1).randbytes(7 * MIB)}
        fs, _ = fsspec.core.url_to_fs(f'gs://{self.bucket}/ckpt/last.ckpt')
        fs.makedirs(f'{self.bucket}/ckpt', exist_ok=True)
        data = io.BytesIO()
        pickle.dump(checkpoint, data)
        with fs.transaction, fs.open(f'gs://{self.bucket}/ckpt/last.ckpt', 'wb') as out:
            out.write(data.getvalue())
        with fsspec.open(f'gs://{self.bucket}/ckpt/last.ckpt', 'rb') as source:
            self.assertEqual(pickle.load(source), checkpoint)

    def test_a_new_process_needs_only_the_variables(self):
        code = (f"import fsspec\nwith fsspec.open('gs://{self.bucket}/x', 'w') as f: f.write('hi')\n"
                f"print(fsspec.open('gs://{self.bucket}/x', 'r').open().read())")
        done = subprocess.run([sys.executable, '-c', code], env=self.emulator.env, timeout=120,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, 'hi\n'), done.stderr)


class Trees(FileSystemTest):
    """Names, folders, copies and renames."""

    NAMES = ('a.txt', 'd/b.csv', 'd/e/c.csv', 'd/e/ä +#%?.txt')

    def setUp(self):
        super().setUp()
        self.put(*self.NAMES)

    def test_find_glob_and_walk(self):
        fs, b = self.fs, self.bucket
        self.assertEqual(fs.find(b), sorted(self.below(*self.NAMES)))
        self.assertEqual(fs.glob(f'{b}/**/*.csv'), self.below('d/b.csv', 'd/e/c.csv'))
        self.assertEqual(fs.glob(f'{b}/d/*.csv'), self.below('d/b.csv'))
        self.assertEqual(fs.ls(f'{b}/d', detail=False), self.below('d/b.csv', 'd/e'))
        self.assertEqual([(root, dirs) for root, dirs, _ in fs.walk(f'{b}/d')],
                         [(f'{b}/d', ['e']), (f'{b}/d/e', [])])
        self.assertEqual(fs.du(f'{b}/d', total=True), sum(len(n.encode()) for n in self.NAMES[1:]))
        self.assertTrue(fs.isdir(f'{b}/d') and fs.isfile(f'{b}/a.txt') and fs.exists(b))
        self.assertFalse(fs.exists(f'{b}/d/none'))
        self.assertIn(b, [name.rstrip('/') for name in fs.ls('', detail=False)])
        info = fs.info(f'{b}/a.txt')
        self.assertEqual((info['size'], info['type']), (5, 'file'))

    def test_cp_mv_rm(self):
        fs, b = self.fs, self.bucket
        fs.cp(f'{b}/d', f'{b}/copy', recursive=True)
        self.assertEqual(fs.cat(f'{b}/copy/e/ä +#%?.txt'), 'd/e/ä +#%?.txt'.encode())
        fs.mv(f'{b}/a.txt', f'{b}/z.txt')
        self.assertEqual((fs.exists(f'{b}/a.txt'), fs.cat(f'{b}/z.txt')), (False, b'a.txt'))
        fs.rm(f'{b}/d', recursive=True)
        fs.invalidate_cache()
        self.assertEqual(len(fs.find(b)), 4)
        with self.assertRaises(FileNotFoundError):
            fs.rm(f'{b}/none')
        fs.rm(b, recursive=True)
        fs.invalidate_cache()
        self.assertFalse(fs.exists(b))

    def test_many_are_removed_in_batches(self):
        self.put(*(f'many/{i}' for i in range(120)))
        self.fs.rm(f'{self.bucket}/many', recursive=True)
        self.fs.invalidate_cache()
        self.assertEqual(len(self.fs.find(self.bucket)), 4)

    def test_get_and_put_trees(self):
        with tempfile.TemporaryDirectory() as directory:
            self.fs.get(f'{self.bucket}/d', directory + '/down', recursive=True)
            self.assertEqual(Path(directory, 'down/e/ä +#%?.txt').read_text(), 'd/e/ä +#%?.txt')
            self.fs.put(directory + '/down', f'{self.bucket}/up', recursive=True)
        self.assertEqual(len(self.fs.find(f'{self.bucket}/up')), 3)


class Bytes(FileSystemTest):
    """Reading and writing."""

    def test_ranges(self):
        data = random.Random(1).randbytes(100_000)
        path = f'{self.bucket}/r'
        self.fs.pipe_file(path, data)
        starts, ends = [0, 10, 99_990, 50], [5, 10_000, 100_000, 51]
        self.assertEqual(self.fs.cat_ranges([path] * 4, starts, ends),
                         [data[s:e] for s, e in zip(starts, ends)])
        self.assertEqual(self.fs.cat_file(path, start=-100), data[-100:])
        with self.fs.open(path, block_size=1000) as source:
            source.seek(500)
            self.assertEqual(source.read(3000), data[500:3500])
        self.assertEqual(self.fs.tail(path, 10), data[-10:])
        self.assertEqual(self.fs.head(path, 10), data[:10])

    def test_blocks_are_uploaded_as_they_fill(self):
        data = random.Random(2).randbytes(3 * 256 * 1024 + 11)
        with self.fs.open(f'{self.bucket}/w', 'wb', block_size=256 * 1024) as out:
            for start in range(0, len(data), 100_000):
                out.write(data[start:start + 100_000])
        self.assertEqual(self.fs.cat(f'{self.bucket}/w'), data)
        self.fs.touch(f'{self.bucket}/empty')
        self.assertEqual(self.fs.cat(f'{self.bucket}/empty'), b'')

    def test_transactions_commit_and_discard(self):
        with self.fs.transaction:
            with self.fs.open(f'{self.bucket}/t', 'wb', block_size=256 * 1024) as out:
                out.write(b'x' * 600_000)
            self.assertFalse(self.fs.exists(f'{self.bucket}/t'))
        self.fs.invalidate_cache()
        self.assertEqual(self.fs.size(f'{self.bucket}/t'), 600_000)
        out = self.fs.open(f'{self.bucket}/u', 'wb', autocommit=False, block_size=256 * 1024)
        out.write(b'y' * 600_000)
        out.close()
        out.discard()
        self.assertFalse(self.fs.exists(f'{self.bucket}/u'))

    def test_metadata_and_checksums(self):
        path = f'{self.bucket}/m'
        with self.fs.open(path, 'wb', metadata={'k': 'v'}, content_type='text/csv') as out:
            out.write(b'1')
        self.fs.setxattrs(path, n='1')
        self.assertEqual(self.fs.getxattr(path, 'n'), '1')
        info = self.fs.info(path)
        self.assertEqual((info['contentType'], info['metadata']), ('text/csv', {'k': 'v', 'n': '1'}))
        with self.fs.open(path, 'rb', consistency='md5') as source:
            self.assertEqual(source.read(), b'1')
        self.fs.merge(f'{self.bucket}/two', [path, path])
        self.assertEqual(self.fs.cat(f'{self.bucket}/two'), b'11')


if __name__ == '__main__':
    support.main()
