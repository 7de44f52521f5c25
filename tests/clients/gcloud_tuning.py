"""The real gcloud submits a tuning job over scikit-learn's digits and shows its trials."""

import json
import re
import shutil
import tempfile
from pathlib import Path

import support

TRAINER = support.ROOT / 'scenarios/trainers/digits_tuning'


class Tuning(support.EmulatorTest):
    """One study for all tests: its trials run once."""

    flags = ('--storage-view', 'path')

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        python = support.virtualenv('tuning', 'scikit-learn', 'cloudml-hypertune', 'setuptools',
                                    'wheel')
        # The runtime's Python has the frameworks, like the service's images.
        cls.config = f'companions: []\nruntimes:\n  "3.7": {python}\n'
        super().setUpClass()
        cls.emulator.bucket('staging-bkt')
        directory = tempfile.TemporaryDirectory(prefix='caip-tuning-')
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        shutil.copytree(TRAINER, cls.directory / 'source')
        cls.submitted = cls.gcloud('submit', 'training', 'digits', '--package-path',
                                   cls.directory / 'source/trainer', '--module-name', 'trainer.task',
                                   '--staging-bucket', 'gs://staging-bkt', '--job-dir',
                                   'gs://staging-bkt/digits', '--region', 'us-central1',
                                   '--runtime-version', '2.11', '--python-version', '3.7',
                                   '--config', TRAINER / 'config.yaml', '--stream-logs', '--',
                                   '--epochs', '6')
        cls.job = json.loads(cls.gcloud('describe', 'digits', '--format', 'json').stdout)

    @classmethod
    def gcloud(cls, *words):
        return support.run(['gcloud', 'ai-platform', 'jobs', *words], env=cls.emulator.env,
                           timeout=900, cwd=cls.directory)

    def test_ends_well_with_all_its_trials(self):
        self.assertEqual(self.job['state'], 'SUCCEEDED')
        output = self.job['trainingOutput']
        self.assertTrue(output['isHyperparameterTuningJob'])
        self.assertEqual(output['hyperparameterMetricTag'], 'accuracy')
        self.assertEqual(output['completedTrialCount'], '10')
        self.assertEqual(sorted(int(trial['trialId']) for trial in output['trials']),
                         list(range(1, 11)))

    def test_lists_the_best_first_and_it_has_learned(self):
        values = [trial['finalMetric']['objectiveValue']
                  for trial in self.job['trainingOutput']['trials']]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertGreater(values[0], 0.9)

    def test_keeps_the_values_within_the_config(self):
        for trial in self.job['trainingOutput']['trials']:
            values = trial['hyperparameters']
            self.assertLessEqual(0.0001, float(values['learning_rate']))
            self.assertLessEqual(float(values['learning_rate']), 0.3)
            self.assertIn(int(values['hidden_units']), range(8, 129))
            self.assertIn(values['batch_size'], ('16', '32', '64', '128'))
            self.assertIn(values['activation'], ('relu', 'tanh', 'logistic'))

    def test_gives_each_trial_its_own_directory(self):
        models = (self.emulator.state / 'buckets/staging-bkt/digits').glob('*/model.pkl')
        finished = [trial['trialId'] for trial in self.job['trainingOutput']['trials']
                    if not trial.get('isTrialStoppedEarly')]
        self.assertTrue(set(finished) <= {model.parent.name for model in models})

    def test_streams_each_line_with_its_trial(self):
        rows = [line.split('\t') for line in self.submitted.stderr.splitlines()]
        trials = {row[3] for row in rows if len(row) == 5 and row[4].startswith('epoch ')}
        self.assertEqual(trials, {str(number) for number in range(1, 11)})

    def test_is_summarized_by_gcloud_and_by_caip_alike(self):
        ours = self.emulator.caip('jobs', 'describe', 'digits', '--summarize', '--project',
                                  'demo-project')
        theirs = self.gcloud('describe', 'digits', '--summarize')
        self.assertEqual(ours.stdout, theirs.stdout)
        best = self.job['trainingOutput']['trials'][0]
        self.assertIn('Training Output Trials', theirs.stdout)
        self.assertIn(f"{best['finalMetric']['objectiveValue']:g}", theirs.stdout)

    def test_is_shown_by_caip_jobs_trials(self):
        page = self.directory / 'study.html'
        shown = self.emulator.caip('jobs', 'trials', 'digits', '--project', 'demo-project')
        best = self.job['trainingOutput']['trials'][0]['trialId']
        self.assertRegex(shown.stdout, rf'\* {best} +SUCCEEDED')
        self.assertIn(f'best so far: trial {best}', shown.stdout)
        self.emulator.caip('jobs', 'trials', 'digits', '--project', 'demo-project', '--plot', page)
        text = page.read_text()
        self.assertEqual(len(re.findall('<circle [^>]*class="dot"', text)), 10)
        self.assertNotIn('http://', text.replace('http://www.w3.org/2000/svg', ''))


if __name__ == '__main__':
    support.main()
