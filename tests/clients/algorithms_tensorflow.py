"""Linear learner, wide and deep, and TabNet: they learn, and their models take the rows of the input."""

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


@frameworks.large
class Census(algorithms.ProgramTest):
    """The table of docs/built-in-algorithms.md."""

    @classmethod
    def setUpClass(cls):
        frameworks.need_space('algorithms', 3)
        cls.data = algorithms.census()

    def assert_reaches(self, python, image, accuracy, auc, *words):
        outcome = self.run_program(python, image, '--preprocess', f'--training_data_path={self.data}', *words)
        self.assertEqual(outcome.code, 0, outcome.err)
        line = [line for line in outcome.out.splitlines() if line.startswith('Test part')][0]
        values = dict(pair.split(' ') for pair in line.split(': ')[1].rstrip('.').split(', '))
        self.assertGreaterEqual(float(values['accuracy']), accuracy, line)
        self.assertGreaterEqual(float(values['auc']), auc, line)

    def test_xgboost(self):
        self.assert_reaches(algorithms.xgboost_python(), 'boosted_trees', 0.866, 0.922, '--objective=binary:logistic',
                            '--num_boost_round=50')

    def test_linear_learner(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'linear_learner_cpu', 0.844, 0.900,
                            '--model_type=classification', '--learning_rate=0.1', '--max_steps=2000')

    def test_wide_and_deep(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'wide_deep_learner_cpu', 0.850, 0.905,
                            '--model_type=classification', '--learning_rate=0.05', '--dnn_learning_rate=0.003',
                            '--dnn_optimizer_type=adam', '--use_wide', '--embed_categories', '--max_steps=2000')

    def test_tabnet(self):
        self.assert_reaches(algorithms.tensorflow_python(), 'tab_net', 0.845, 0.895, '--model_type=classification',
                            '--learning_rate=0.02', '--feature_dim=32', '--num_decision_steps=3', '--batch_size=512',
                            '--batch_momentum=0.9', '--decay_every=500', '--max_steps=2000')


if __name__ == '__main__':
    support.main()
