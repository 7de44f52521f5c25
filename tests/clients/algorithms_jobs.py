"""Jobs of the built-in algorithms, as the documentation submits them: with caip, with the real gcloud and with the API."""

import json
import re
import urllib.request

import algorithms
import support

WORDS = ['--preprocess', '--training_data_path=gs://bkt/data.csv', '--objective=binary:logistic', '--num_boost_round=20']
TUNING = '''
trainingInput:
  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 3
    maxParallelTrials: 5
    enableTrialEarlyStopping: true
    params:
    - {parameterName: max_depth, type: INTEGER, minValue: 1, maxValue: 6, scaleType: UNIT_LINEAR_SCALE}
    - {parameterName: alpha, type: DOUBLE, maxValue: 1}
'''

TABLE = ['--training_data_path=gs://bkt/nothing.csv']
LINEAR = [*TABLE, '--preprocess', '--model_type=classification', '--learning_rate=0.1', '--max_steps=1000', '--batch_size=250',
          '--l1_regularization_strength=0.1', '--l2_regularization_strength=0.1', '--l2_shrinkage_regularization_strength=0.1']
PICTURES = ['--training_data_path=gs://bkt/nothing-*', '--validation_data_path=gs://bkt/nothing-*', '--num_classes=5',
          '--max_steps=100']
# The words of each image as documentation and published jobs have them, without the data, and what the job says.
DOCUMENTED = {
    'linear_learner_cpu': (LINEAR, 'tensorflow'),
    'linear_learner_gpu': (LINEAR, 'tensorflow'),
    'wide_deep_learner_cpu': ([*LINEAR, '--dnn_learning_rate=0.01', '--hidden_units=30, 30,30', '--use_wide', '--dnn_dropout=0.1',
                               '--embed_categories', '--dnn_optimizer_type=ftrl', '--optimizer_type=ftrl'], 'tensorflow'),
    'boosted_trees': ([*TABLE, '--preprocess', '--objective', 'multi:softmax', '--num_class=3', '--num_boost_round=10',
                       '--max_depth=6', '--eta=0.3', '--booster=gbtree', '--tree_method=auto', '--refresh_leaf=0',
                       '--updater=grow_colmaker,prune', '--validation_split=0.2', '--test_split=0.2',
                       '--csv_weight=0'], 'gs://bkt/nothing.csv does not exist'),
    'tab_net': ([*TABLE, '--preprocess', '--model_type=classification', '--learning_rate=0.02', '--max_steps=500',
                 '--batch_size=4096', '--feature_dim=32', '--num_decision_steps=3', '--relaxation_factor=1.5'], 'tensorflow'),
    'image_classification': ([*PICTURES, '--train_batch_size=32', '--num_eval_images=10', '--model_type=efficientnet-b0',
                              '--optimizer_type=momentum', '--optimizer_arguments=momentum=0.9'], 'tensorflow'),
    'image_object_detection': (PICTURES, 'Object detection needs pretrained weights'),
    'bert': (['--mode=train_and_eval', '--train_dataset_path=gs://bkt/nothing'], 'BERT needs pretrained weights'),
}
PUBLISHED_STUDY = '''
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 2
    maxParallelTrials: 10
    enableTrialEarlyStopping: true
    params:
    - parameterName: max_steps
      type: INTEGER
      minValue: 100
      maxValue: 60000
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: learning_rate
      type: DOUBLE
      minValue: 0.0001
      maxValue: 0.5
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: l1_regularization_strength
      type: DOUBLE
      maxValue: 1
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: l2_regularization_strength
      type: DOUBLE
      maxValue: 1
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: l2_shrinkage_regularization_strength
      type: DOUBLE
      maxValue: 1
      scaleType: UNIT_LINEAR_SCALE
'''


class JobTest(support.EmulatorTest):
    @classmethod
    def caip(cls, *words, check=True):
        """Runs a caip command on the emulator's state directory."""
        env = {**support.clean_environment(), 'CAIP_STATE': str(cls.emulator.state), 'CLOUDSDK_CORE_PROJECT': 'demo-project'}
        return support.run([support.caip_binary(), *words], env=env, check=check)


