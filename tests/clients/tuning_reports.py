"""Trials that report through the real cloudml-hypertune, tensorboardX and TensorFlow."""

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
for step in range(1, 151):  # the library's file keeps the last hundred
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

# TensorFlow 2 writes a scalar as a tensor; its version 1 API writes a simple value.
TENSORFLOW = '''
import argparse, os
os.environ['CUDA_VISIBLE_DEVICES'] = ''
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
parser.add_argument('--job-dir')
known, _ = parser.parse_known_args()
with tf.summary.create_file_writer(os.path.join(known.job_dir, 'deep/er')).as_default():
    for step in range(1, 21):
        tf.summary.scalar('loss', 1 / step, step)
        tf.summary.scalar('accuracy', known.rate * step / 20, step)
        tf.summary.histogram('weights', [1.0, 2.0, 3.0], step)
        tf.summary.text('accuracy/note', 'no number', step)
with tf.Graph().as_default():
    with tf.compat.v1.summary.FileWriter(os.path.join(known.job_dir, 'v1')) as old:
        value = tf.compat.v1.Summary.Value(tag='accuracy', simple_value=known.rate * 21 / 20)
        old.add_summary(tf.compat.v1.Summary(value=[value]), 21)
'''


class Reports(support.EmulatorTest):
    """An emulator whose image runs the script in a virtual environment."""

    flags = ('--storage-view', 'path')
    environment = None
    requirements = ()
    script = None

    @classmethod
    def setUpClass(cls):
        if cls.script is None:
            raise unittest.SkipTest('a base for others')
        python = support.virtualenv(cls.environment, *cls.requirements)
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
    environment, requirements = 'reports-cloudml-hypertune', ('cloudml-hypertune',)
    script = HYPERTUNE

    def test_the_last_report_counts(self):
        self.assertEqual([rate for rate, _ in self.finals()], [0.75, 0.5, 0.25, 0.1])
        for rate, metric in self.finals():
            self.assertEqual(metric['trainingStep'], '150')
            self.assertAlmostEqual(metric['objectiveValue'], rate)

    def test_each_report_is_read_once_and_in_order(self):
        for reports in self.measurements().values():
            steps = [report['step'] for report in reports]
            self.assertEqual(steps, sorted(set(steps)))
            self.assertGreaterEqual(len(steps), 99)
            self.assertEqual(steps[-1], 150)


class TensorBoardX(Reports):
    environment, requirements = 'reports-tensorboardX', ('tensorboardX',)
    script = TENSORBOARDX

    def test_the_value_at_the_latest_step_counts(self):
        self.assertEqual([rate for rate, _ in self.finals()], [0.75, 0.5, 0.25, 0.1])
        for rate, metric in self.finals():
            self.assertEqual(metric['trainingStep'], '20')
            self.assertAlmostEqual(metric['objectiveValue'], rate, places=6)

    def test_every_step_of_the_tag_is_read_once(self):
        for reports in self.measurements().values():
            self.assertEqual([report['step'] for report in reports], list(range(1, 21)))


class TensorFlow(Reports):
    # The environment of tensorflow_job.
    environment, requirements = 'tensorflow', ('tensorflow-cpu>=2.16', 'tensorboard')
    script = TENSORFLOW

    def test_the_value_at_the_latest_step_counts(self):
        self.assertEqual([rate for rate, _ in self.finals()], [0.75, 0.5, 0.25, 0.1])
        for rate, metric in self.finals():
            self.assertEqual(metric['trainingStep'], '21')
            self.assertAlmostEqual(metric['objectiveValue'], rate * 21 / 20, places=6)

    def test_scalars_by_tensor_and_by_simple_value_are_read_once(self):
        self.assertEqual(len(self.measurements()), 4)
        for trial, reports in self.measurements().items():
            rate = self.rate(trial)
            self.assertEqual([report['step'] for report in reports], list(range(1, 22)))
            for report in reports:
                self.assertAlmostEqual(report['value'], rate * report['step'] / 20, places=6)

    def rate(self, trial):
        for shown in self.job['trainingOutput']['trials']:
            if shown['trialId'] == trial:
                return float(shown['hyperparameters']['rate'])
        raise AssertionError(f'there is no trial {trial}')


if __name__ == '__main__':
    support.main()
