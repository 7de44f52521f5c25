"""The Google Cloud CLI: gcloud ai-platform, unmodified, pointed here by `caip env` alone."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import support

TASK = '''
import argparse, os, sys, time
parser = argparse.ArgumentParser()
parser.add_argument('--job-dir')
parser.add_argument('--words', default='hello')
known, _ = parser.parse_known_args()
for number in range(3):
    print('line', number, known.words, flush=True)
if known.words == 'wait':
    time.sleep(600)
print('the last words', flush=True)
sys.exit(3 if known.words == 'fail' else 0)
'''


class GcloudTest(support.EmulatorTest):
    """One emulator, one bucket, one trainer package for all."""

    config = '''
companions: []
images:
  gcr.io/demo/echo:v1: [/bin/sh, -c, 'echo from a container; echo "$@"', sh]
'''

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        super().setUpClass()
        cls.emulator.bucket('staging-bkt')
        directory = tempfile.TemporaryDirectory(prefix='caip-trainer-')
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        cls.package = support.write_package(cls.directory, TASK)
        cls.number = 0

    def gcloud(self, *words, check=True, env=None, timeout=300):
        return support.run(['gcloud', *words], env={**self.emulator.env, **(env or {})},
                           check=check, timeout=timeout, cwd=self.directory)

    def name(self, stem):
        type(self).number += 1
        return f'{stem}_{self.number}'

    def submit(self, job, *words, user=(), check=True, timeout=300):
        return self.gcloud('ai-platform', 'jobs', 'submit', 'training', job, '--package-path',
                           str(self.package), '--module-name', 'trainer.task', '--staging-bucket',
                           'gs://staging-bkt', '--region', 'us-central1', '--runtime-version',
                           '2.11', '--python-version', '3.7', *words,
                           *(['--', *user] if user else []), check=check, timeout=timeout)

    def describe(self, job):
        return json.loads(self.gcloud('ai-platform', 'jobs', 'describe', job, '--format',
                                      'json').stdout)

    def wait(self, job, *states):
        def there():
            state = json.loads(self.emulator.caip('jobs', 'describe', job, '--project',
                                                  'demo-project', '--format', 'json').stdout)
            return state['state'] in states and state
        return support.wait_for(there, f'{job} to be {states}', 120)


class Submit(GcloudTest):
    def test_streams_the_logs_of_a_package_to_their_end(self):
        job = self.name('streamed')
        done = self.submit(job, '--stream-logs', '--job-dir', 'gs://staging-bkt/out',
                           user=('--words', 'hi'))
        for line in ('line 0 hi', 'line 1 hi', 'line 2 hi', 'the last words',
                     'Job completed successfully.'):
            self.assertIn(line, done.stderr)
        self.assertEqual(self.describe(job)['state'], 'SUCCEEDED')
        uploaded = list((self.emulator.state / 'buckets/staging-bkt').glob(f'{job}/*/*.tar.gz'))
        self.assertEqual(len(uploaded), 1)

    def test_ends_with_1_when_the_streamed_job_fails(self):
        job = self.name('failing')
        done = self.submit(job, '--stream-logs', user=('--words', 'fail'), check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.describe(job)['state'], 'FAILED')

    def test_takes_a_configuration_file(self):
        job = self.name('configured')
        config = self.directory / 'config.yaml'
        config.write_text('trainingInput:\n  scaleTier: CUSTOM\n  masterType: n1-standard-4\n'
                          '  workerType: n1-standard-4\n  workerCount: 1\n'
                          '  scheduling: {maxRunningTime: 3600s}\nlabels: {team: a}\n')
        self.submit(job, '--config', str(config))
        described = self.describe(job)
        self.assertEqual(described['trainingInput']['workerCount'], '1')
        self.assertEqual(described['trainingInput']['scheduling'], {'maxRunningTime': '3600s'})
        self.assertEqual(described['labels'], {'team': 'a'})
        self.wait(job, 'SUCCEEDED', 'FAILED')

    def test_shows_the_services_errors_about_a_configuration(self):
        config = self.directory / 'bad.yaml'
        config.write_text('trainingInput:\n  scaleTier: HUGE\n  bogus: 1\n')
        done = self.submit(self.name('refused'), '--config', str(config), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('INVALID_ARGUMENT', done.stderr)
        self.assertIn('bogus', done.stderr)

    def test_runs_a_container_as_its_mapped_command(self):
        job = self.name('container')
        self.gcloud('ai-platform', 'jobs', 'submit', 'training', job, '--region', 'us-central1',
                    '--master-image-uri', 'gcr.io/demo/echo:v1', '--', 'one', 'two')
        self.wait(job, 'SUCCEEDED')
        log = self.gcloud('logging', 'read', f'resource.labels.job_id="{job}"', '--format',
                          'json').stdout
        self.assertIn('from a container', log)

    def test_reports_a_used_id_as_a_conflict(self):
        job = self.name('twice')
        self.submit(job)
        done = self.submit(job, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('is the subject of a conflict', done.stderr)
        self.assertIn('A job with this id already exists.', done.stderr)

    def test_reports_that_a_staging_bucket_is_missing(self):
        done = self.gcloud('ai-platform', 'jobs', 'submit', 'training', self.name('nobucket'),
                           '--package-path', str(self.package), '--module-name', 'trainer.task',
                           '--staging-bucket', 'gs://nowhere-bkt', '--region', 'us-central1',
                           '--runtime-version', '2.11', '--python-version', '3.7', check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('bucket does not exist', done.stderr)


class Jobs(GcloudTest):
    def test_are_described_as_a_summary(self):
        job = self.name('summary')
        self.submit(job)
        self.wait(job, 'SUCCEEDED')
        text = self.gcloud('ai-platform', 'jobs', 'describe', job, '--summarize').stdout
        for word in ('CREATE_TIME', 'END_TIME', 'SUCCEEDED', 'us-central1', 'trainer.task'):
            self.assertIn(word, text)

    def test_are_listed_and_filtered_by_the_client(self):
        job = self.name('listed')
        self.submit(job)
        ids = self.gcloud('ai-platform', 'jobs', 'list', '--filter', f'jobId={job}', '--format',
                          'value(jobId)', '--page-size', '1').stdout.split()
        self.assertEqual(ids, [job])
        newest = self.gcloud('ai-platform', 'jobs', 'list', '--sort-by', '~createTime', '--limit',
                             '1', '--format', 'value(jobId)').stdout.split()
        self.assertEqual(newest, [job])

    def test_can_be_cancelled_twice(self):
        job = self.name('cancelled')
        self.submit(job, user=('--words', 'wait'))
        self.wait(job, 'RUNNING')
        self.gcloud('ai-platform', 'jobs', 'cancel', job)
        self.wait(job, 'CANCELLED')
        self.gcloud('ai-platform', 'jobs', 'cancel', job)
        self.assertEqual(self.describe(job)['state'], 'CANCELLED')

    def test_get_their_labels_changed(self):
        job = self.name('labelled')
        self.submit(job, '--labels', 'a=1,b=2')
        before = self.describe(job)
        self.gcloud('ai-platform', 'jobs', 'update', job, '--update-labels', 'c=3',
                    '--remove-labels', 'a')
        after = self.describe(job)
        self.assertEqual(after['labels'], {'b': '2', 'c': '3'})
        self.assertNotEqual(after['etag'], before['etag'])
        self.gcloud('ai-platform', 'jobs', 'update', job, '--clear-labels')
        self.assertNotIn('labels', self.describe(job))

    def test_show_their_logs_again(self):
        job = self.name('logs')
        self.submit(job)
        self.wait(job, 'SUCCEEDED')
        done = self.gcloud('ai-platform', 'jobs', 'stream-logs', job)
        self.assertIn('the last words', done.stdout)

    def test_that_are_missing_are_not_found(self):
        done = self.gcloud('ai-platform', 'jobs', 'describe', 'none', check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('NOT_FOUND', done.stderr)


class Other(GcloudTest):
    def test_locations_are_listed_and_described(self):
        names = self.gcloud('alpha', 'ai-platform', 'locations', 'list', '--format',
                            'value(name)').stdout
        self.assertIn('us-central1', names)
        one = self.gcloud('alpha', 'ai-platform', 'locations', 'describe', 'us-central1').stdout
        self.assertIn('TRAINING', one)

    def test_no_models_exist(self):
        done = self.gcloud('ai-platform', 'models', 'list', '--region', 'global')
        self.assertIn('Listed 0 items.', done.stderr)

    def test_methods_of_models_end_at_once(self):
        done = self.gcloud('ai-platform', 'models', 'describe', 'asked-once', '--region', 'global',
                           check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('ml.projects.models.get is not emulated', done.stderr)
        log = (self.emulator.state / 'access.log').read_text()
        self.assertEqual(log.count('/models/asked-once'), 1, 'gcloud has repeated the call')

    def test_environment_makes_gsutil_use_gcloud(self):
        support.need('gsutil')
        listing = support.run(['gsutil', 'ls'], env=self.emulator.env).stdout
        self.assertIn('gs://staging-bkt/', listing)

    def test_environment_has_a_boto_file_for_gsutil_itself(self):
        support.need('gsutil')
        boto = self.emulator.env['CLOUDSDK_CONFIG'] + '/boto-tls'
        listing = support.run(['gsutil', 'ls'], env={**self.emulator.env, 'BOTO_CONFIG': boto})
        self.assertIn('gs://staging-bkt/', listing.stdout)


class RegionalEndpoint(unittest.TestCase):
    """`--region R` puts R- before the endpoint's name: the hosts file must have both."""

    def test_is_reached_by_names_of_the_hosts_file(self):
        support.need('gcloud', 'unshare', 'mount')
        probe = subprocess.run(['unshare', '-m', 'true'], capture_output=True, check=False)
        if probe.returncode != 0:
            self.skipTest('no mount namespace can be made here (this needs root)')
        with support.Emulator('--allow-host', 'ml.local', '--allow-host', '*-ml.local') as emulator:
            lines = emulator.caip('env', '--hosts').stdout
            self.assertRegex(lines, re.compile(r'^127\.0\.0\.1 us-central1-ml\.local$', re.M))
            hosts = emulator.directory / 'hosts'
            hosts.write_text(Path('/etc/hosts').read_text() + lines)
            env = {**emulator.env,
                   'CLOUDSDK_API_ENDPOINT_OVERRIDES_ML': f'http://ml.local:{emulator.port}/'}
            done = support.run(
                ['unshare', '-m', 'sh', '-c',
                 'mount --bind "$0" /etc/hosts && exec gcloud alpha ai-platform locations '
                 'describe us-central1 --region us-central1', hosts], env=env)
            self.assertIn('TRAINING', done.stdout)


if __name__ == '__main__':
    os.umask(0o022)
    support.main()
