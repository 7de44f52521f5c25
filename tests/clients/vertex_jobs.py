"""What the tests of Vertex AI's clients have in common: an emulator, a trainer, and how a job ended."""

import io
import json
import tarfile
import tempfile
import urllib.request
from pathlib import Path

import support

BUCKET = 'staging-bkt'
IMAGE = 'gcr.io/demo/echo:v1'
EXECUTOR = 'us-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.1-6.py310:latest'
NUMBER = '123456789012'  # of every project, in answers

# A trainer of the service, which knows nothing of an emulator: it stores the model with Cloud Storage's
# own address.
TASK = r'''
import os
import sys
import time
import urllib.parse
import urllib.request


def save(name, data):
    bucket, _, folder = os.environ['AIP_MODEL_DIR'][len('gs://'):].partition('/')
    url = 'https://storage.googleapis.com/upload/storage/v1/b/{}/o?uploadType=media&name={}'.format(
        bucket, urllib.parse.quote(folder + name, safe=''))
    urllib.request.urlopen(urllib.request.Request(url, data=data.encode(), method='POST')).read()


for number in range(3):
    print('line', number, *sys.argv[1:], flush=True)
if 'fail' in sys.argv:
    raise ValueError('the data is bad')
if 'wait' in sys.argv:
    time.sleep(600)
save('model.txt', ' '.join(sys.argv[1:]))
print('the last words', flush=True)
'''

# The chief ends as soon as every worker has connected to it, and the job ends with the chief.
CLUSTER = r'''
import json
import os
import socket
import sys
import time

config = json.loads(os.environ['TF_CONFIG'])
host, port = config['cluster']['chief'][0].split(':')
print(os.environ['WHO'], config['task']['type'], *sys.argv[1:], flush=True)
if config['task']['type'] == 'chief':
    listener = socket.create_server((host, int(port)))
    for _ in config['cluster']['worker']:
        listener.accept()[0].close()
else:
    while True:
        try:
            socket.create_connection((host, int(port))).close()
            break
        except OSError:
            time.sleep(0.05)
'''

SETUP = '''
from setuptools import find_packages, setup
setup(name='trainer', version='0.1', packages=find_packages())
'''


class VertexTest(support.EmulatorTest):
    """One emulator with a bucket, a mapped container and a directory for files of the client."""

    flags = ('--map-image', IMAGE + """=/bin/sh -c 'echo "a container: $GREETING" "$@"' sh""")
    region = 'us-central1'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bucket = cls.emulator.bucket(BUCKET)
        directory = tempfile.TemporaryDirectory(prefix='caip-client-')
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)

    @classmethod
    def collection(cls):
        """The custom jobs of the region, in a path."""
        return f'projects/demo-project/locations/{cls.region}/customJobs'

    @classmethod
    def call(cls, path, body=None):
        """The answer to a plain request, for what a test needs besides the client's own calls."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f'{cls.emulator.url}/{path}', data=data,
                                         headers={'Content-Type': 'application/json'})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    @classmethod
    def create(cls, name, command=(), args=()):
        """The name of a new job that runs the container."""
        container = {'imageUri': IMAGE, 'command': list(command), 'args': list(args)}
        pool = {'machineSpec': {'machineType': 'n1-standard-4'}, 'replicaCount': 1,
                'containerSpec': container}
        return cls.call('v1/' + cls.collection(), {'displayName': name,
                                           'jobSpec': {'workerPoolSpecs': [pool]}})['name']

    @classmethod
    def find(cls, display_name):
        """The job with that display name."""
        jobs = cls.call('v1/' + cls.collection()).get('customJobs', [])
        found = [job for job in jobs if job['displayName'] == display_name]
        if len(found) != 1:
            raise AssertionError(f'{len(found)} jobs have the display name {display_name}')
        return found[0]

    @classmethod
    def wait(cls, name, *states):
        """The job, as soon as it is in one of the states."""
        def there():
            job = cls.call('v1/' + name)
            if job['state'].replace('JOB_STATE_', '') in states:
                return job
            if 'endTime' in job:
                raise AssertionError(f'{name} has ended in the state {job["state"]}: {job.get("error")}')
            return None
        return support.wait_for(there, f'{name} to be {states}')

    @classmethod
    def lines(cls, name):
        """The log of a job's replicas: (task, text) of each line."""
        job_id = name.rsplit('/', 1)[1]
        log = cls.call('v2/entries:list', {
            'resourceNames': ['projects/demo-project'], 'orderBy': 'timestamp asc', 'pageSize': 1000,
            'filter': f'resource.labels.job_id="{job_id}" AND resource.labels.task_name!="service"'})
        return [(entry['resource']['labels']['task_name'], message_of(entry))
                for entry in log.get('entries', [])]

    @classmethod
    def put_package(cls):
        """Uploads a source distribution of the trainer, and returns its address."""
        archive = cls.bucket / 'packages/trainer-0.1.tar.gz'
        archive.parent.mkdir(exist_ok=True)
        with tarfile.open(archive, 'w:gz') as tar:
            for name, text in (('setup.py', SETUP), ('trainer/__init__.py', ''),
                               ('trainer/task.py', TASK), ('trainer/cluster.py', CLUSTER)):
                member = tarfile.TarInfo('trainer-0.1/' + name)
                member.size = len(text.encode())
                tar.addfile(member, io.BytesIO(text.encode()))
        return f'gs://{BUCKET}/packages/{archive.name}'


def message_of(entry):
    """The text of a log entry."""
    return entry['textPayload'] if 'textPayload' in entry else entry['jsonPayload']['message']
