"""google-cloud-cpp as part of pyarrow (pyarrow.fs.GcsFileSystem): no package has it alone.

TensorFlow I/O, DuckDB and others embed the same library and read the same variable.
"""

import os
import random
import tempfile
from pathlib import Path
from unittest import mock

import support
import toolchains

if __name__ == '__main__':
    toolchains.inside(pyarrow=['pyarrow'])
    # pylint: disable=wrong-import-position
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
    from pyarrow import fs

MIB = 1 << 20


class GoogleCloudCpp(support.EmulatorTest):
    """Configured by CLOUD_STORAGE_EMULATOR_ENDPOINT and the project only, without credentials."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        patch = mock.patch.dict(os.environ, cls.emulator.variables)
        patch.start()
        cls.addClassCleanup(patch.stop)

    def setUp(self):
        self.fs = fs.GcsFileSystem(anonymous=True, project_id='demo-project')
        self.bucket = f'b{random.randrange(10**9)}'
        self.fs.create_dir(self.bucket)

    def put(self, name, data):
        with self.fs.open_output_stream(f'{self.bucket}/{name}',
                                        metadata={'Content-Type': 'a/b', 'k': 'v'}) as out:
            out.write(data)

    def test_streams(self):
        data = random.Random(1).randbytes(20 * MIB + 3)
        self.put('a b+c#%?/ü', data)
        path = f'{self.bucket}/a b+c#%?/ü'
        with self.fs.open_input_stream(path) as source:
            self.assertEqual(source.read(), data)
            metadata = source.metadata()
        self.assertEqual((metadata['Content-Type'], metadata['metadata.k']), (b'a/b', b'v'))
        with self.fs.open_input_file(path) as source:
            self.assertEqual(source.read_at(1000, 5 * MIB), data[5 * MIB:5 * MIB + 1000])
            source.seek(len(data) - 10)
            self.assertEqual(source.read(), data[-10:])
        self.put('empty', b'')
        with self.fs.open_input_stream(f'{self.bucket}/empty') as source:
            self.assertEqual(source.read(), b'')
        with self.assertRaises(FileNotFoundError):
            self.fs.open_input_stream(f'{self.bucket}/none')
        with self.assertRaises(OSError):
            with self.fs.open_output_stream('no-such-bucket/x') as out:
                out.write(b'x')

    def test_trees(self):
        self.fs.create_dir(f'{self.bucket}/d/e')  # this library stores a folder as an object
        for name in ('a', 'd/b', 'd/e/c'):
            self.put(name, name.encode())
        below = self.fs.get_file_info(fs.FileSelector(self.bucket, recursive=True))
        self.assertEqual(sorted(info.path.partition('/')[2] for info in below if info.is_file),
                         ['a', 'd/b', 'd/e/c'])
        here = self.fs.get_file_info(fs.FileSelector(f'{self.bucket}/d'))
        self.assertEqual(sorted((info.base_name, info.type) for info in here),
                         [('b', fs.FileType.File), ('e', fs.FileType.Directory)])
        self.fs.copy_file(f'{self.bucket}/a', f'{self.bucket}/copy')
        self.fs.move(f'{self.bucket}/copy', f'{self.bucket}/moved')
        told, none = self.fs.get_file_info([f'{self.bucket}/moved', f'{self.bucket}/copy'])
        self.assertEqual((told.size, none.type), (1, fs.FileType.NotFound))
        self.fs.delete_file(f'{self.bucket}/moved')
        self.fs.delete_dir(f'{self.bucket}/d')
        left = self.fs.get_file_info(fs.FileSelector(self.bucket, recursive=True))
        self.assertEqual([info.base_name for info in left], ['a'])
        self.fs.delete_dir(self.bucket)
        self.assertEqual(self.fs.get_file_info(self.bucket).type, fs.FileType.NotFound)

    def test_tables_by_url(self):
        table = pyarrow.table({'day': ['mon', 'tue'] * 5000, 'n': list(range(10_000))})
        url = f'gs://anonymous@{self.bucket}/table.parquet'
        pyarrow.parquet.write_table(table, url)
        self.assertTrue(pyarrow.parquet.read_table(url).equals(table))
        data = pyarrow.dataset
        data.write_dataset(table, f'gs://anonymous@{self.bucket}/set', format='parquet',
                           partitioning=['day'], partitioning_flavor='hive')
        back = data.dataset(f'gs://anonymous@{self.bucket}/set', partitioning='hive')
        self.assertEqual(back.count_rows(filter=data.field('day') == 'mon'), 5000)

    def test_copies_between_local_files_and_the_bucket(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ('x', 'y/z'):
                path = Path(directory, 'up', name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(name)
            fs.copy_files(directory + '/up', f'{self.bucket}/t', destination_filesystem=self.fs)
            fs.copy_files(f'{self.bucket}/t', directory + '/down', source_filesystem=self.fs)
            self.assertEqual(Path(directory, 'down/y/z').read_text(), 'y/z')


if __name__ == '__main__':
    support.main()
