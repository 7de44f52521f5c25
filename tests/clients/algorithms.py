"""Shared by the tests of the built-in algorithms: interpreters with the libraries, data, and the program on local paths."""

import json
import os
import random
import re
import shutil
import tempfile
import unittest
import urllib.request
import zipfile
from pathlib import Path

import support

# The folder of the package; algorithms_mutants.py names others.
PACKAGE = Path(os.environ.get('CAIP_TEST_ALGORITHMS') or support.ROOT / 'fakes/algorithms')
IMAGES = 'gcr.io/cloud-ml-algos/'
CENSUS = 'xai==0.3.0'


def xgboost_python():
    return support.virtualenv('algorithms-xgboost', 'numpy', 'xgboost-cpu')


def tensorflow_python():
    return support.virtualenv('algorithms-tensorflow', 'numpy', 'tensorflow-cpu', timeout=1800)


def census():
    """The census file of the package xai, with the target first and without its header and its index; skips without an
    index of packages."""
    with support.installing('census', CENSUS) as (directory, fresh):
        if fresh:
            support.install(['python3', '-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':none:', '-d', directory,
                             CENSUS], support.clean_environment(), 300)
            package = next(directory.glob('xai*'))
            with zipfile.ZipFile(package) as archive:
                name = next(name for name in archive.namelist() if name.endswith('census.csv'))
                rows = archive.read(name).decode().splitlines()[1:]
            cut = [row.split(',')[1:] for row in rows]
            text = ''.join(','.join([cells[-1].strip(), *(cell.strip() for cell in cells[:-1])]) + '\n' for cells in cut)
            (directory / 'census.csv').write_text(text)
    return directory / 'census.csv'


def table(rows=600, seed=1):
    """A CSV text: the class yes or no, a key, a number, an integer of few values, a text, another number."""
    chance = random.Random(seed)
    lines = []
    for i in range(rows):
        number, few, colour = chance.gauss(0, 1), chance.randrange(4), chance.choice(['red', 'green', 'blue'])
        score = number + (few - 1.5) + (1 if colour == 'red' else -1) + chance.gauss(0, 0.3)
        lines.append(f'{"yes" if score > 0 else "no"},{1000 + i},{number:.4f},{few},{colour},{chance.randrange(100)}.5\n')
    return ''.join(lines)


class Outcome:
    """How the program ended. `files` reads what it has written to the job directory."""

    def __init__(self, done, job_dir):
        self.code, self.out, self.err, self.job_dir = done.returncode, done.stdout, done.stderr, job_dir

    def text(self, name):
        return (self.job_dir / name).read_text()

    def rows(self, part):
        path = self.job_dir / f'processed_data/{part}.csv'
        return [line.split(',') for line in path.read_text().splitlines()] if path.exists() else []

    def metadata(self):
        return json.loads(self.text('artifacts/metadata.json'))


class ProgramTest(unittest.TestCase):
    """Runs the program of the package directly, without an emulator."""

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix='caip-algorithms-'))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_program(self, python, image, *words, env=None):
        job_dir = self.directory / 'job'
        done = support.run([python, '-B', '-m', 'caip_algorithms', image, *words, f'--job-dir={job_dir}'],
                           env={**support.clean_environment(), 'PYTHONPATH': str(PACKAGE), **(env or {})},
                           cwd=self.directory, check=False, timeout=600)
        return Outcome(done, job_dir)

    def write(self, name, data):
        path = self.directory / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def predict(self, python, job_dir, *instances):
        """The predictions for these instances, JSON values."""
        file = self.write('instances.json', ''.join(json.dumps(one) + '\n' for one in instances))
        done = support.run([python, '-B', '-m', 'caip_algorithms', 'predict', f'--model-dir={job_dir}/model',
                            f'--json-instances={file}'],
                           env={**support.clean_environment(), 'PYTHONPATH': str(PACKAGE)}, timeout=300)
        return json.loads(done.stdout)['predictions']


class CensusTest(ProgramTest):
    """The table of docs/built-in-algorithms.md. Skipped, by name, where the file cannot be downloaded."""

    @classmethod
    def setUpClass(cls):
        cls.data = census()

    def assert_reaches(self, python, image, accuracy, auc, *words):
        outcome = self.run_program(python, image, '--preprocess', f'--training_data_path={self.data}', *words)
        self.assertEqual(outcome.code, 0, outcome.err)
        values = test_part(outcome.out)
        self.assertGreaterEqual(values['accuracy'], accuracy, values)
        self.assertGreaterEqual(values['auc'], auc, values)
        return outcome


def test_part(log):
    """The metrics of the test part, of a job's log."""
    line = re.search(r'Test part: (.*)\.', log)[1]
    return {name: float(value) for name, value in (pair.split(' ') for pair in line.split(', '))}


def put(emulator, name, data):
    """Writes an object gs://bkt/NAME through the emulator."""
    request = urllib.request.Request(f'{emulator.url}/upload/storage/v1/b/bkt/o?uploadType=media&name={name}', data,
                                     {'Content-Type': 'text/csv'})
    urllib.request.urlopen(request, timeout=60).close()
