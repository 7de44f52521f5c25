#!/usr/bin/env python3
"""`caip init`: a new trainer works as it is, survives restarts, and nothing is overwritten. Those of the frameworks are
tried by tests/clients/frameworks_*.py.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())
FILES = ['.github/workflows/training.yml', 'config.yaml', 'restarts.yaml', 'trainer/__init__.py',
         'trainer/checkpoints.py', 'trainer/task.py']


class Init(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-init-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / 'state'
        self.state.mkdir()
        (self.state / 'config.yaml').write_text(f'runtimes: {{"2.11": {sys.executable}}}\n')

    def caip(self, *words, cwd=None):
        environment = {**os.environ, 'CLOUDSDK_CORE_PROJECT': 'demo', 'CAIP_STATE': str(self.state)}
        done = subprocess.run([CAIP, *words], cwd=cwd or self.folder, env=environment, text=True, timeout=400,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def new(self, kind):
        code, text = self.caip('init', kind, 'new')
        self.assertEqual(code, 0, text)
        for name in FILES:
            self.assertIn(f'new/{name}\n', text)
            self.assertTrue((self.folder / 'new' / name).is_file())
        return self.folder / 'new', text

    def test_a_new_trainer_works_as_the_printed_steps_say(self):
        folder, text = self.new('plain')
        steps = text[text.index('\nNext:\n') + 7:].replace('\\\n', ' ').splitlines()
        submit = next(line for line in steps if 'jobs submit' in line).split()[1:]
        code, said = self.caip(*submit, cwd=folder)
        self.assertEqual(code, 0, said)
        code, result = self.caip('cat', 'gs://demo-bucket/first_1/result.json')
        self.assertEqual(code, 0, result)
        self.assertAlmostEqual(json.loads(result)['slope'], 3, delta=0.2)
        code, said = self.caip('scenario', 'run', 'restarts.yaml', cwd=folder)
        self.assertEqual(code, 0, said)
        self.assertIn('1 passed', said)

    def test_no_crash_point_of_the_plain_trainer_loses_anything(self):
        folder, _ = self.new('plain')
        code, text = self.caip('explore', '--max-points', '30', '--', '--package-path', 'trainer', '--module-name',
                               'trainer.task', '--config', 'config.yaml', cwd=folder)
        self.assertEqual(code, 0, text)
        self.assertIn('nothing found', text)

    def test_nothing_is_overwritten(self):
        self.new('plain')
        (self.folder / 'new/trainer/task.py').write_text('mine\n')
        shutil.rmtree(self.folder / 'new/.github')
        code, text = self.caip('init', 'torch', 'new')
        self.assertEqual(code, 1, text)
        self.assertIn('new/trainer/task.py', text)
        self.assertIn('Nothing was written', text)
        self.assertEqual((self.folder / 'new/trainer/task.py').read_text(), 'mine\n')
        self.assertFalse((self.folder / 'new/.github').exists())

    def test_what_it_cannot_make_is_said(self):
        for words in ((), ('jax',)):
            code, text = self.caip('init', *words)
            self.assertEqual(code, 2, text)
            self.assertIn('keras, plain, sklearn, torch', text)


if __name__ == '__main__':
    unittest.main()
