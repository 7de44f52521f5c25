"""What a simulated power cut leaves: no file vanishes that a rename has moved."""

import os
import random
import tempfile
import unittest
from pathlib import Path

from power_cut import HEADER, Disk


class PowerCut(unittest.TestCase):
    """A file is moved from one directory to a new one, and nothing is synced but its first name."""

    def cut(self, seed):
        """The names of files after the cut, relative to the directory."""
        with tempfile.TemporaryDirectory(prefix='caip-power-cut-') as place:
            directory, work = Path(place, 'state'), Path(place, 'work')
            (directory / 'uploads').mkdir(parents=True)
            work.mkdir()
            (directory / 'uploads/key').write_text('bytes')
            disk = Disk(directory, work)
            (directory / 'new').mkdir()
            (directory / 'uploads/key').rename(directory / 'new/object')
            top, uploads, new, file = (os.stat(directory / name) for name in ('.', 'uploads', 'new', 'new/object'))
            with open(disk.journal, 'wb') as journal:
                self.put(journal, 'M', new.st_mode, (top.st_ino, new.st_ino, 0, 0), 'new')
                self.put(journal, 'R', file.st_mode, (uploads.st_ino, new.st_ino, file.st_ino, 0), 'key', b'object')
            disk.cut(random.Random(seed))
            return sorted(str(path.relative_to(directory)) for path in directory.rglob('*') if path.is_file())

    @staticmethod
    def put(journal, kind, mode, numbers, name, data=b''):
        journal.write(HEADER.pack(ord(kind), len(name), len(data), mode, *numbers) + name.encode() + data)

    def test_a_moved_file_is_at_its_old_or_at_its_new_place(self):
        left = {tuple(self.cut(seed)) for seed in range(100)}
        self.assertEqual(left, {('uploads/key',), ('new/object',)})


if __name__ == '__main__':
    unittest.main()
