"""google-api-python-client, current and Debian's 1.7.12, with both discovery URLs."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

import support

# Fields that the service's messages have in gcloud, but not in its discovery document.
MESSAGES_ONLY = {'explanationInput', 'explanationOutput', 'nasJobOutput', 'nasJobSpec',
                 'resilientToWorkerRestart', 'strategy'}

# Runs inside the client's own environment; prints one JSON object.
PROGRAM = '''
import json, sys
from google.auth.credentials import AnonymousCredentials
import googleapiclient
from googleapiclient import discovery, errors

url, kind, prefix = sys.argv[1:4]
places = {'path': url + '/discovery/v1/apis/{api}/{apiVersion}/rest',
          'query': url + '/$discovery/rest?version={apiVersion}'}


def build(name, version):
    return discovery.build(name, version, discoveryServiceUrl=places[kind],
                           credentials=AnonymousCredentials(), cache_discovery=False)


ml = build('ml', 'v1')
jobs = ml.projects().jobs()
answer = {}
body = {'trainingInput': {'region': 'us-central1', 'scaleTier': 'BASIC',
                          'masterConfig': {'imageUri': 'gcr.io/demo/true:v1'}},
        'labels': {'kind': kind}}
for number in range(3):
    created = jobs.create(parent='projects/demo', body=dict(body, jobId=prefix + str(number)))
    answer['created'] = created.execute()['state']
name = 'projects/demo/jobs/' + prefix + '0'
answer['get'] = jobs.get(name=name).execute()['jobId']
answer['partial'] = jobs.get(name=name, fields='jobId,labels').execute()
pages, request = [], jobs.list(parent='projects/demo', pageSize=2, filter='jobId:' + prefix + '*')
while request is not None:
    page = request.execute()
    pages.append([job['jobId'] for job in page['jobs']])
    request = jobs.list_next(request, page)
answer['pages'] = pages
etag = jobs.get(name=name).execute()['etag']
patched = jobs.patch(name=name, updateMask='labels,etag',
                     body={'labels': {'new': 'yes'}, 'etag': etag}).execute()
answer['labels'] = patched['labels']
try:
    jobs.patch(name=name, updateMask='labels,etag', body={'labels': {}, 'etag': etag}).execute()
except errors.HttpError as error:
    answer['stale'] = int(error.resp.status)
answer['cancel'] = jobs.cancel(name=name, body={}).execute()
policy = {'bindings': [{'role': 'roles/viewer', 'members': ['user:a@example.com']}]}
answer['policy'] = jobs.setIamPolicy(resource=name, body={'policy': policy}).execute()['bindings']
answer['same'] = jobs.getIamPolicy(resource=name).execute()['bindings']
answer['permissions'] = jobs.testIamPermissions(
    resource=name, body={'permissions': ['ml.jobs.get']}).execute()
answer['config'] = ml.projects().getConfig(name='projects/demo').execute()
places_of = ml.projects().locations()
answer['locations'] = len(places_of.list(parent='projects/demo', pageSize=100)
                          .execute()['locations'])
answer['location'] = places_of.get(
    name='projects/demo/locations/us-central1').execute()['name']
answer['operations'] = ml.projects().operations().list(name='projects/demo').execute()
answer['models'] = ml.projects().models().list(parent='projects/demo').execute()
try:
    ml.projects().models().get(name='projects/demo/models/m').execute(num_retries=0)
except errors.HttpError as error:
    answer['model'] = int(error.resp.status)
try:
    jobs.get(name='projects/demo/jobs/none').execute()
except errors.HttpError as error:
    answer['missing'] = [int(error.resp.status), str(error)]

if kind == 'path':
    from googleapiclient.http import MediaInMemoryUpload
    storage = build('storage', 'v1')
    storage.buckets().insert(project='demo', body={'name': prefix.replace('_', '-') + 'b'}).execute()
    where = {'bucket': prefix.replace('_', '-') + 'b'}
    for resumable in (False, True):
        media = MediaInMemoryUpload(b'hello', 'text/plain', resumable=resumable)
        storage.objects().insert(name='dir/a b', media_body=media, **where).execute()
    answer['media'] = storage.objects().get_media(object='dir/a b', **where).execute().decode()
    answer['objects'] = storage.objects().list(fields='items(name,size)', **where).execute()
    storage.objects().delete(object='dir/a b', **where).execute()
print(json.dumps(answer))
'''


class Client:
    requirements = ()

    flags = ()
    config = 'images: {"gcr.io/demo/true:v1": [/bin/true]}\n'

    @classmethod
    def setUpClass(cls):
        cls.python = support.virtualenv(cls.__name__.lower(), *cls.requirements)
        super().setUpClass()
        directory = tempfile.TemporaryDirectory(prefix='caip-client-')
        cls.addClassCleanup(directory.cleanup)
        cls.program = Path(directory.name) / 'program.py'
        cls.program.write_text(PROGRAM)

    def ask(self, kind, prefix):
        done = support.run([self.python, '-W', 'ignore', self.program, self.emulator.url, kind,
                            prefix], env=self.emulator.env)
        return json.loads(done.stdout)

    def check(self, kind, prefix):
        answer = self.ask(kind, prefix)
        self.assertEqual(answer['created'], 'QUEUED')
        self.assertEqual(answer['get'], prefix + '0')
        self.assertEqual(answer['partial'], {'jobId': prefix + '0', 'labels': {'kind': kind}})
        self.assertEqual(answer['pages'], [[prefix + '2', prefix + '1'], [prefix + '0']])
        self.assertEqual(answer['labels'], {'new': 'yes'})
        self.assertEqual(answer['stale'], 409)
        self.assertEqual(answer['cancel'], {})
        self.assertEqual(answer['policy'], answer['same'])
        self.assertEqual(answer['permissions'], {'permissions': ['ml.jobs.get']})
        self.assertIn('serviceAccountProject', answer['config'])
        self.assertGreater(answer['locations'], 5)
        self.assertEqual(answer['location'], 'projects/demo/locations/us-central1')
        self.assertEqual(answer['operations'], {})
        self.assertEqual(answer['models'], {})
        self.assertEqual(answer['model'], 404)
        self.assertEqual(answer['missing'][0], 404)
        self.assertIn('The job could not be found.', answer['missing'][1])
        return answer

    def test_by_the_path_of_the_1_x_line(self):
        answer = self.check('path', 'by_path_')
        self.assertEqual(answer['media'], 'hello')
        self.assertEqual(answer['objects'], {'items': [{'name': 'dir/a b', 'size': '5'}]})

    def test_by_the_query_of_the_2_x_line(self):
        self.check('query', 'by_query_')


class Current(Client, support.EmulatorTest):
    requirements = ('google-api-python-client',)

    def test_document_agrees_with_the_services(self):
        """Every method and field of ours is one of the service's, and none of its methods is
        missing."""
        source = ('import json, googleapiclient, os; print(open(os.path.join(os.path.dirname('
                  'googleapiclient.__file__), "discovery_cache/documents/ml.v1.json")).read())')
        real = json.loads(support.run([self.python, '-c', source]).stdout)
        ours = json.loads(support.run(
            [self.python, '-c', 'import sys, urllib.request; sys.stdout.write('
             'urllib.request.urlopen(sys.argv[1]).read().decode())',
             self.emulator.url + '/discovery/v1/apis/ml/v1/rest'], env=self.emulator.env).stdout)
        theirs, mine = dict(methods_of(real)), dict(methods_of(ours))
        self.assertEqual(sorted(mine), sorted(theirs))
        for name, method in mine.items():
            for key in ('httpMethod', 'path', 'flatPath', 'parameterOrder', 'request', 'response'):
                self.assertEqual(method.get(key), theirs[name].get(key), f'{name} {key}')
            for parameter, schema in method['parameters'].items():
                there = theirs[name]['parameters'][parameter]
                for key in ('location', 'type', 'format', 'pattern', 'required', 'repeated'):
                    self.assertEqual(schema.get(key), there.get(key), f'{name} {parameter} {key}')
        for name, schema in ours['schemas'].items():
            self.assertIn(name, real['schemas'])
            more = set(schema.get('properties', {})) - MESSAGES_ONLY
            self.assertEqual(more, set(real['schemas'][name].get('properties', {})), name)


class Debian(Client, support.EmulatorTest):
    # What Debian 12 packages as python3-googleapi; six.moves needs a Python before 3.12.
    requirements = ('google-api-python-client==1.7.12', 'google-auth<2', 'httplib2<0.23',
                    'google-auth-httplib2<0.1', 'setuptools<81')

    @classmethod
    def setUpClass(cls):
        if sys.version_info >= (3, 12):
            raise unittest.SkipTest('this Python is newer than what 1.7.12 runs on')
        super().setUpClass()


def methods_of(resource):
    """(id, method) of all methods, at any depth."""
    for method in resource.get('methods', {}).values():
        yield method['id'], method
    for inner in resource.get('resources', {}).values():
        yield from methods_of(inner)


if __name__ == '__main__':
    support.main()
