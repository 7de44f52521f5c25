#!/usr/bin/env python3
"""Jobs that run on AI Platform Training and, as `caip migrate` translates them, on Vertex AI: their models are
equal. Each test runs the output of the command."""

import json
import os
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

REGION = 'us-central1'
CORPUS = ROOT / 'scenarios/trainers/restarts'
DIGITS = ROOT / 'scenarios/trainers/digits'
# Jobs of the corpus: the roles beside the master, by the trainer.
JOBS = {'r01': {}, 'r05': {}, 'r06': {}, 'r13': {}, 'r10': {'worker': 1, 'parameterServer': 1}}


def corpus_image(trainer):
    return f'gcr.io/demo/{trainer}:v1'


def config():
    images = {corpus_image(trainer): [sys.executable, str(CORPUS / trainer / 'fixed.py')]
              for trainer in JOBS}
    images['gcr.io/demo/probe:v1'] = ['sh', '-c', 'echo "tf=$TF_CONFIG"']
    images['gcr.io/demo/rate:v1'] = [
        'sh', '-c', 'echo "{\\"accuracy\\": \\"0.$2\\", \\"global_step\\": \\"1\\", \\"timestamp\\": 1.5, '
        '\\"trial\\": \\"$CLOUD_ML_TRIAL_ID\\"}" > "$CLOUD_ML_HP_METRIC_FILE"', 'sh']
    return f'companions: []\nimages: {json.dumps(images)}\n'


