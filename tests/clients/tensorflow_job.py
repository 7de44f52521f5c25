"""TensorFlow's built-in gs://, which no variable can redirect, in jobs with unchanged code."""

import json
import unittest
from pathlib import Path

import support

PACKAGE = Path(__file__).parent / 'keras_job' / 'trainer'

# Writes the data: y = 3a - 2b + 1, in three files.
WRITER = '''
import random, sys
import tensorflow as tf
random.seed(1)
def feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))
for part in range(3):
    with tf.io.TFRecordWriter(f'{sys.argv[1]}/part-{part}.tfrecord') as out:
        for _ in range(400):
            a, b = random.random(), random.random()
            out.write(tf.train.Example(features=tf.train.Features(feature={
                'x': feature([a, b]), 'y': feature([3 * a - 2 * b + 1])})).SerializeToString())
'''

# Inspects the output: the model's predictions, and the scalars that were written.
READER = '''
import glob, json, sys
import tensorflow as tf
model = tf.saved_model.load(sys.argv[1] + '/model')
answer = model.signatures['serving_default'](tf.constant([[0.5, 0.5]]))
tags = set()
for name in glob.glob(sys.argv[1] + '/logs/train/events*'):
    for record in tf.data.TFRecordDataset(name):
        event = tf.compat.v1.Event.FromString(record.numpy())
        tags.update(value.tag for value in event.summary.value)
print(json.dumps([float(next(iter(answer.values())).numpy()[0][0]), sorted(tags)]))
'''


class TensorFlowTest(unittest.TestCase):
    """An emulator whose runtime version 2.11 has TensorFlow, and a bucket with data."""

    name, requirements = 'tensorflow', ('tensorflow-cpu>=2.16', 'tensorboard')
    settings = ''

    @classmethod
    def setUpClass(cls):
        cls.python = support.virtualenv(cls.name, *cls.requirements, timeout=1800)
        config = f'runtimes: {{"2.11": {cls.python}}}\ngrace: 5s\n{cls.settings}'
        cls.emulator = support.Emulator(config=config)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()
        cls.bucket = cls.emulator.bucket('bkt')
        (cls.bucket / 'data').mkdir()
        cls.tensorflow(WRITER, cls.bucket / 'data')

    @classmethod
    def tensorflow(cls, source, *words):
        """Runs a program that needs TensorFlow, without any gs://."""
        env = {**support.clean_environment(), 'TF_CPP_MIN_LOG_LEVEL': '2'}
        return support.run([cls.python, '-c', source, *words], env=env).stdout

    def submit(self, job, *flags, epochs=2, out=None):
        """Runs a job to its end, and returns the job and the log lines of its replicas."""
        self.emulator.caip(
            'jobs', 'submit', 'training', job, '--package-path', PACKAGE, '--module-name',
            'trainer.task', '--staging-bucket', 'gs://bkt', '--job-dir', f'gs://bkt/{out or job}',
            '--region', 'us-central1', '--runtime-version', '2.11', '--python-version', '3.7',
            '--project', 'demo-project', *flags, '--', '--data', 'gs://bkt/data', '--epochs', epochs)
        log = self.emulator.caip('jobs', 'stream-logs', job, '--project', 'demo-project',
                                 check=False, timeout=600)
        shown = self.emulator.caip('jobs', 'describe', job, '--project', 'demo-project',
                                   '--format', 'json')
        return json.loads(shown.stdout), log.stdout + log.stderr

    def requests(self, job):
        """Lines of the access log that name the job."""
        lines = (self.emulator.state / 'access.log').read_text().splitlines()
        return [line for line in lines if f' {job}/' in line]

    def assert_model_is_right(self, out):
        answer, tags = json.loads(self.tensorflow(READER, out).splitlines()[-1])
        self.assertAlmostEqual(answer, 1.5, delta=0.4)
        self.assertIn('epoch_loss', tags)


class KerasJob(TensorFlowTest):
    """TFRecords in; checkpoints, a SavedModel and TensorBoard summaries out."""

    def test_reads_and_writes_cloud_storage(self):
        job, log = self.submit('plain')
        self.assertEqual(job['state'], 'SUCCEEDED', log)
        out = self.bucket / 'plain'
        self.assertTrue((out / 'checkpoints/checkpoint').exists(), log)
        self.assertTrue((out / 'checkpoints/ckpt-2.index').exists(), log)
        self.assert_model_is_right(out)
        self.assertRegex(log, r"reads \['gs://bkt/data/part-0\.tfrecord', .*part-2")

    def test_the_access_log_names_the_job(self):
        job, log = self.submit('known', '--service-account', 'trainer@demo.iam.gserviceaccount.com',
                               epochs=1)
        self.assertEqual(job['state'], 'SUCCEEDED', log)
        lines = self.requests('known')
        self.assertTrue(any('/bkt/data%2Fpart-0.tfrecord ' in line for line in lines), lines[:20])
        for line in lines:
            self.assertEqual(line.split()[1:3], ['trainer@demo.iam.gserviceaccount.com',
                                                 'known/master-replica-0'])

    def test_a_second_run_resumes_from_the_checkpoint_of_the_first(self):
        self.submit('first', epochs=1, out='shared')
        job, log = self.submit('second', epochs=3, out='shared')
        self.assertEqual(job['state'], 'SUCCEEDED', log)
        self.assertRegex(log, r'begins with epoch 1')
        self.assertTrue((self.bucket / 'shared/checkpoints/ckpt-3.index').exists(), log)


class InANetworkOfItsOwn(TensorFlowTest):
    """gs:// through the hosts file, with a token of the metadata server at its real address."""

    settings = 'isolation: machine\n'

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        super().setUpClass()

    def test_reads_and_writes_cloud_storage(self):
        job, log = self.submit('plain', '--service-account',
                               'trainer@demo.iam.gserviceaccount.com')
        self.assertEqual(job['state'], 'SUCCEEDED', log)
        self.assertTrue((self.bucket / 'plain/checkpoints/ckpt-2.index').exists(), log)
        self.assert_model_is_right(self.bucket / 'plain')
        lines = self.requests('plain')
        self.assertTrue(any(' GET /computeMetadata/v1/instance/service-accounts/default/token '
                            in line for line in lines), lines[:20])
        self.assertTrue(any('/bkt/data%2Fpart-0.tfrecord ' in line for line in lines), lines[:20])
        self.assertEqual({tuple(line.split()[1:3]) for line in lines},
                         {('trainer@demo.iam.gserviceaccount.com', 'plain/master-replica-0')})


class Replicas(TensorFlowTest):
    """More than one. TensorFlow's servers listen on all addresses, so each needs its own port."""

    # The last releases in which Keras trains on several workers.
    name, requirements = 'tensorflow-keras2', ('tensorflow-cpu>=2.12,<2.16',)
    settings = 'addressing: ports\n'

    def test_reach_each_other_without_the_proxy(self):
        job, log = self.submit('pair', '--scale-tier', 'custom', '--master-machine-type',
                               'n1-standard-4', '--worker-machine-type', 'n1-standard-4',
                               '--worker-count', '1')
        self.assertEqual(job['state'], 'SUCCEEDED', log)
        self.assert_model_is_right(self.bucket / 'pair')
        self.assertTrue((self.bucket / 'pair/scratch/checkpoints/checkpoint').exists())
        self.assertTrue(any(' pair/worker-replica-0 ' in line for line in self.requests('pair')))


class ReplicasOnMachines(Replicas):
    """Servers that listen on all addresses, at the names and the port of the service."""

    settings = 'isolation: machine\n'

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        super().setUpClass()


if __name__ == '__main__':
    support.main()
