"""google-cloud-aiplatform, the Python SDK of Vertex AI, current and 1.x, over gRPC and REST.

gRPC is its default, and needs no more than the variables of `caip env`. Two ways to point REST here: one line of
code (`aiplatform.init(api_endpoint=...)`), and the variables of `caip env --tls` alone.
"""

import json
import logging
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
import toolchains
import vertex_jobs

if __name__ == '__main__':
    toolchains.inside(aiplatform_current=['google-cloud-aiplatform'], aiplatform_1=['google-cloud-aiplatform<2'])
    # pylint: disable=wrong-import-position
    from google.api_core import exceptions
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import aiplatform
    from google.cloud.aiplatform import initializer, jobs, training_jobs
    from google.cloud.aiplatform.compat.types import custom_job
    from google.cloud.aiplatform.gapic import JobState, PipelineState
    from google.cloud.aiplatform.preview import jobs as preview_jobs

OUTPUT = f'gs://{vertex_jobs.BUCKET}/output'


class SdkTest(vertex_jobs.VertexTest):
    """The SDK, pointed here by one line."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for patch in (mock.patch.dict(os.environ, cls.emulator.variables),
                      mock.patch.object(jobs, '_JOB_WAIT_TIME', 0.1),  # seconds between two looks
                      mock.patch.object(preview_jobs, '_JOB_WAIT_TIME', 0.1),
                      mock.patch.object(training_jobs, '_JOB_WAIT_TIME', 0.1)):
            patch.start()
            cls.addClassCleanup(patch.stop)
        logging.disable(logging.WARNING)  # the SDK prints each step
        cls.addClassCleanup(logging.disable, logging.NOTSET)
        cls.script = cls.directory / 'train.py'
        cls.script.write_text(vertex_jobs.TASK)

    def setUp(self):
        initializer.global_config.__init__()  # forgets what an earlier class has set
        aiplatform.init(project='demo-project', location=self.region, staging_bucket=f'gs://{vertex_jobs.BUCKET}',
                        credentials=AnonymousCredentials(), **self.way())

    def way(self):
        """The settings of aiplatform.init that lead here."""
        return {'api_transport': 'rest', 'api_endpoint': self.emulator.url}

    def container(self, name, command=(), args=(), **how):
        """A custom job of one container, not yet sent."""
        pool = {'machine_spec': {'machine_type': 'n1-standard-4'}, 'replica_count': 1,
                'container_spec': {'image_uri': vertex_jobs.IMAGE, 'command': list(command),
                                   'args': list(args), 'env': [{'name': 'GREETING', 'value': 'hello'}]}}
        return aiplatform.CustomJob(display_name=name, worker_pool_specs=[pool], **how)

    def uploads(self):
        """Names of the scripts that the SDK has packaged and uploaded."""
        return {path.name for path in self.bucket.glob('aiplatform-*.tar.gz')}


class CustomJobs(SdkTest):
    """aiplatform.CustomJob."""

    def test_run_to_their_end(self):
        job = self.container('run', args=['one', 'two'], labels={'team': 'a'}, base_output_dir=OUTPUT)
        job.run(timeout=600, restart_job_on_worker_restart=True, disable_retries=True,
                service_account='trainer@demo-project.iam.gserviceaccount.com',
                scheduling_strategy=custom_job.Scheduling.Strategy.SPOT)
        self.assertEqual(job.state, JobState.JOB_STATE_SUCCEEDED)
        self.assertRegex(job.resource_name,
                         rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/customJobs/\d+$')
        self.assertEqual(self.lines(job.resource_name), [('workerpool0-0', 'a container: hello one two')])
        self.assertLessEqual(job.create_time, job.start_time)
        self.assertLessEqual(job.start_time, job.end_time)
        self.assertEqual(job.labels, {'team': 'a'})
        shown = job.to_dict()['jobSpec']
        self.assertEqual(shown['scheduling'], {'timeout': '600s', 'restartJobOnWorkerRestart': True,
                                               'disableRetries': True, 'strategy': 'SPOT'})
        self.assertEqual(shown['serviceAccount'], 'trainer@demo-project.iam.gserviceaccount.com')
        self.assertEqual(shown['baseOutputDirectory'], {'outputUriPrefix': OUTPUT})

    def test_of_a_local_script_save_a_model(self):
        before = self.uploads()
        job = aiplatform.CustomJob.from_local_script(
            display_name='script', script_path=str(self.script), container_uri=vertex_jobs.EXECUTOR,
            args=['--rate', '1'], replica_count=2, environment_variables={'A': 'b'})
        job.run()
        self.assertEqual(job.state, JobState.JOB_STATE_SUCCEEDED)
        package, = self.uploads() - before
        self.assertRegex(package, r'^aiplatform-[\d-]{10}-[\d:.]{12}-aiplatform_custom_trainer_script-0\.1'
                                  r'\.tar\.gz$')
        base = job.to_dict()['jobSpec']['baseOutputDirectory']['outputUriPrefix']
        self.assertRegex(base, rf'^gs://{vertex_jobs.BUCKET}/aiplatform-custom-job-')
        model = self.bucket / base.split('/', 3)[3] / 'model/model.txt'
        self.assertEqual(model.read_text(), '--rate 1')
        self.assertIn(('workerpool0-0', 'the last words'), self.lines(job.resource_name))
        pools = job.to_dict()['jobSpec']['workerPoolSpecs']
        self.assertEqual([pool['replicaCount'] for pool in pools], ['1', '1'])

    def test_that_fail_raise_the_services_error(self):
        job = aiplatform.CustomJob.from_local_script(
            display_name='fail', script_path=str(self.script), container_uri=vertex_jobs.EXECUTOR, args=['fail'])
        with self.assertRaisesRegex(RuntimeError, r'(?s)^Job failed with:\ncode: 3\nmessage: "The replica '
                                    r'workerpool0-0 exited with a non-zero status of 1.*the data is bad'):
            job.run()
        self.assertEqual((job.state, job.error.code), (JobState.JOB_STATE_FAILED, 3))

    def test_of_the_preview_use_the_beta_version(self):
        pool = {'machine_spec': {'machine_type': 'n1-standard-4'}, 'replica_count': 1,
                'container_spec': {'image_uri': vertex_jobs.IMAGE}}
        job = preview_jobs.CustomJob(display_name='preview', worker_pool_specs=[pool])
        job.submit()  # run() of this class calls its own submit() with a parameter that it does not have
        job.wait_for_completion()
        self.assertEqual(job.state.name, 'JOB_STATE_SUCCEEDED')
        self.assertIn(f'POST /v1beta1/{self.collection()} ',
                      (self.emulator.state / 'access.log').read_text())
        job.delete()
        with self.assertRaisesRegex(exceptions.NotFound, 'The CustomJob does not exist.'):
            aiplatform.CustomJob.get(job.resource_name)

    def test_are_cancelled_while_they_run(self):
        job = self.container('cancel', command=['sleep', '600'])
        job.run(sync=False)
        job.wait_for_resource_creation()
        support.wait_for(lambda: job.state == JobState.JOB_STATE_RUNNING, 'the job to run')
        with self.assertRaises(exceptions.BadRequest) as refused:
            job.api_client.delete_custom_job(name=job.resource_name)
        self.assertIn('Cancel it, and wait for its end.', str(refused.exception))
        job.cancel()
        with self.assertRaisesRegex(RuntimeError, r'^Job failed with:\ncode: 1\n'):
            job.wait()
        self.assertEqual(job.state, JobState.JOB_STATE_CANCELLED)
        job.cancel()
        self.assertEqual(job.state, JobState.JOB_STATE_CANCELLED)

    def test_are_found_by_filters_and_deleted(self):
        made = []
        for name in ('list-a', 'list-b', 'list-c'):
            job = self.container(name, labels={'series': 'list', 'of': name})
            job.submit()
            job.wait_for_completion()
            made.append(job.resource_name)

        def names(text, **how):
            return [job.resource_name for job in aiplatform.CustomJob.list(filter=text, **how)]
        self.assertEqual(names('labels.series=list', order_by='create_time'), made)
        self.assertEqual(names('labels.series=list', order_by='create_time desc'), made[::-1])
        self.assertEqual(names('display_name="list-b"'), made[1:2])
        self.assertEqual(names('display_name:list-* AND NOT labels.of="list-a"', order_by='create_time'), made[1:])
        self.assertEqual(names('labels.series=list AND state="JOB_STATE_FAILED"'), [])
        self.assertEqual(len(names('labels.series:* AND state="JOB_STATE_SUCCEEDED"')), 3)
        self.assertEqual(aiplatform.CustomJob.list(location='europe-west4'), [])
        job = aiplatform.CustomJob.get(made[0].rsplit('/', 1)[1])
        self.assertEqual(job.display_name, 'list-a')
        job.delete()
        with self.assertRaisesRegex(exceptions.NotFound, 'The CustomJob does not exist.'):
            aiplatform.CustomJob.get(made[0])
        self.assertEqual(names('labels.series=list', order_by='create_time'), made[1:])

    def test_are_found_by_wildcards(self):
        """As the examples of the API's description of `filter` do."""
        job = self.container('my_job_1')
        job.submit()
        job.wait_for_completion()
        for text in ('state="JOB_STATE_SUCCEEDED" AND display_name:"my_job_*"', 'display_name:"*job_1"',
                     'display_name:"*_job_*"', 'display_name:my_job_*', 'display_name:"my_job_1"'):
            with self.subTest(text):
                found = [one.resource_name for one in aiplatform.CustomJob.list(filter=text)]
                self.assertEqual(found, [job.resource_name])
        self.assertEqual(aiplatform.CustomJob.list(filter='display_name:"my_job_*2"'), [])

    def test_are_refused_with_every_fault(self):
        pool = {'machine_spec': {'machine_type': 'n1-standard-4', 'accelerator_count': 1}, 'replica_count': 3,
                'container_spec': {'image_uri': vertex_jobs.IMAGE}}
        with self.assertRaises(exceptions.BadRequest) as refused:
            aiplatform.CustomJob(display_name='bad', worker_pool_specs=[pool]).run()
        message = refused.exception.message
        self.assertIn('List of found errors:\t1.Field: job_spec.worker_pool_specs[0].', message)
        for field in ('machine_spec.accelerator_type', 'replica_count'):
            self.assertIn(f'.Field: job_spec.worker_pool_specs[0].{field}; Message: ', message)