class Migration(support.EmulatorTest):
    """One emulator; each job writes to two folders of a bucket, one for each API."""

    @classmethod
    def setUpClass(cls):
        cls.config = config()
        super().setUpClass()
        cls.bucket = cls.emulator.bucket('bkt')

    def ask(self, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.emulator.url + target, data,
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def await_end(self, target):
        """The resource in its last state."""
        def ended():
            job = self.ask(target)
            last = job['state'].rpartition('_')[2]
            return job if last in ('SUCCEEDED', 'FAILED', 'CANCELLED') else None
        return support.wait_for(ended, f'the end of {target}', 240)

    def expect_success(self, target):
        job = self.await_end(target)
        self.assertTrue(job['state'].endswith('SUCCEEDED'), json.dumps(job, indent=1))
        return job

    def run_on_ai_platform(self, job):
        jobs = f'/v1/projects/{self.emulator.project}/jobs'
        self.ask(jobs, job)
        return self.expect_success(f'{jobs}/{job["jobId"]}')

    def migrate(self, job, *flags):
        """The output of `caip migrate` for a job in a file."""
        file = self.emulator.directory / f'{job["jobId"]}.json'
        file.write_text(json.dumps(job))
        return self.emulator.caip('migrate', file, *flags)

    def create(self, group, name, spec):
        """Creates the job of a printed file, and returns its resource when it has succeeded."""
        file = self.emulator.directory / f'{name}.yaml'
        file.write_text(spec)
        done = self.emulator.caip('ai', group, 'create', '--region', REGION, '--display-name', name,
                                  '--project', self.emulator.project, '--config', file,
                                  '--format', 'value(name)')
        return self.expect_success('/v1/' + done.stdout.strip())

    def files(self, folder):
        """The bytes of all objects below a folder, by their names there."""
        root = self.bucket / folder
        return {str(path.relative_to(root)): path.read_bytes()
                for path in sorted(root.rglob('*')) if path.is_file()}


class Corpus(Migration):
    def job(self, trainer, api):
        machine = {'worker': 'n1-standard-4', 'parameterServer': 'n1-standard-4'}
        given = {'scaleTier': 'CUSTOM', 'masterType': 'n1-standard-4', 'region': REGION,
                 'masterConfig': {'imageUri': corpus_image(trainer)},
                 'jobDir': f'gs://bkt/{api}/{trainer}'}
        for role, count in JOBS[trainer].items():
            given[f'{role}Type'], given[f'{role}Count'] = machine[role], str(count)
        return {'jobId': f'{trainer}_{api}', 'trainingInput': given}

    def test_trains_the_same_models_on_both_services(self):
        for trainer in JOBS:
            with self.subTest(trainer):
                self.run_on_ai_platform(self.job(trainer, 'ml'))
                migrated = self.migrate(self.job(trainer, 'vertex'))
                self.create('custom-jobs', trainer, migrated.stdout)
                files = self.files(f'ml/{trainer}')
                self.assertTrue(files, 'the trainer stored nothing')
                self.assertEqual(self.files(f'vertex/{trainer}'), files)


class Digits(Migration):
    FLAGS = ('--region', REGION, '--module-name', 'trainer.task', '--package-path', DIGITS / 'trainer',
             '--runtime-version', '2.11', '--staging-bucket', 'gs://bkt')
    ARGS = ('--data', 'gs://bkt/digits.csv.gz', '--steps', '120', '--checkpoint-every', '50')

    def test_learns_the_same_parameters_on_both_services(self):
        self.emulator.caip('cp', DIGITS / 'data/digits.csv.gz', 'gs://bkt/digits.csv.gz')
        project = ('--project', self.emulator.project)
        submit = ('jobs', 'submit', 'training')
        self.emulator.caip(*submit, 'digits_ml', *self.FLAGS, *project, '--job-dir', 'gs://bkt/ml', '--',
                           *self.ARGS)
        self.expect_success(f'/v1/projects/{self.emulator.project}/jobs/digits_ml')
        migrated = self.emulator.caip('migrate', '--stage', '--', 'gcloud', 'ai-platform', *submit,
                                      'digits_vertex', *self.FLAGS, *project, '--job-dir',
                                      'gs://bkt/vertex', '--', *self.ARGS)
        self.assertNotIn('--stage', migrated.stderr, 'the package is in the bucket')
        self.create('custom-jobs', 'digits', migrated.stdout)
        models = [json.loads((self.bucket / api / 'model/model.json').read_text())
                  for api in ('ml', 'vertex')]
        self.assertEqual(models[0]['parameters'], models[1]['parameters'])
        self.assertGreater(models[0]['metrics']['accuracy'], 0.5)


class Commands(Migration):
    def sh(self, script):
        """Runs a printed command in a shell in which caip uses this emulator."""
        path = f'{support.caip_binary().parent}{os.pathsep}{os.environ["PATH"]}'
        env = {**support.clean_environment(), 'CAIP_STATE': str(self.emulator.state), 'PATH': path,
               'CLOUDSDK_CORE_PROJECT': self.emulator.project}
        done = subprocess.run(['sh', '-e'], input=script, env=env, capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f'{script}\n{done.stderr}')
        jobs = self.ask(f'/v1/projects/{self.emulator.project}/locations/{REGION}/customJobs')
        return jobs['customJobs'][0]

    def probe(self, name, **more):
        return {'jobId': name, 'labels': {'team': 'vision'}, 'trainingInput': {
            'scaleTier': 'CUSTOM', 'masterType': 'n1-standard-4', 'region': REGION,
            'masterConfig': {'imageUri': 'gcr.io/demo/probe:v1'}, **more}}

    def test_one_that_is_printed_runs(self):
        printed = self.migrate(self.probe('printed'), '--as-command').stdout
        job = self.sh(printed)
        self.assertEqual(job['displayName'], 'printed')
        self.assertEqual(job['labels'], {'team': 'vision'})
        self.expect_success('/v1/' + job['name'])

    def test_one_with_a_skipped_pool_runs(self):
        job = self.probe('skipped', parameterServerType='n1-standard-4', parameterServerCount='1',
                         jobDir='gs://bkt/skipped')
        created = self.sh(self.migrate(job, '--as-command').stdout)
        pools = created['jobSpec']['workerPoolSpecs']
        self.assertEqual([bool(pool) for pool in pools], [True, False, True])
        self.assertEqual(created['jobSpec']['baseOutputDirectory'],
                         {'outputUriPrefix': 'gs://bkt/skipped/'})
        self.expect_success('/v1/' + created['name'])


class Tuning(Migration):
    def test_finds_the_same_best_trial_on_both_services(self):
        rate = {'parameterName': 'rate', 'type': 'INTEGER', 'minValue': 1, 'maxValue': 3}
        job = {'jobId': 'study', 'trainingInput': {
            'region': REGION, 'masterConfig': {'imageUri': 'gcr.io/demo/rate:v1'}, 'hyperparameters': {
                'goal': 'MAXIMIZE', 'hyperparameterMetricTag': 'accuracy', 'maxTrials': 3,
                'algorithm': 'GRID_SEARCH', 'params': [rate]}}}
        old = self.run_on_ai_platform(job)['trainingOutput']['trials']
        new = self.create('hp-tuning-jobs', 'study', self.migrate(job).stdout)['trials']
        self.assertEqual(
            sorted((trial['hyperparameters']['rate'], trial['finalMetric']['objectiveValue']) for trial in old),
            sorted((str(trial['parameters'][0]['value']), trial['finalMeasurement']['metrics'][0]['value'])
                   for trial in new))


if __name__ == '__main__':
    support.main()
