"""google-api-python-client for Vertex AI, with its own description of the API and with the emulator's."""

import json

import support
import vertex_jobs

# Runs inside the client's own environment; prints one JSON object.
PROGRAM = '''
import json, sys, time
from google.auth.credentials import AnonymousCredentials
from googleapiclient import discovery, errors

url, source = sys.argv[1:]
how = {'client_options': {'api_endpoint': url}}
if source == 'served':
    how = {'discoveryServiceUrl': url + '/discovery/v1/apis/{api}/{apiVersion}/rest'}
locations = discovery.build('aiplatform', 'v1', credentials=AnonymousCredentials(), cache_discovery=False,
                            **how).projects().locations()
jobs = locations.customJobs()
parent = 'projects/demo-project/locations/us-central1'
answer = {}


def job(name, *command):
    return {'displayName': name, 'labels': {'source': source}, 'jobSpec': {
        'scheduling': {'timeout': '600s'},
        'workerPoolSpecs': [{'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': '1',
                             'containerSpec': {'imageUri': 'gcr.io/demo/echo:v1', 'command': command}}]}}


def status(request):
    try:
        return request.execute()
    except errors.HttpError as error:
        return [int(error.resp.status), error.reason]


def ended(resource, name):
    deadline = time.monotonic() + 60
    while 'endTime' not in resource.get(name=name).execute():
        assert time.monotonic() < deadline, name
        time.sleep(0.05)
    return resource.get(name=name, fields='name,state,error(code)').execute()


made = [jobs.create(parent=parent, body=job(source + name, 'true')).execute() for name in 'abc']
answer['created'] = made[0]
names = [one['name'] for one in made]
answer['ended'] = [ended(jobs, name) == {'name': name, 'state': 'JOB_STATE_SUCCEEDED'} for name in names]
pages, request = [], jobs.list(parent=parent, pageSize=2, filter='labels.source=' + source, readMask='name')
while request is not None:
    page = request.execute()
    pages.append([names.index(one.pop('name')) for one in page['customJobs']])
    assert not any(page['customJobs']), page  # the mask selects the name alone
    request = jobs.list_next(request, page)
answer['pages'] = pages
answer['none'] = jobs.list(parent=parent, filter='display_name="none"').execute()

slow = jobs.create(parent=parent, body=job('slow', 'sleep', '600')).execute()['name']
answer['running'] = status(jobs.delete(name=slow))
answer['cancel'] = jobs.cancel(name=slow, body={}).execute()
answer['cancelled'] = ended(jobs, slow)
operation = jobs.delete(name=slow).execute()
answer['operation'] = operation
answer['same'] = locations.operations().get(name=operation['name']).execute() == operation
answer['waited'] = locations.operations().wait(name=operation['name'], timeout='1s').execute() == operation
answer['gone'] = status(jobs.get(name=slow))
answer['bad'] = status(jobs.create(parent=parent, body={'displayName': ''}))

pipelines = locations.trainingPipelines()
schema = 'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml'
pipeline = pipelines.create(parent=parent, body={
    'displayName': 'pipeline', 'trainingTaskDefinition': schema,
    'trainingTaskInputs': {'worker_pool_specs': [
        {'replicaCount': 1.0, 'machine_spec': {'machineType': 'n1-standard-4'},
         'containerSpec': {'image_uri': 'gcr.io/demo/echo:v1'}}]}}).execute()
answer['pipeline'] = ended(pipelines, pipeline['name'])['state']
answer['backing'] = jobs.get(name=pipelines.get(name=pipeline['name']).execute()['trainingTaskMetadata'][
    'backingCustomJob'], fields='state').execute()
print(json.dumps(answer))
'''


