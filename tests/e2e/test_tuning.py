#!/usr/bin/env python3
"""Tuning jobs end to end: trials that misbehave, and an emulator that is killed during a study."""

import json
import shutil
import sys
import tempfile
import textwrap
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

PROJECT = 'demo-project'

HEAD = '''
import argparse, json, os, pathlib, signal, subprocess, sys, time
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
parser.add_argument('--job-dir', type=pathlib.Path)
given, rest = parser.parse_known_args()
trial = os.environ['CLOUD_ML_TRIAL_ID']
FILE = pathlib.Path(os.environ['CLOUD_ML_HP_METRIC_FILE'])

def line(step, value, tag='accuracy'):
    return json.dumps({tag: str(value), 'global_step': str(step), 'timestamp': float(step),
                       'trial': trial}) + '\\n'

def report(*steps):
    FILE.write_text(''.join(line(step, given.rate * step) for step in steps))
'''


class Study(unittest.TestCase):
    """An emulator, and a trainer that is written for each test."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='caip-tuning-')
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        config = (f'companions: []\nimages: {{"gcr.io/demo/task:v1": ["{sys.executable}", '
                  f'"{self.folder / "task.py"}"]}}\n')
        self.emulator = support.Emulator('--storage-view', 'path', config=config)
        self.addCleanup(self.emulator.close)
        self.emulator.start()
        self.bucket = self.emulator.bucket('bkt')

    def trainer(self, source):
        (self.folder / 'task.py').write_text(HEAD + textwrap.dedent(source))

    def ask(self, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.emulator.url + target, data,
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def submit(self, trials, parallel, args=(), **more):
        """Rates of 1, 2, 3, ..., in that order."""
        rate = {'parameterName': 'rate', 'type': 'INTEGER', 'minValue': 1, 'maxValue': trials}
        self.ask(f'/v1/projects/{PROJECT}/jobs', {'jobId': 'study', 'trainingInput': {
            'region': 'us-central1', 'masterConfig': {'imageUri': 'gcr.io/demo/task:v1'},
            'jobDir': 'gs://bkt/study', 'args': list(args), **more, 'hyperparameters': {
                'goal': 'MAXIMIZE', 'hyperparameterMetricTag': 'accuracy', 'maxTrials': trials,
                'maxParallelTrials': parallel, 'algorithm': 'GRID_SEARCH', 'params': [rate]}}})

    def job(self):
        return self.ask(f'/v1/projects/{PROJECT}/jobs/study')

    def finished(self):
        trials = self.job().get('trainingOutput', {}).get('trials', [])
        return {trial['trialId']: trial for trial in trials if trial['state'] == 'SUCCEEDED'}

    def end(self):
        """The ended job, with its trials by id."""
        def ended():
            job = self.job()
            return job if job['state'] in ('SUCCEEDED', 'FAILED', 'CANCELLED') else None
        job = support.wait_for(ended, 'the end of the job', 300)
        return job, {trial['trialId']: trial for trial in job['trainingOutput']['trials']}

    def measurements(self):
        answer = self.ask(f'/emulator/v1/projects/{PROJECT}/jobs/study/trials')
        return {trial: [report['step'] for report in reports]
                for trial, reports in answer['measurements'].items()}


class Killed(Study):
    def test_loses_no_finished_trial_and_repeats_no_report(self):
        """Fifty trials that resume from their checkpoints; the emulator is killed six times."""
        self.trainer('''
            given.job_dir.mkdir(parents=True, exist_ok=True)
            with open(given.job_dir / 'starts', 'a') as starts:
                starts.write('begun\\n')
            checkpoint = given.job_dir / 'step'
            done = int(checkpoint.read_text()) if checkpoint.exists() else 0
            for step in range(max(done, 1), 6):  # it reports its last step again, with the same value
                time.sleep(0.02)
                report(*range(max(1, step - 2), step + 1))
                part = given.job_dir / 'part'
                part.write_text(str(step))
                part.rename(checkpoint)
        ''')
        self.submit(50, 4)
        seen, starts = {}, {}
        for count in (1, 6, 14, 23, 33, 44):
            support.wait_for(lambda: len(self.finished()) >= count, f'{count} trials', 120)
            for trial, shown in self.finished().items():
                self.assertEqual(seen.setdefault(trial, shown), shown)
                starts.setdefault(trial, self.starts(trial))
            self.emulator.restart(kill=True)
            now = self.finished()
            for trial, shown in seen.items():
                self.assertEqual(now.get(trial), shown, 'a finished trial was lost')
        job, trials = self.end()
        self.assertEqual(job['state'], 'SUCCEEDED')
        self.assertEqual(job['trainingOutput']['completedTrialCount'], '50')
        self.assertEqual(sorted(trials, key=int), [str(number) for number in range(1, 51)])
        self.assertEqual([trial['trialId'] for trial in job['trainingOutput']['trials']],
                         [str(number) for number in range(50, 0, -1)])
        for trial, shown in trials.items():
            self.assertEqual(shown['hyperparameters'], {'rate': trial})
            self.assertEqual(shown['finalMetric'],
                             {'trainingStep': '5', 'objectiveValue': 5 * int(trial)})
        for trial, shown in seen.items():
            self.assertEqual(trials[trial], shown)
            self.assertEqual(self.starts(trial), starts[trial], f'trial {trial} began again')
        for trial, steps in self.measurements().items():
            self.assertEqual(steps, sorted(set(steps)), f'trial {trial} has a report twice')
            self.assertEqual(steps[-1], 5)

    def starts(self, trial):
        return len((self.bucket / 'study' / trial / 'starts').read_text().splitlines())


class Misbehaving(Study):
    def test_a_parameter_named_like_a_flag_of_the_user_follows_it(self):
        self.trainer('report(1)\nprint(sys.argv[1:])')
        self.submit(2, 1, args=['--rate', '77', '--rate=99', '--other', '1'])
        _, trials = self.end()
        for trial, shown in trials.items():
            self.assertEqual(shown['finalMetric']['objectiveValue'], int(trial))

    def test_a_trial_that_hangs_blocks_no_other_and_ends_with_its_job(self):
        self.trainer('''
            report(1)
            if trial == '1':
                signal.pause()
        ''')
        self.submit(5, 2)
        support.wait_for(lambda: len(self.finished()) == 4, 'four trials beside it', 120)
        self.assertEqual(self.job()['state'], 'RUNNING')
        self.ask(f'/v1/projects/{PROJECT}/jobs/study:cancel', {})
        job, trials = self.end()
        self.assertEqual(job['state'], 'CANCELLED')
        states = {trial: shown['state'] for trial, shown in trials.items()}
        self.assertEqual(states, {'1': 'CANCELLED', '2': 'SUCCEEDED', '3': 'SUCCEEDED',
                                  '4': 'SUCCEEDED', '5': 'SUCCEEDED'})

    def test_a_report_after_the_end_of_the_trial_is_ignored(self):
        self.trainer('''
            report(1)
            if trial == '1':  # leaves a process that waits for the next trial
                subprocess.Popen([sys.executable, '-c', f"""
            import pathlib, time
            late = pathlib.Path({str(given.job_dir.parent / 'late')!r})
            while not late.exists():
                time.sleep(0.01)
            pathlib.Path({str(FILE)!r}).write_text({line(2, 99)!r})
            """], start_new_session=True)
            else:
                (given.job_dir.parent / 'late').touch()
        '''.replace('\n            ', '\n'))
        self.submit(2, 1)
        _, trials = self.end()
        self.assertEqual(trials['1']['finalMetric'],
                         {'trainingStep': '1', 'objectiveValue': 1})
        self.assertEqual(self.measurements()['1'], [1])

    def test_a_report_in_another_trials_job_dir_counts_for_that_trial(self):
        self.trainer('''
            from event_file import record
            neighbour = given.job_dir.parent / '2'
            neighbour.mkdir(parents=True, exist_ok=True)
            if trial == '1':
                (neighbour / 'events.out.tfevents.1').write_bytes(record(7, 'accuracy', 0.5))
            else:
                report_of_another = neighbour / 'events.out.tfevents.1'
                assert report_of_another.exists()
        ''')
        shutil.copy(Path(__file__).parent / 'event_file.py', self.folder)
        self.submit(2, 1)
        _, trials = self.end()
        self.assertNotIn('finalMetric', trials['1'])
        self.assertEqual(trials['2']['finalMetric'], {'trainingStep': '7', 'objectiveValue': 0.5})

    def test_invalid_reports_leave_the_trial_without_a_metric(self):
        """A word, another tag, a directory or a FIFO instead of the file, and no report."""
        self.trainer('''
            if trial == '1':
                FILE.write_text(line(1, 'excellent'))
            elif trial == '2':
                FILE.write_text(line(1, 0.5, 'loss'))
            elif trial == '3':
                FILE.mkdir()
            elif trial == '4':
                os.mkfifo(FILE)
            elif trial == '6':
                report(1)
        ''')
        self.submit(6, 3)
        job, trials = self.end()
        self.assertEqual(job['state'], 'SUCCEEDED')
        self.assertEqual(job['trainingOutput']['completedTrialCount'], '6')
        self.assertEqual([trial for trial in trials if 'finalMetric' in trials[trial]], ['6'])
        self.assertEqual(next(iter(trials)), '6')


class DocumentedConfigs(unittest.TestCase):
    """The example configurations of the service's documentation, unchanged."""

    def test_parse_and_validate(self):
        folder = Path(__file__).parent / 'documented_configs'
        examples = [*folder.glob('*.yaml'), ROOT / 'scenarios/trainers/digits_tuning/config.yaml']
        self.assertGreater(len(examples), 2)
        with support.Emulator() as emulator, tempfile.TemporaryDirectory() as directory:
            emulator.bucket('bkt')
            support.write_package(directory, '')
            for example in examples:
                with self.subTest(example.name):
                    words = ('jobs', 'submit', 'training', 'j', '--project', PROJECT, '--region',
                             'us-central1', '--runtime-version', '2.11', '--python-version', '3.7',
                             '--package-path', 'trainer', '--module-name', 'trainer.task',
                             '--staging-bucket', 'gs://bkt', '--config', example)
                    said = emulator.caip(*words, '--validate-only', cwd=directory)
                    self.assertIn('Job [j] is valid', said.stdout + said.stderr)

    def test_are_sent_with_all_their_fields(self):
        example = Path(__file__).parent / 'documented_configs/using_hyperparameter_tuning.yaml'
        with support.Emulator() as emulator, tempfile.TemporaryDirectory() as directory:
            sent = emulator.caip('jobs', 'submit', 'training', 'j', '--project', PROJECT,
                                 '--region', 'us-central1', '--runtime-version', '2.11',
                                 '--python-version', '3.7', '--packages', 'gs://bkt/t-1.tar.gz',
                                 '--module-name', 'trainer.task', '--config', example,
                                 '--dry-run', '--format', 'json', cwd=directory)
        tuning = json.loads(sent.stdout)['trainingInput']['hyperparameters']
        self.assertEqual(tuning['hyperparameterMetricTag'], 'metric1')
        self.assertEqual((tuning['maxTrials'], tuning['maxParallelTrials']), (30, 1))
        self.assertIs(tuning['enableTrialEarlyStopping'], True)
        self.assertEqual([param['type'] for param in tuning['params']],
                         ['INTEGER', 'DISCRETE', 'CATEGORICAL'])
        self.assertEqual(tuning['params'][1]['discreteValues'], [1, 2, 3, 4])
        self.assertEqual(tuning['params'][2]['categoricalValues'][-1], 'LayerNormBasicLSTMCell')


if __name__ == '__main__':
    support.main()