class Pipelines(SdkTest):
    """The classes that make a TrainingPipeline."""

    def model_of(self, pipeline):
        """What the trainer of a pipeline has saved, and the pipeline's custom job."""
        shown = pipeline.to_dict()
        job = self.call('v1/' + shown['trainingTaskMetadata']['backingCustomJob'])
        base = job['jobSpec']['baseOutputDirectory']['outputUriPrefix']
        return (self.bucket / base.split('/', 3)[3] / 'model/model.txt').read_text(), job

    def test_of_a_local_script(self):
        training = aiplatform.CustomTrainingJob(
            display_name='script', script_path=str(self.script), container_uri=vertex_jobs.EXECUTOR,
            labels={'team': 'a'})
        self.assertIsNone(training.run(args=['--rate', '2'], environment_variables={'A': 'b'}, timeout=600,
                                       boot_disk_size_gb=120, machine_type='n1-highmem-2'))
        self.assertEqual(training.state, PipelineState.PIPELINE_STATE_SUCCEEDED)
        self.assertRegex(training.resource_name,
                         rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/trainingPipelines/\d+$')
        model, job = self.model_of(training)
        self.assertEqual(model, '--rate 2')
        self.assertRegex(job['jobSpec']['baseOutputDirectory']['outputUriPrefix'],
                         rf'^gs://{vertex_jobs.BUCKET}/aiplatform-custom-training-')
        self.assertEqual(job['labels'], {'team': 'a'})
        self.assertEqual(job['jobSpec']['scheduling'], {'timeout': '600s'})
        pool, = job['jobSpec']['workerPoolSpecs']
        self.assertEqual(pool['diskSpec'], {'bootDiskType': 'pd-ssd', 'bootDiskSizeGb': 120})
        self.assertEqual(pool['pythonPackageSpec']['env'], [{'name': 'A', 'value': 'b'}])

    def test_of_a_python_package(self):
        training = aiplatform.CustomPythonPackageTrainingJob(
            display_name='package', python_package_gcs_uri=self.put_package(),
            python_module_name='trainer.task', container_uri=vertex_jobs.EXECUTOR)
        self.assertIsNone(training.run(args=['--rate=3'], base_output_dir=OUTPUT + '/package'))
        model, job = self.model_of(training)
        self.assertEqual(model, '--rate=3')
        self.assertIn(('workerpool0-0', 'line 2 --rate=3'), self.lines(job['name']))

    def test_of_a_container(self):
        training = aiplatform.CustomContainerTrainingJob(
            display_name='container', container_uri=vertex_jobs.IMAGE,
            command=['/bin/sh', '-c', 'echo "$0 $AIP_MODEL_DIR $GREETING"'])
        self.assertIsNone(training.run(args=['first'], base_output_dir=OUTPUT,
                                       environment_variables={'GREETING': 'hello'}))
        job = training.to_dict()['trainingTaskMetadata']['backingCustomJob']
        self.assertEqual(self.lines(job), [('workerpool0-0', f'first {OUTPUT}/model/ hello')])
        self.assertEqual(training.state, PipelineState.PIPELINE_STATE_SUCCEEDED)

    def test_with_several_replicas_have_a_pool_of_workers(self):
        training = aiplatform.CustomPythonPackageTrainingJob(
            display_name='cluster', python_package_gcs_uri=self.put_package(),
            python_module_name='trainer.cluster', container_uri=vertex_jobs.EXECUTOR)
        training.run(replica_count=3, environment_variables={'WHO': 'i'}, args=['end'])
        job = training.to_dict()['trainingTaskMetadata']['backingCustomJob']
        lines = [line for line in self.lines(job) if line[1].startswith('i ')]
        self.assertEqual(sorted(lines), [('workerpool0-0', 'i chief end'), ('workerpool1-0', 'i worker end'),
                                         ('workerpool1-1', 'i worker end')])

    def test_that_fail_raise_the_services_error(self):
        training = aiplatform.CustomTrainingJob(
            display_name='fail', script_path=str(self.script), container_uri=vertex_jobs.EXECUTOR)
        with self.assertRaisesRegex(RuntimeError, r'(?s)^Training failed with:\ncode: 3\nmessage: "The replica '
                                    r'workerpool0-0 exited with a non-zero status of 1.*the data is bad'):
            training.run(args=['fail'])
        self.assertTrue(training.has_failed)

    def test_of_the_preview_use_the_beta_version(self):
        pool = {'machine_spec': {'machine_type': 'n1-standard-4'}, 'replica_count': 1,
                'container_spec': {'image_uri': vertex_jobs.IMAGE}}
        job = preview_jobs.CustomJob(display_name='preview', worker_pool_specs=[pool])
        job.submit()  # run() of this class calls its own submit() with a parameter that it does not have
        job.wait_for_completion()
        self.assertEqual(job.state.name, 'JOB_STATE_SUCCEEDED')
        self.assertIn(f'POST /v1beta1/{self.collection()} ',
                      (self.emulator.state / 'access.log').read_text())
        job.delete()
        with self.assertRaisesRegex(exceptions.NotFound, 'The CustomJob does not exist.'):
            aiplatform.CustomJob.get(job.resource_name)

    def test_are_cancelled_while_they_run(self):
        training = aiplatform.CustomContainerTrainingJob(
            display_name='cancel', container_uri=vertex_jobs.IMAGE, command=['sleep', '600'])
        training.run(sync=False)
        training.wait_for_resource_creation()
        support.wait_for(lambda: training.state == PipelineState.PIPELINE_STATE_RUNNING, 'the pipeline to run')
        training.cancel()
        with self.assertRaisesRegex(RuntimeError, r'^Training failed with:\ncode: 1\n'):
            training.wait()
        self.assertEqual(training.state, PipelineState.PIPELINE_STATE_CANCELLED)

    def test_are_found_by_filters_and_deleted(self):
        made = []
        for name in ('list-a', 'list-b'):
            training = aiplatform.CustomContainerTrainingJob(
                display_name=name, container_uri=vertex_jobs.IMAGE, labels={'series': 'list', 'of': name})
            training.run()
            made.append(training.resource_name)

        def names(text, **how):
            found = aiplatform.CustomContainerTrainingJob.list(filter=text, **how)
            return [training.resource_name for training in found]
        self.assertEqual(names('labels.series=list', order_by='create_time'), made)
        self.assertEqual(names('labels.series=list AND state="PIPELINE_STATE_FAILED"'), [])
        self.assertEqual(names('labels.of=list-a AND state="PIPELINE_STATE_SUCCEEDED"'), made[:1])
        definition = 'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml'
        self.assertEqual(names(f'labels.of=list-b AND training_task_definition="{definition}"'), made[1:])
        training.delete()
        self.assertEqual(names('labels.series=list'), made[:1])
        with self.assertRaisesRegex(exceptions.NotFound, 'The TrainingPipeline does not exist.'):
            aiplatform.CustomContainerTrainingJob.get(made[1])

    def test_are_found_by_their_own_names(self):
        training = aiplatform.CustomContainerTrainingJob(display_name='named', container_uri=vertex_jobs.IMAGE)
        training.run()
        for text in ('display_name="named"', 'display_name:named*',
                     'display_name:"nam*" AND training_task_definition:"*custom_task*"'):
            with self.subTest(text):
                found = aiplatform.CustomContainerTrainingJob.list(filter=text)
                self.assertEqual([one.resource_name for one in found], [training.resource_name])

    def test_do_not_upload_models(self):
        training = aiplatform.CustomContainerTrainingJob(
            display_name='model', container_uri=vertex_jobs.IMAGE,
            model_serving_container_image_uri='gcr.io/demo/serve:v1')
        with self.assertRaisesRegex(exceptions.MethodNotImplemented, 'modelToUpload'):
            training.run(model_display_name='model')


class OverGrpc:
    """The same tests with the SDK's default transport, which needs no setting."""

    @classmethod
    def setUpClass(cls):
        """gRPC reads the certificate authorities once in a process, so all these emulators have the same."""
        super().setUpClass()
        if OverGrpc.authority is None:
            OverGrpc.authority = Path(tempfile.mkdtemp(prefix='caip-client-')) / 'ca'
            unittest.addModuleCleanup(shutil.rmtree, OverGrpc.authority.parent)
            shutil.copytree(cls.emulator.state / 'ca', OverGrpc.authority)

    authority = None

    def way(self):
        """No setting at all."""
        return {}


class CustomJobsOverGrpc(OverGrpc, CustomJobs):
    """aiplatform.CustomJob over gRPC."""

    def test_use_grpc(self):
        job = self.container('transport')
        self.assertIn('grpc', type(job.api_client.select_version('v1').transport).__name__.lower())


class PipelinesOverGrpc(OverGrpc, Pipelines):
    """The classes that make a TrainingPipeline over gRPC."""


# A user's program, which knows nothing of an emulator.
PROGRAM = '''
import json
import sys

from google.cloud import aiplatform

aiplatform.init(project='demo-project', location='europe-west4', staging_bucket='gs://staging-bkt'%s)
image = 'us-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.1-6.py310:latest'
job = aiplatform.CustomJob.from_local_script(display_name='by-environment', script_path=sys.argv[1],
                                             container_uri=image, args=['4'])
job.run()
training = aiplatform.CustomTrainingJob(display_name='by-environment', script_path=sys.argv[1],
                                        container_uri=image)
training.run(args=['5'])
mine = 'display_name="by-environment"'
answer = {'names': [job.resource_name, training.resource_name],
          'states': [job.state.name, training.state.name],
          'listed': [one.resource_name for one in aiplatform.CustomJob.list(filter=mine)]}
job.delete()
answer['left'] = len(aiplatform.CustomJob.list(filter=mine))
print(json.dumps(answer))
'''


class ByEnvironment(vertex_jobs.VertexTest):
    """The variables of `caip env --tls`: the service's own names, through the emulator as a proxy."""

    region = 'europe-west4'
    words = ('--tls',)
    setting = ", api_transport='rest'"

    def test_a_program_that_names_no_endpoint(self):
        variables = json.loads(self.emulator.caip('env', *self.words, '--format', 'json', '--project',
                                                  'demo-project').stdout)
        program, script = self.directory / 'program.py', self.directory / 'train.py'
        program.write_text(PROGRAM % self.setting)
        script.write_text(vertex_jobs.TASK)
        done = support.run([sys.executable, program, script],
                           env={**support.clean_environment(), **variables}, cwd=self.directory)
        answer = json.loads(done.stdout.splitlines()[-1])
        job, training = answer['names']
        place = rf'projects/{vertex_jobs.NUMBER}/locations/europe-west4'
        self.assertRegex(job, rf'^{place}/customJobs/\d+$')
        self.assertRegex(training, rf'^{place}/trainingPipelines/\d+$')
        self.assertEqual(answer['states'], ['JOB_STATE_SUCCEEDED', 'PIPELINE_STATE_SUCCEEDED'])
        self.assertEqual((answer['listed'], answer['left']), ([job], 0))
        models = sorted(path.read_text() for path in self.bucket.glob('*/model/model.txt'))
        self.assertEqual(models, ['4', '5'])


class ByEnvironmentOverGrpc(ByEnvironment):
    """The variables of `caip env` and the default transport: the program is unchanged."""

    words = ()
    setting = ''


if __name__ == '__main__':
    support.main()
