"""gcloud ai custom-jobs, unmodified, pointed here by `caip env` alone."""

import concurrent.futures
import json

import support
import vertex_jobs

STARTED = ('Waiting for job to be provisioned.', 'Job is preparing.', 'Job is running.')


class GcloudTest(vertex_jobs.VertexTest):
    """gcloud, with a private configuration."""

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        super().setUpClass()

    def gcloud(self, *words, check=True, region=None):
        return support.run(['gcloud', *words, '--region', region or self.region], check=check,
                           env=self.emulator.env, cwd=self.directory)

    def jobs(self, *words, **how):
        return self.gcloud('ai', 'custom-jobs', *words, **how)

    def write(self, text):
        """The name of a file with that text."""
        path = self.directory / (self.id().rsplit('.', 1)[1] + '.yaml')
        path.write_text(text)
        return str(path)

    def describe(self, name):
        return json.loads(self.jobs('describe', name, '--format', 'json').stdout)


class Create(GcloudTest):
    def test_a_container_by_flags(self):
        done = self.jobs('create', '--display-name', 'flags', '--labels', 'team=a,stage=test', '--args=one,two',
                         '--worker-pool-spec',
                         f'machine-type=n1-standard-4,container-image-uri={vertex_jobs.IMAGE}')
        name = self.find('flags')['name']
        self.assertRegex(name, rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/customJobs/\d+$')
        self.assertEqual(done.stdout, '')
        self.assertEqual(done.stderr.splitlines()[:2], [
            f'Using endpoint [{self.emulator.url}/]', f'CustomJob [{name}] is submitted successfully.'])
        self.assertIn(f'$ gcloud ai custom-jobs stream-logs {name}', done.stderr)
        self.wait(name, 'SUCCEEDED')
        self.assertEqual(self.lines(name), [('workerpool0-0', 'a container:  one two')])
        job = self.describe(name)
        self.assertEqual(job['labels'], {'team': 'a', 'stage': 'test'})
        self.assertEqual(job['jobSpec'], {'workerPoolSpecs': [
            {'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': '1',
             'containerSpec': {'imageUri': vertex_jobs.IMAGE, 'args': ['one', 'two']}}]})
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED')
        for time in ('createTime', 'startTime', 'endTime', 'updateTime'):
            self.assertRegex(job[time], r'^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$')

    def test_pools_of_a_configuration_file(self):
        pool = f'''
  - machineSpec: {{machineType: n1-highmem-2}}
    pythonPackageSpec:
      executorImageUri: {vertex_jobs.EXECUTOR}
      packageUris: [{self.put_package()}]
      pythonModule: trainer.cluster
      env: [{{name: WHO, value: %s}}]
    replicaCount: %d'''
        config = self.write(
            'workerPoolSpecs:' + pool % ('first', 1) + pool % ('second', 2) +
            f'\nbaseOutputDirectory: {{outputUriPrefix: "gs://{vertex_jobs.BUCKET}/out"}}'
            '\nscheduling: {timeout: 3600s, restartJobOnWorkerRestart: true}'
            '\nserviceAccount: trainer@demo-project.iam.gserviceaccount.com\n')
        shown = json.loads(self.jobs('create', '--display-name', 'file', '--config', config, '--args=end',
                                     '--format', 'json').stdout)
        job = self.wait(shown['name'], 'SUCCEEDED')
        self.assertEqual(shown['jobSpec'], job['jobSpec'])
        self.assertEqual(job['jobSpec']['scheduling'],
                         {'timeout': '3600s', 'restartJobOnWorkerRestart': True})
        self.assertEqual(job['jobSpec']['serviceAccount'],
                         'trainer@demo-project.iam.gserviceaccount.com')
        lines = [line for line in self.lines(shown['name']) if line[1].endswith(' end') and ' -m ' not in line[1]]
        self.assertEqual(sorted(lines), [('workerpool0-0', 'first chief end'),
                                         ('workerpool1-0', 'second worker end'),
                                         ('workerpool1-1', 'second worker end')])

    def test_a_python_package_saves_its_model(self):
        package = self.put_package()
        config = self.write(f'baseOutputDirectory: {{outputUriPrefix: "gs://{vertex_jobs.BUCKET}/package/"}}\n')
        self.jobs('create', '--display-name', 'package', '--config', config, '--python-package-uris', package,
                  '--args=--rate=1,words', '--worker-pool-spec',
                  f'machine-type=n1-standard-4,executor-image-uri={vertex_jobs.EXECUTOR},python-module=trainer.task')
        name = self.find('package')['name']
        self.wait(name, 'SUCCEEDED')
        self.assertEqual((self.bucket / 'package/model/model.txt').read_text(), '--rate=1 words')
        lines = [text for _, text in self.lines(name)]
        for line in ('Running module trainer.task.', f'Downloading the package: {package}',
                     'line 2 --rate=1 words', 'the last words',
                     'Task completed. Exit code (0). Exit reason (SUCCEEDED)'):
            self.assertEqual(lines.count(line), 1, f'{line}\n{lines}')
        spec = self.describe(name)['jobSpec']['workerPoolSpecs'][0]['pythonPackageSpec']
        self.assertEqual(spec, {'executorImageUri': vertex_jobs.EXECUTOR, 'packageUris': [package],
                                'pythonModule': 'trainer.task', 'args': ['--rate=1', 'words']})

    def test_by_the_beta_command(self):
        done = self.gcloud('beta', 'ai', 'custom-jobs', 'create', '--display-name', 'beta', '--worker-pool-spec',
                           f'machine-type=n1-standard-4,container-image-uri={vertex_jobs.IMAGE}')
        name = self.find('beta')['name']
        self.assertIn(f'$ gcloud beta ai custom-jobs describe {name}', done.stderr)
        self.wait(name, 'SUCCEEDED')

    def test_shows_every_fault_that_the_service_finds(self):
        config = self.write(f'''
scheduling: {{timeout: 0s}}
workerPoolSpecs:
  - machineSpec: {{machineType: n1-standard-4, acceleratorCount: 2}}
    replicaCount: 2
    containerSpec: {{imageUri: {vertex_jobs.IMAGE}}}
''')
        done = self.jobs('create', '--display-name', 'refused', '--config', config, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn('ERROR: (gcloud.ai.custom-jobs.create) INVALID_ARGUMENT: List of found errors:\t1.Field: '
                      'job_spec.worker_pool_specs[0].', done.stderr)
        for field in ('machine_spec.accelerator_type', 'replica_count'):
            self.assertIn(f'.Field: job_spec.worker_pool_specs[0].{field}; Message: ', done.stderr)
        self.assertIn('.Field: job_spec.scheduling.timeout; Message: ', done.stderr)
        self.assertIn('Both `accelerator_type` and `accelerator_count` should be specified or none.', done.stderr)
        self.assertIn('fieldViolations:', done.stderr)

    def test_shows_that_a_machine_cannot_have_an_accelerator(self):
        done = self.jobs('create', '--display-name', 'refused', '--worker-pool-spec',
                         'machine-type=n1-standard-4,accelerator-type=NVIDIA_H100_80GB,'
                         f'container-image-uri={vertex_jobs.IMAGE}', check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('INVALID_ARGUMENT: Accelerator "NVIDIA_H100_80GB" is not supported for machine type '
                      '"n1-standard-4"', done.stderr)


class Jobs(GcloudTest):
    def test_are_listed_newest_first_in_their_region(self):
        names = [self.create(f'listed-{number}') for number in range(3)]
        listed = self.jobs('list', '--format', 'value(name)', '--filter', 'displayName~listed-').stdout.split()
        self.assertEqual(listed, names[::-1])
        page = self.jobs('list', '--page-size', '1', '--limit', '2', '--filter', 'displayName~listed-',
                         '--format', 'value(displayName)').stdout.split()
        self.assertEqual(page, ['listed-2', 'listed-1'])
        elsewhere = self.jobs('list', region='europe-west4')
        self.assertEqual(elsewhere.stdout, '')
        self.assertIn('Listed 0 items.', elsewhere.stderr)

    def test_are_cancelled_twice(self):
        name = self.create('cancelled', command=['sleep', '600'])
        self.wait(name, 'RUNNING')
        done = self.jobs('cancel', name)
        self.assertEqual(done.stdout, '')
        self.assertIn(f'custom-jobs describe {name}', done.stderr)
        ended = self.wait(name, 'CANCELLED')
        self.assertEqual(ended['error']['code'], 1)
        self.jobs('cancel', name.rsplit('/', 1)[1])
        self.assertEqual(self.describe(name), ended)

    def test_stream_their_logs_after_their_end(self):
        package = {'executorImageUri': vertex_jobs.EXECUTOR, 'packageUris': [self.put_package()],
                   'pythonModule': 'trainer.task', 'args': ['fail']}
        pool = {'machineSpec': {'machineType': 'n1-standard-4'}, 'pythonPackageSpec': package}
        name = self.call('v1/' + self.collection(), {
            'displayName': 'streamed', 'jobSpec': {'workerPoolSpecs': [pool]}})['name']
        error = self.wait(name, 'FAILED')['error']
        self.assertEqual(error['code'], 3)
        self.assertIn('The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: '
                      'Error. \nTraceback', error['message'])
        words = ['stream-logs', name, '--polling-interval', '2']
        with concurrent.futures.ThreadPoolExecutor() as pool:
            whole = pool.submit(self.jobs, *words)
            part = pool.submit(self.jobs, *words, '--task-name', 'workerpool0-0')
        lines = [line.split('\t') for line in whole.result().stdout.splitlines() if line.count('\t') >= 3]
        for line in lines:
            self.assertRegex(line[1], r'^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+]0000$')
        service = [line[3] for line in lines if line[2] == 'service']
        self.assertEqual([text for text in service if text in STARTED], list(STARTED))
        self.assertEqual(service[-1], 'Job failed.')
        task = [line[3] for line in lines if line[2] == 'workerpool0-0']
        self.assertEqual([text for text in task if text.startswith('line ')],
                         ['line 0 fail', 'line 1 fail', 'line 2 fail'])
        self.assertEqual(whole.result().stdout.count('Traceback (most recent call last):'), 2)  # and the error
        self.assertIn('line 2 fail', part.result().stdout)
        self.assertNotIn('\tservice\t', part.result().stdout)

    def test_are_the_same_for_the_beta_commands(self):
        name = self.create('beta-jobs', command=['sleep', '600'])
        self.wait(name, 'RUNNING')

        def beta(*words, group='custom-jobs', **how):
            return self.gcloud('beta', 'ai', group, *words, **how)
        described = json.loads(beta('describe', name, '--format', 'json').stdout)
        self.assertEqual(described, self.describe(name))
        listed = beta('list', '--format', 'value(name)', '--filter', 'displayName=beta-jobs').stdout.split()
        self.assertEqual(listed, [name])
        beta('cancel', name)
        self.wait(name, 'CANCELLED')
        lines = beta('stream-logs', name, '--polling-interval', '2').stdout
        self.assertIn('\tservice\tJob is running.\n', lines)
        self.assertEqual(beta('list', group='hp-tuning-jobs').stdout, '')
        log = (self.emulator.state / 'access.log').read_text()
        for call in (f'GET /v1beta1/{name} ', f'POST /v1beta1/{name}:cancel ', f'GET /v1beta1/{self.collection()} ',
                     f'GET /v1beta1/{self.collection().replace("customJobs", "hyperparameterTuningJobs")} '):
            self.assertIn(call, log)

    def test_that_do_not_exist_are_not_found(self):
        for command in ('describe', 'cancel', 'stream-logs'):
            with self.subTest(command):
                done = self.jobs(command, '12345', check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn('NOT_FOUND: The CustomJob does not exist.', done.stderr)


if __name__ == '__main__':
    support.main()
