"""Training data in Bigtable: a replica reads rows of the Cloud SDK's emulator, which caip starts."""

import json
import os
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

import support

EMULATOR = 'platform/bigtable-emulator/cbtemulator'

# The trainer. Nothing in it names an emulator.
TRAINER = '''
import sys
from google.cloud import bigtable

client = bigtable.Client(project='demo-project', admin=True)
table = client.instance('inst').table('training')
if sys.argv[1] == 'write':
    table.create(column_families={'data': bigtable.column_family.MaxVersionsGCRule(1)})
    for number in range(100):
        row = table.direct_row(b'row-%03d' % number)
        row.set_cell('data', b'label', b'%d' % (number * number))
        row.commit()
else:
    total, rows = 0, 0
    for row in table.read_rows(start_key=b'row-010', end_key=b'row-020'):
        rows += 1
        total += int(row.cells['data'][b'label'][0].value)
    print('read %d rows, sum %d' % (rows, total), flush=True)
'''


def sdk_root():
    """The Cloud SDK that has the emulator, or None."""
    gcloud = shutil.which('gcloud')
    roots = [Path(gcloud).resolve().parents[1]] if gcloud else []
    roots += [Path('/usr/lib/google-cloud-sdk'), Path('/usr/share/google-cloud-sdk')]
    return next((root for root in roots if (root / EMULATOR).exists()), None)


def processes_of(state):
    """Processes of the Bigtable emulator whose home is below this state directory."""
    found = []
    for entry in Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / 'environ').read_bytes().split(b'\0')
            command = (entry / 'cmdline').read_bytes()
        except OSError:
            continue
        if b'HOME=' + str(state / 'companions/bigtable').encode() in environment and command:
            found.append(int(entry.name))
    return found


class BigtableJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not sdk_root() and not shutil.which('cbtemulator'):
            raise unittest.SkipTest('the Bigtable emulator of the Cloud SDK is not installed')
        cls.python = support.virtualenv('bigtable', 'google-cloud-bigtable')
        directory = tempfile.TemporaryDirectory(prefix='caip-trainer-')
        cls.addClassCleanup(directory.cleanup)
        cls.trainer = Path(directory.name) / 'trainer.py'
        cls.trainer.write_text(TRAINER)

    def emulator(self, *companions):
        images = json.dumps({'gcr.io/demo/trainer:v1': [str(self.python), str(self.trainer)]})
        emulator = support.Emulator(config=f'images: {images}\ncompanions: {list(companions)}\n')
        self.addCleanup(emulator.close)
        return emulator.start()

    def run_job(self, emulator, job, *arguments):
        done = emulator.caip('jobs', 'submit', 'training', job, '--project', 'demo-project',
                             '--region', 'us-central1', '--master-image-uri',
                             'gcr.io/demo/trainer:v1', '--stream-logs', '--', *arguments,
                             check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + emulator.log())
        return done.stderr

    def test_reads_the_rows_that_another_job_wrote(self):
        emulator = self.emulator('bigtable')
        self.run_job(emulator, 'writer', 'write')
        log = self.run_job(emulator, 'reader', 'read')
        self.assertIn(f'read 10 rows, sum {sum(n * n for n in range(10, 20))}', log)
        self.assertEqual(len(processes_of(emulator.state)), 1)
        emulator.stop()
        self.assertEqual(processes_of(emulator.state), [])

    def test_leaves_no_emulator_behind_when_caip_is_killed(self):
        emulator = self.emulator('bigtable')
        self.run_job(emulator, 'writer', 'write')
        self.assertEqual(len(processes_of(emulator.state)), 1)
        emulator.kill()
        support.wait_for(lambda: not processes_of(emulator.state), 'the end of the emulator', 30)

    def test_restarts_one_that_has_died(self):
        emulator = self.emulator('bigtable')
        self.run_job(emulator, 'writer', 'write')
        for process in processes_of(emulator.state):
            os.kill(process, signal.SIGKILL)
        support.wait_for(lambda: not processes_of(emulator.state), 'the end of the emulator', 30)
        self.run_job(emulator, 'again', 'write')  # its table is lost, and can be created again

    def test_starts_nothing_before_a_job_needs_it(self):
        emulator = self.emulator('bigtable')
        self.assertEqual(processes_of(emulator.state), [])


class MissingCompanion(unittest.TestCase):
    def test_is_reported_in_the_log_of_a_job_that_runs_without_it(self):
        with tempfile.TemporaryDirectory() as nowhere:
            config = (f'companions: [spanner]\ncloud_sdk: {nowhere}\n'
                      'images: {"gcr.io/demo/env:v1": [/usr/bin/env]}\n')
            with support.Emulator(config=config, env={'PATH': '/usr/bin:/bin'}) as emulator:
                done = emulator.caip('jobs', 'submit', 'training', 'job', '--project', 'demo',
                                     '--region', 'us-central1', '--master-image-uri',
                                     'gcr.io/demo/env:v1', '--stream-logs')
                self.assertIn('The spanner emulator of the Cloud SDK is not on this host',
                              done.stderr)
                self.assertNotIn('SPANNER_EMULATOR_HOST', done.stderr)


if __name__ == '__main__':
    support.main()