class Client(vertex_jobs.VertexTest):
    """The same program, with both descriptions."""

    @classmethod
    def setUpClass(cls):
        cls.python = support.virtualenv('current', 'google-api-python-client')
        super().setUpClass()
        cls.program = cls.directory / 'program.py'
        cls.program.write_text(PROGRAM)

    def check(self, source):
        done = support.run([self.python, '-W', 'ignore', self.program, self.emulator.url, source],
                           env=self.emulator.env)
        answer = json.loads(done.stdout)
        created = answer['created']
        self.assertRegex(created['name'], rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/customJobs/\d+$')
        self.assertEqual(created['state'], 'JOB_STATE_PENDING')
        self.assertEqual(created['createTime'], created['updateTime'])
        self.assertEqual(created['jobSpec']['scheduling'], {'timeout': '600s'})
        self.assertEqual(created['jobSpec']['workerPoolSpecs'][0]['replicaCount'], '1')
        self.assertEqual(answer['ended'], [True, True, True])
        self.assertEqual(answer['pages'], [[2, 1], [0]])
        self.assertEqual((answer['none'], answer['cancel']), ({}, {}))
        self.assertEqual(answer['running'][0], 400)
        self.assertIn('Cancel it, and wait for its end.', answer['running'][1])
        self.assertEqual((answer['cancelled']['state'], answer['cancelled']['error']),
                         ('JOB_STATE_CANCELLED', {'code': 1}))
        operation = answer['operation']
        self.assertRegex(operation['name'],
                         rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/operations/\d+$')
        self.assertEqual(operation['metadata']['@type'],
                         'type.googleapis.com/google.cloud.aiplatform.v1.DeleteOperationMetadata')
        self.assertTrue(operation['done'] and answer['same'] and answer['waited'])
        self.assertEqual(answer['gone'], [404, 'The CustomJob does not exist.'])
        self.assertEqual(answer['bad'], [400, 'List of found errors:\t1.Field: display_name; Message: Required field '
                                         'is not set.\t2.Field: job_spec; Message: Required field is not set.'])
        self.assertEqual(answer['pipeline'], 'PIPELINE_STATE_SUCCEEDED')
        self.assertEqual(answer['backing'], {'state': 'JOB_STATE_SUCCEEDED'})

    def test_with_its_own_description(self):
        self.check('own')

    def test_with_the_emulators_description(self):
        self.check('served')

    def test_descriptions_agree(self):
        """Every method, parameter and field of the emulator's description is one of the service's."""
        for version in ('v1', 'v1beta1'):
            with self.subTest(version):
                self.compare(version)

    def compare(self, version):
        source = ('import os, sys, googleapiclient; sys.stdout.write(open(os.path.join(os.path.dirname('
                  f'googleapiclient.__file__), "discovery_cache/documents/aiplatform.{version}.json")).read())')
        real = json.loads(support.run([self.python, '-c', source], cwd=self.directory).stdout)
        ours = self.call(f'discovery/v1/apis/aiplatform/{version}/rest')
        theirs, mine = dict(methods_of(real)), dict(methods_of(ours))
        for kind in ('customJobs', 'trainingPipelines'):
            self.assertEqual([name for name in sorted(mine) if f'.{kind}.' in name],
                             [f'aiplatform.projects.locations.{kind}.{verb}'
                              for verb in ('cancel', 'create', 'delete', 'get', 'list')])
        for name, method in mine.items():
            self.assertIn(name, theirs)
            for key in ('httpMethod', 'path', 'flatPath', 'parameterOrder', 'request', 'response'):
                self.assertEqual(method.get(key), theirs[name].get(key), f'{name} {key}')
            for parameter, schema in method['parameters'].items():
                there = theirs[name]['parameters'][parameter]
                for key in ('location', 'type', 'format', 'pattern', 'required', 'repeated'):
                    self.assertEqual(schema.get(key), there.get(key), f'{name} {parameter} {key}')
        for name, schema in ours['schemas'].items():
            self.assertIn(name, real['schemas'])
            fields = real['schemas'][name].get('properties', {})
            for field, value in schema.get('properties', {}).items():
                self.assertIn(field, fields, name)
                for key in ('format', 'readOnly'):
                    self.assertEqual(value.get(key), fields[field].get(key), f'{name} {field} {key}')
                self.assertEqual(sorted(value.get('enum', [])), sorted(fields[field].get('enum', [])), field)
        for name in ('CustomJob', 'CustomJobSpec', 'WorkerPoolSpec', 'MachineSpec', 'ContainerSpec',
                     'PythonPackageSpec', 'Scheduling', 'TrainingPipeline'):
            name = 'GoogleCloudAiplatform' + version.capitalize() + name
            self.assertEqual(set(ours['schemas'][name]['properties']),
                             set(real['schemas'][name]['properties']), name)


def methods_of(resource):
    """(id, method) of all methods, at any depth."""
    for method in resource.get('methods', {}).values():
        yield method['id'], method
    for inner in resource.get('resources', {}).values():
        yield from methods_of(inner)


if __name__ == '__main__':
    support.main()