class Jobs(JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = algorithms.xgboost_python()
        cls.config = f'companions: []\nruntimes:\n  "3.7": {cls.python}\n'
        super().setUpClass()
        cls.emulator.bucket()
        algorithms.put(cls.emulator, 'data.csv', algorithms.table().encode())

    def submit(self, job, *words, image='boosted_trees:latest', user=WORDS, check=True):
        return self.caip('jobs', 'submit', 'training', job, f'--master-image-uri={algorithms.IMAGES}{image}',
                                  '--scale-tier=BASIC', f'--job-dir=gs://bkt/{job}', '--region=us-central1',
                                  '--stream-logs', *words, '--', *user, check=check)

    def describe(self, job):
        return json.loads(self.caip('jobs', 'describe', job, '--format=json').stdout)

    def assert_trained(self, job):
        shown = self.describe(job)
        self.assertEqual(shown['state'], 'SUCCEEDED')
        output = shown['trainingOutput']
        self.assertTrue(output['isBuiltInAlgorithmJob'])
        self.assertEqual(output['builtInAlgorithmOutput'], {
            'framework': 'XGBOOST', 'runtimeVersion': '1.15', 'pythonVersion': '3.7', 'modelPath': f'gs://bkt/{job}/model/'})
        listed = self.caip('ls', '-r', f'gs://bkt/{job}').stdout.split()
        self.assertEqual(sorted(name.split(f'gs://bkt/{job}/')[1] for name in listed if not name.endswith('/')), [
            'artifacts/metadata.json', 'model/deployment_config.yaml', 'model/model.bst', 'processed_data/test.csv',
            'processed_data/training.csv', 'processed_data/validation.csv'])

    def test_caip_submits_the_documented_command(self):
        done = self.submit('with_caip')
        self.assert_trained('with_caip')
        self.assertRegex(done.stdout + done.stderr, r'Step 20: logloss 0\.\d+, error 0\.\d+, auc 0\.\d+')
        instances = self.emulator.directory / 'instances.json'
        instances.write_text('{"csv_row": "1,2.5,3,red,1.5", "key": "k"}\n')
        words = ['local', 'predict', '--model-dir', 'gs://bkt/with_caip/model', '--json-instances', instances]
        found = json.loads(self.caip(*words, '--format=json').stdout)['predictions']
        self.assertEqual([(one['classes'], one['key']) for one in found], [('yes', 'k')])
        self.assertRegex(self.caip(*words).stdout, r'^CLASSES  KEY  SCORES\nyes      k    \[0\.\d+, 0\.\d+\]\n$')
        self.assertEqual(self.caip(*words, '--format=value(predictions[].classes)').stdout, 'yes\n')

    def test_gcloud_submits_the_documented_command(self):
        support.need('gcloud')
        done = support.run(['gcloud', 'ai-platform', 'jobs', 'submit', 'training', 'with_gcloud',
                            f'--master-image-uri={algorithms.IMAGES}boosted_trees:latest', '--scale-tier=BASIC',
                            '--job-dir=gs://bkt/with_gcloud', '--region', 'us-central1', '--stream-logs', '--', *WORDS],
                           env=self.emulator.env, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_trained('with_gcloud')

    def submit_by(self, client, job, image, *words, user):
        """The job, which has ended."""
        line = ['jobs', 'submit', 'training', job, f'--master-image-uri={algorithms.IMAGES}{image}:latest',
                f'--job-dir=gs://bkt/{job}', '--region', 'us-central1', '--stream-logs', *words, '--', *user]
        if client == 'caip':
            done = self.caip(*line, check=False)
        else:
            done = support.run(['gcloud', 'ai-platform', *line], env=self.emulator.env, check=False)
        shown = self.describe(job)
        self.assertEqual(shown['state'], 'FAILED', done.stderr)
        return shown, self.caip('jobs', 'stream-logs', job).stdout

    def test_the_documented_words_of_each_image_are_the_same_job_from_caip_and_gcloud(self):
        support.need('gcloud')
        for image, (words, text) in DOCUMENTED.items():
            with self.subTest(image):
                ours, log = self.submit_by('caip', f'caip_{image}', image, '--scale-tier=BASIC', user=words)
                theirs, _ = self.submit_by('gcloud', f'gcloud_{image}', image, '--scale-tier=BASIC', user=words)
                self.assertIn(text, log)
                self.assertNotIn('is not an argument', log)
                self.assertIn('non-zero status of 1', theirs['errorMessage'])  # 2: the arguments are wrong
                self.assertEqual(ours['errorMessage'].replace('caip_', 'gcloud_'), theirs['errorMessage'])
                for job in (ours, theirs):
                    del job['trainingInput']['jobDir']
                self.assertEqual(ours['trainingInput'], theirs['trainingInput'])

    def test_the_published_study_is_the_same_job_from_caip_and_gcloud(self):
        support.need('gcloud')
        config = self.emulator.directory / 'published.yaml'
        config.write_text(PUBLISHED_STUDY)
        words = [*LINEAR[:3], '--batch_size=250']  # the others are parameters
        ours, _ = self.submit_by('caip', 'caip_study', 'linear_learner_cpu', '--config', config, user=words)
        theirs, _ = self.submit_by('gcloud', 'gcloud_study', 'linear_learner_cpu', '--config', config, user=words)
        self.assertEqual(ours['trainingInput']['hyperparameters'], theirs['trainingInput']['hyperparameters'])
        for job in (ours, theirs):
            for trial in job['trainingOutput']['trials']:
                self.assertEqual(len(trial['hyperparameters']), 5)
                self.assertTrue(all(0 <= float(trial['hyperparameters'][name]) <= 1 for name in trial['hyperparameters']
                                    if name.startswith('l')))

    def test_the_output_is_shown_from_the_creation_on(self):
        job = {'jobId': 'with_api', 'trainingInput': {
            'scaleTier': 'BASIC', 'region': 'us-central1', 'jobDir': 'gs://bkt/with_api', 'args': WORDS,
            'masterConfig': {'imageUri': f'{algorithms.IMAGES}boosted_trees:latest'}}}
        request = urllib.request.Request(f'{self.emulator.url}/v1/projects/demo-project/jobs', json.dumps(job).encode(),
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            created = json.load(answer)
        self.assertEqual(created['state'], 'QUEUED')
        self.assertEqual(created['trainingOutput'], {'isBuiltInAlgorithmJob': True, 'builtInAlgorithmOutput': {
            'framework': 'XGBOOST', 'runtimeVersion': '1.15', 'pythonVersion': '3.7'}})
        self.caip('jobs', 'stream-logs', 'with_api')
        self.assert_trained('with_api')

    def test_trials_train_models_of_their_own(self):
        config = self.emulator.directory / 'tuning.yaml'
        config.write_text(TUNING)
        self.submit('study', '--config', config)
        output = self.describe('study')['trainingOutput']
        self.assertEqual((output['completedTrialCount'], output['isBuiltInAlgorithmJob']), ('3', True))
        self.assertNotIn('modelPath', output['builtInAlgorithmOutput'])
        for trial in output['trials']:
            if not trial.get('isTrialStoppedEarly'):
                self.assertEqual(trial['builtInAlgorithmOutput']['modelPath'], f'gs://bkt/study/{trial["trialId"]}/model/')
                self.assertEqual(trial['finalMetric']['trainingStep'], '20')
            self.assertTrue(0 <= float(trial['hyperparameters']['alpha']) <= 1)
        values = [trial['finalMetric']['objectiveValue'] for trial in output['trials']]
        self.assertEqual(values, sorted(values))

    def test_wrong_arguments_fail_the_job_with_all_their_faults(self):
        done = self.submit('wrong', user=['--eta=9', '--training_data_path=gs://bkt/data.csv', '--depth=3'], check=False)
        self.assertEqual(done.returncode, 1)
        said = done.stdout + done.stderr
        for text in ('--eta=9 is not valid', '--depth is not an argument'):
            self.assertIn(text, said)
        shown = self.describe('wrong')
        self.assertEqual(shown['state'], 'FAILED')
        self.assertIn('non-zero status of 2', shown['errorMessage'])

    def test_several_replicas_of_an_algorithm_for_one_are_refused(self):
        config = self.emulator.directory / 'cluster.yaml'
        config.write_text('trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, workerType: n1-standard-4, '
                          'workerCount: 1}\n')
        done = self.caip('jobs', 'submit', 'training', 'too_many', '--config', config, '--region=us-central1',
                                  f'--master-image-uri={algorithms.IMAGES}boosted_trees', '--job-dir=gs://bkt/too_many',
                                  '--stream-logs', '--', *WORDS, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('runs on one replica, but the job has worker', done.stdout + done.stderr)

    def test_a_mapping_of_the_user_wins(self):
        image = f'{algorithms.IMAGES}linear_learner_cpu'
        self.caip('images', 'map', f'{image}=/bin/echo mine')
        self.addCleanup(self.caip, 'images', 'remove', image)  # other tests use the built-in one
        done = self.submit('mapped', image='linear_learner_cpu:latest')
        self.assertRegex(done.stdout + done.stderr, r'mine --preprocess')

    def test_missing_data_is_named(self):
        done = self.submit('nothing', user=['--preprocess', '--training_data_path=gs://bkt/nothing.csv'], check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('gs://bkt/nothing.csv does not exist.', done.stdout + done.stderr)


ONE = '{scaleTier: BASIC}'
SEVERAL = '{scaleTier: CUSTOM, masterType: n1-standard-4, workerType: n1-standard-4, workerCount: 2}'


class Distributed(JobTest):
    """A master and two workers, each of which takes its share of the rows."""

    @classmethod
    def setUpClass(cls):
        python = algorithms.xgboost_python()
        cls.config = f'companions: []\nruntimes:\n  "3.7": {python}\n'
        super().setUpClass()
        cls.emulator.bucket()
        rows = [line.split(',') for line in algorithms.table(3000).splitlines()]
        numbers = ''.join(','.join([str(int(row[0] == 'yes')), row[2], row[3], str(len(row[4])), row[5]]) + '\n' for row in rows)
        lines = numbers.splitlines(keepends=True)
        algorithms.put(cls.emulator, 'train.csv', ''.join(lines[:2400]).encode())
        algorithms.put(cls.emulator, 'valid.csv', ''.join(lines[2400:]).encode())

    def train(self, job, image, cluster, *words):
        """The lines of the job's log."""
        config = self.emulator.directory / 'cluster.yaml'
        config.write_text(f'trainingInput: {cluster}\n')
        done = self.caip('jobs', 'submit', 'training', job, '--config', config, '--region=us-central1',
                         f'--master-image-uri={algorithms.IMAGES}{image}', f'--job-dir=gs://bkt/{job}', '--stream-logs',
                         '--', '--objective=binary:logistic', *words)
        return done.stdout + done.stderr

    def accuracy(self, job, image, cluster):
        self.train(job, image, cluster, '--training_data_path=gs://bkt/train.csv', '--num_boost_round=30',
                   '--validation_data_path=gs://bkt/valid.csv')
        text = self.caip('cat', f'gs://bkt/{job}/model/deployment_config.yaml').stdout
        return float(re.search(r"accuracy: '([\d.]+)'", text)[1]) / 100

    def test_the_census_model_is_as_good_as_that_of_one_replica(self):
        algorithms.put(self.emulator, 'census.csv', algorithms.census().read_bytes())
        log = self.train('census', 'boosted_trees', ONE, '--preprocess', '--training_data_path=gs://bkt/census.csv',
                         '--num_boost_round=50')
        one = algorithms.test_part(log)
        log = self.train('census_several', 'xgboost_dist', SEVERAL, '--num_boost_round=50',
                         '--training_data_path=gs://bkt/census/processed_data/training.csv',
                         '--validation_data_path=gs://bkt/census/processed_data/test.csv')
        several = re.search(r'Step 50: .*auc ([\d.]+), .*accuracy ([\d.]+)\.', log)
        self.assertAlmostEqual(one['auc'], float(several[1]), delta=0.005)
        self.assertAlmostEqual(one['accuracy'], float(several[2]), delta=0.005)

    def test_the_model_is_as_good_as_that_of_one_replica(self):
        one = self.accuracy('one', 'boosted_trees', ONE)
        several = self.accuracy('several', 'xgboost_dist', SEVERAL)
        self.assertGreater(one, 0.9)
        self.assertAlmostEqual(one, several, delta=0.02)


if __name__ == '__main__':
    support.main()
