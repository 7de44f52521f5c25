"""The pytest fixture: its emulator, its buckets and its jobs; by pytest itself where there is one."""

import os
import subprocess
import sys
import tempfile
import unittest

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
sys.path.insert(0, FIXTURES)
import caip_pytest  # noqa: E402

TRAINER = '''import os, sys, urllib.request
endpoint = os.environ['STORAGE_EMULATOR_HOST']
name = sys.argv[sys.argv.index('--job-dir') + 1].replace('gs://models/', '') + '/model.json'
urllib.request.urlopen(urllib.request.Request(
    endpoint + '/upload/storage/v1/b/models/o?uploadType=media&name=' + name.replace('/', '%2F'),
    data=b'{}', method='POST'))
print('trained')
'''

TEST = '''def test_trains(caip, tmp_path, monkeypatch):
    (tmp_path / 'trainer').mkdir()
    (tmp_path / 'trainer' / '__init__.py').write_text('')
    (tmp_path / 'trainer' / 'task.py').write_text(%r)
    bucket = caip.make_bucket('models')
    job = caip.submit_job('--package-path', str(tmp_path / 'trainer'), '--module-name', 'trainer.task',
                          '--runtime-version', '2.11', '--job-dir', 'gs://models/out')
    assert job['state'] == 'SUCCEEDED', job.get('errorMessage')
    assert (bucket / 'out' / 'model.json').read_text() == '{}'
''' % TRAINER


def python_with_pytest():
    """This interpreter, or the system's own, for which scripts/setup installs pytest; None: none has it."""
    for python in (sys.executable, '/usr/bin/python3'):
        found = subprocess.run([python, '-c', 'import pytest'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if found.returncode == 0:
            return python
    return None


PYTHON = python_with_pytest()


class Fixture(unittest.TestCase):
    def test_a_job_by_hand(self):
        with tempfile.TemporaryDirectory() as folder, caip_pytest.Emulator() as caip:
            os.mkdir(folder + '/trainer')
            open(folder + '/trainer/__init__.py', 'w').close()
            with open(folder + '/trainer/task.py', 'w') as task:
                task.write(TRAINER)
            bucket = caip.make_bucket('models')
            words = ['--package-path', folder + '/trainer', '--runtime-version', '2.11',
                     '--job-dir', 'gs://models/out']
            job = caip.submit_job(*words, '--module-name', 'trainer.task')
            self.assertEqual(job['state'], 'SUCCEEDED', job)
            self.assertTrue(any('trained' in line for line in job['lines']))
            self.assertEqual((bucket / 'out' / 'model.json').read_text(), '{}')
            failed = caip.submit_job(*words, '--module-name', 'trainer.nothing')
            self.assertEqual(failed['state'], 'FAILED')
            with self.assertRaisesRegex(RuntimeError, 'the job was not made'):
                caip.submit_job('--module-name', 't', job_id='bad-id')
            self.assertIn(caip.endpoint, str(caip.environment()))

    @unittest.skipUnless(PYTHON, 'pytest is not installed')
    def test_by_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + '/test_it.py', 'w') as file:
                file.write(TEST)
            run = subprocess.run([PYTHON, '-m', 'pytest', '-q', '-p', 'caip_pytest', '--basetemp',
                                  folder + '/pytest', folder],
                                 stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=FIXTURES))
            self.assertEqual(run.returncode, 0, run.stdout.decode())


if __name__ == '__main__':
    unittest.main()
