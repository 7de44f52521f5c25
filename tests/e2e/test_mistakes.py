#!/usr/bin/env python3
"""Each mistake of tests/e2e/mistakes.py gets its cause, its remedy and its exit code, and changes nothing."""

import os
import pathlib
import shlex
import socket
import subprocess
import sys
import tempfile
import unittest

import mistakes

CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())
IMAGE = 'gcr.io/p/ok:1'


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='caip-mistakes-')
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.work = cls.folder / 'work'
        for name, text in {**mistakes.FILES, '../state/config.yaml': f'runtimes: {{"2.11": {sys.executable}}}\n',
                           '../broken/config.yaml': mistakes.FILES['setting.yaml']}.items():
            file = pathlib.Path(os.path.normpath(cls.work / name))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(('CAIP_', 'CLOUDSDK_'))}
        cls.environment.update(CAIP_STATE=str(cls.folder / 'state'), CLOUDSDK_CONFIG=str(cls.folder / 'gcloud'),
                               CLOUDSDK_CORE_PROJECT='demo')
        cls.serve()
        taken = socket.create_server(('127.0.0.1', 0))
        cls.addClassCleanup(taken.close)
        cls.places = {'$PORT': str(taken.getsockname()[1]), '$OTHER': str(cls.folder / 'other'),
                      '$BROKEN': str(cls.folder / 'broken')}
        for line in ('caip buckets create bkt-1', f'caip images map {IMAGE}=true',
                     f'caip jobs submit training taken --region us-central1 --master-image-uri {IMAGE} --stream-logs'):
            code, text = cls.run_line(line)
            assert code == 0, text

    @classmethod
    def serve(cls):
        server = subprocess.Popen([CAIP, 'serve', '--port', '0'], cwd=cls.work, env=cls.environment, text=True,
                                  stderr=subprocess.PIPE)

        def end():
            server.terminate()
            server.communicate()
        cls.addClassCleanup(end)
        for line in server.stderr:
            if ' serves ' in line:
                return
        raise AssertionError('the emulator did not start')

    @classmethod
    def run_line(cls, line):
        words = shlex.split(line)
        words[words.index('caip')] = CAIP
        done = subprocess.run(words, cwd=cls.work, env=cls.environment, text=True, timeout=100,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def check(self, line, exit_code, parts):
        for name, value in self.places.items():
            line = line.replace(name, value)
        before = sorted(self.work.rglob('*'))
        code, text = self.run_line(line)
        self.assertEqual(code, exit_code, text)
        for part in parts:
            self.assertIn(part, text)
        self.assertEqual(sorted(self.work.rglob('*')), before, text)

    def check_group(self, name):
        for row in mistakes.GROUPS[name]:
            with self.subTest(row[0]):
                self.check(*row)
        code, text = self.run_line('caip jobs list --uri')
        self.assertEqual(code, 0, text)
        self.assertEqual([uri.rpartition('/')[2] for uri in text.split()], ['taken'])

    def test_more_than_forty_mistakes_are_listed_and_each_once(self):
        lines = [row[0] for rows in mistakes.GROUPS.values() for row in rows]
        self.assertGreater(len(lines), 40)
        self.assertEqual(sorted(set(lines)), sorted(lines))
        for line, code, parts in (row for rows in mistakes.GROUPS.values() for row in rows):
            self.assertIn(code, (1, 2), line)
            self.assertTrue(parts and all(parts), line)

    def test_a_key_that_occurs_twice_is_a_warning_as_in_gcloud(self):
        code, text = self.run_line(mistakes.config('twice.yaml') + ' --dry-run')
        self.assertEqual(code, 0, text)
        self.assertIn('trainingInput.scaleTier occurs twice; only the first is used. Remove one of the two.', text)


def add_group(name):
    setattr(Mistakes, f'test_{name}_name_cause_and_remedy', lambda self: self.check_group(name))


for group in mistakes.GROUPS:
    add_group(group)

if __name__ == '__main__':
    unittest.main()
