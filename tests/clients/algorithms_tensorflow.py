"""Linear learner, wide and deep, TabNet and image classification: they learn, and their models take the input."""

import base64
import shutil

import algorithms
import frameworks
import support


class Learners(algorithms.ProgramTest):
    @classmethod
    def setUpClass(cls):
        frameworks.need_space('algorithms', 3)
        cls.python = algorithms.tensorflow_python()

    def train(self, image, *words, data=None):
        path = self.write('data.csv', data or algorithms.table(2000))
        return self.run_program(self.python, image, '--preprocess', f'--training_data_path={path}', *words)

    def assert_learned(self, image, *words):
        outcome = self.train(image, '--model_type=classification', '--max_steps=300', '--batch_size=100', *words)
        self.assertEqual(outcome.code, 0, outcome.err)
        line = [line for line in outcome.out.splitlines() if line.startswith('Test part')][0]
        self.assertGreater(float(line.split('accuracy ')[1].split(',')[0]), 0.85, line)
        found = self.predict(self.python, outcome.job_dir, {'csv_row': '1,2.5,3,red,1.5', 'key': 'k'},
                             '1,-2.5,0,blue,1.5', '1,,,unseen,')
        self.assertEqual([one['classes'] for one in found[:2]], ['yes', 'no'])
        self.assertEqual(found[0]['key'], 'k')
        return outcome

    def test_linear_learner(self):
        outcome = self.assert_learned('linear_learner_cpu', '--learning_rate=0.2')
        self.assertRegex(outcome.text('model/deployment_config.yaml'),
                         r"framework: TENSORFLOW\nlabels:\n  accuracy: '\d+\.\d+'\n  global_step: '300'\n")

    def test_wide_and_deep(self):
        self.assert_learned('wide_deep_learner_cpu', '--learning_rate=0.1', '--dnn_learning_rate=0.05', '--use_wide',
                            '--embed_categories', '--dnn_optimizer_type=adam', '--dnn_dropout=0.1')

    def test_tabnet(self):
        self.assert_learned('tab_net', '--learning_rate=0.02', '--feature_dim=16')

    def test_regression(self):
        lines = ''.join(f'{3 * (i % 40) + 7 * (i % 3)},{i % 40}.5,{"abc"[i % 3]}\n' for i in range(1000))
        outcome = self.train('linear_learner_gpu', '--model_type=regression', '--learning_rate=1', '--max_steps=1000', data=lines)
        self.assertEqual(outcome.code, 0, outcome.err)
        found = self.predict(self.python, outcome.job_dir, '20.5,b')
        self.assertAlmostEqual(found[0]['predictions'], 67, delta=3)
        self.assertIn('loss:', outcome.text('model/deployment_config.yaml'))

    def test_a_rate_that_diverges_is_reported(self):
        outcome = self.train('linear_learner_cpu', '--model_type=regression', '--optimizer_type=sgd', '--learning_rate=1e9',
                             data=''.join(f'{i},{i % 40}.5\n' for i in range(500)))
        self.assertEqual(outcome.code, 1)
        self.assertIn('Lower --learning_rate.', outcome.err)


IMAGES = '''
import sys
import numpy as np, tensorflow as tf
chance = np.random.RandomState(1)
def record(colour, base):
    image = chance.randint(0, 80, (40, 40, 3)).astype(np.uint8)
    image[:, :, colour] += 120
    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[colour + base]))
    encoded = tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.encode_png(image).numpy()]))
    return tf.train.Example(features=tf.train.Features(feature={
        'image/encoded': encoded, 'image/class/label': label})).SerializeToString()
for name, count in (('train-0', 120), ('train-1', 120), ('valid', 60)):
    with tf.io.TFRecordWriter(name + '.tfrecord') as writer:
        for i in range(count):
            writer.write(record(i % 3, int(sys.argv[1])))
for name, colour in (('red', [200, 10, 10]), ('blue', [10, 10, 200])):
    tf.io.write_file(name + '.png', tf.io.encode_png(tf.constant([[colour] * 40] * 30, tf.uint8)))
'''


class Images(algorithms.ProgramTest):
    """Pictures of three colours, with both numberings of labels."""

    @classmethod
    def setUpClass(cls):
        frameworks.need_space('algorithms', 3)
        cls.python = algorithms.tensorflow_python()

    def run_python(self, script, *words):
        return support.run([self.python, '-c', script, *words], env=support.clean_environment(), cwd=self.directory).stdout

    def image(self, name, **more):
        """An instance, as clients of the service write it."""
        return {'image_bytes': {'b64': base64.b64encode((self.directory / f'{name}.png').read_bytes()).decode()}, **more}

    def test_labels_from_0_and_from_1(self):
        for base in (0, 1):
            with self.subTest(base):
                self.run_python(IMAGES, base)
                outcome = self.run_program(
                    self.python, 'image_classification', f'--training_data_path={self.directory}/train-*.tfrecord',
                    f'--validation_data_path={self.directory}/valid.tfrecord', '--num_classes=3', '--max_steps=60',
                    '--train_batch_size=16', '--optimizer_arguments=momentum=0.9', '--label_smoothing=0.1',
                    '--weight_decay=0.0001')
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertRegex(outcome.text('model/deployment_config.yaml'), r"accuracy: '(100|9\d)\.")
                found = self.predict(self.python, outcome.job_dir, self.image('blue', key='first'), self.image('red'))
                self.assertEqual([one['classes'] for one in found], [2 + base, base])
                self.assertEqual([one.get('key') for one in found], ['first', None])
                self.assertGreater(found[0]['scores'][2], 0.5)
                shutil.rmtree(outcome.job_dir)

    def test_other_files_are_refused(self):
        path = self.write('x.tfrecord', 'not a record')
        outcome = self.run_program(self.python, 'image_classification', f'--training_data_path={path}', '--num_classes=3',
                                   f'--validation_data_path={path}', '--max_steps=1')
        self.assertEqual(outcome.code, 1)
        self.assertIn('x.tfrecord is not a TFRecord file of images with labels', outcome.err)


class Census(algorithms.CensusTest):
    @classmethod
    def setUpClass(cls):
        frameworks.need_space('algorithms', 3)
        super().setUpClass()

    def test_linear_learner(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'linear_learner_cpu', 0.844, 0.900,
                            '--model_type=classification', '--learning_rate=0.1', '--max_steps=2000')

    def test_wide_and_deep(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'wide_deep_learner_cpu', 0.850, 0.905,
                            '--model_type=classification', '--learning_rate=0.05', '--dnn_learning_rate=0.003',
                            '--dnn_optimizer_type=adam', '--use_wide', '--embed_categories', '--max_steps=2000')

    def test_tabnet_with_its_defaults(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'tab_net', 0.845, 0.895, '--model_type=classification',
                            '--learning_rate=0.02', '--max_steps=4000')

    def test_tabnet_with_small_batches(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'tab_net', 0.845, 0.895, '--model_type=classification',
                            '--learning_rate=0.02', '--feature_dim=32', '--num_decision_steps=3', '--batch_size=512',
                            '--batch_momentum=0.9', '--decay_every=500', '--max_steps=2000')


if __name__ == '__main__':
    support.main()
