"""Trials that report through the real cloudml-hypertune and the real tensorboardX."""

import json
import tempfile
import unittest
from pathlib import Path

import support

HYPERTUNE = '''
import argparse, hypertune
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
known, _ = parser.parse_known_args()
reports = hypertune.HyperTune()
for step in range(1, 151):  # the library's file has the last hundred of them
    reports.report_hyperparameter_tuning_metric('accuracy', known.rate * step / 150, step)
reports.report_hyperparameter_tuning_metric('other', 99, 200)
'''

TENSORBOARDX = '''
import argparse, os
from tensorboardX import SummaryWriter
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
parser.add_argument('--job-dir')
known, _ = parser.parse_known_args()
train = SummaryWriter(os.path.join(known.job_dir, 'logs/train'))
evaluation = SummaryWriter(os.path.join(known.job_dir, 'logs/eval'))
for step in range(1, 21):
    train.add_scalar('loss', 1 / step, step)
    evaluation.add_scalar('accuracy', known.rate * step / 20, step)
    evaluation.add_histogram('weights', [1.0, 2.0, 3.0], step)
    evaluation.flush()
train.close()
evaluation.close()
'''


class Reports(support.EmulatorTest):
    """An emulator whose image runs the script in a virtual environment."""

    flags = ('--storage-view', 'path')
    requirement = None
    script = None

    @classmethod
    def setUpClass(cls):
        if cls.requirement is None:
            raise unittest.SkipTest('a base for others')
        python = support.virtualenv('reports-' + cls.requirement, cls.requirement)
        directory = tempfile.TemporaryDirectory(prefix='caip-reports-')
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        (cls.directory / 'task.py').write_text(cls.script)
        cls.config = (f'companions: []\nimages:\n  gcr.io/demo/task:v1: ["{python}", '
                      f'"{cls.directory / "task.py"}"]\n')
        super().setUpClass()
        cls.emulator.bucket('bkt')
        config = cls.directory / 'config.json'
        config.write_text(json.dumps({'trainingInput': {
            'scaleTier': 'CUSTOM', 'masterType': 'n1-standard-4',
            'masterConfig': {'imageUri': 'gcr.io/demo/task:v1'},
            'hyperparameters': {
                'goal': 'MAXIMIZE', 'hyperparameterMetricTag': 'accuracy', 'maxTrials': 4,
                'maxParallelTrials': 2, 'algorithm': 'GRID_SEARCH',
                'params': [{'parameterName': 'rate', 'type': 'DISCRETE',
                            'discreteValues': [0.1, 0.25, 0.5, 0.75]}]}}}))
        cls.emulator.caip('jobs', 'submit', 'training', 'study', '--project', 'demo-project',
                          '--region', 'us-central1', '--job-dir', 'gs://bkt/study', '--config',
                          config, '--stream-logs')
        cls.job = json.loads(cls.emulator.caip('jobs', 'describe', 'study', '--project',
                                               'demo-project', '--format', 'json').stdout)

    def measurements(self):
        answer = support.run(['curl', '-sS', self.emulator.url +
                              '/emulator/v1/projects/demo-project/jobs/study/trials'])
        return json.loads(answer.stdout)['measurements']

    def finals(self):
        return [(float(trial['hyperparameters']['rate']), trial['finalMetric'])
                for trial in self.job['trainingOutput']['trials']]


class Hypertune(Reports):
    requirement = 'cloudml-hypertune'
    script = HYPERTUNE

    def test_the_last_report_counts(self):
        self.assertEqual([rate for rate, _ in self.finals()], [0.75, 0.5, 0.25, 0.1])
        for rate, metric in self.finals():
            self.assertEqual(metric['trainingStep'], '150')
            self.assertAlmostEqual(metric['objectiveValue'], rate)

    def test_reports_come_once_and_in_order(self):
        for reports in self.measurements().values():
            steps = [report['step'] for report in reports]
            self.assertEqual(steps, sorted(set(steps)))
            self.assertGreaterEqual(len(steps), 99)
            self.assertEqual(steps[-1], 150)


class TensorBoardX(Reports):
    requirement = 'tensorboardX'
    script = TENSORBOARDX

    def test_the_value_at_the_latest_step_counts(self):
        self.assertEqual([rate for rate, _ in self.finals()], [0.75, 0.5, 0.25, 0.1])
        for rate, metric in self.finals():
            self.assertEqual(metric['trainingStep'], '20')
            self.assertAlmostEqual(metric['objectiveValue'], rate, places=6)

    def test_every_step_of_the_tag_is_there_once(self):
        for reports in self.measurements().values():
            self.assertEqual([report['step'] for report in reports], list(range(1, 21)))


if __name__ == '__main__':
    support.main()
