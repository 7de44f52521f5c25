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
        self.caip('images', 'map', f'{algorithms.IMAGES}linear_learner_cpu=/bin/echo mine')
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
