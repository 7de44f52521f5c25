#!/usr/bin/env python3
"""/gcs in replicas of Vertex AI: buckets as directories, on machines and in processes, and the log of containers."""

import io
import json
import sys
import tarfile
import threading
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

REGION = 'us-central1'
IMAGE = 'gcr.io/demo/shell:v1'
MAPPED = f'companions: []\nimages: {{"{IMAGE}": [sh]}}\n'
# A package that builds itself, so that pip needs neither setuptools nor the network.
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = '''
import zipfile

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name, info = 'trainer-0.1-py3-none-any.whl', 'trainer-0.1.dist-info/'
    files = {'trainer/__init__.py': '', 'trainer/task.py': open('trainer/task.py').read(),
             info + 'METADATA': 'Metadata-Version: 2.1\\nName: trainer\\nVersion: 0.1\\n',
             info + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'}
    files[info + 'RECORD'] = ''.join(file + ',,\\n' for file in [*files, info + 'RECORD'])
    with zipfile.ZipFile(directory + '/' + name, 'w') as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return name
'''
TASK = "import sys\nprint('trained with', *sys.argv[1:], flush=True)\n"


class OnVertex(support.EmulatorTest):
    """Runs shell scripts as custom jobs of one container."""

    @classmethod
    def setUpClass(cls):
        if cls is OnVertex:
            raise unittest.SkipTest('the base of the other classes')
        super().setUpClass()
        cls.bucket = cls.emulator.bucket('bkt')

    def ask(self, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.emulator.url + target, data,
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def run_script(self, script, env=None, args=()):
        """The job of `sh -c SCRIPT` when it has ended, and its log entries."""
        spec = {'workerPoolSpecs': [{'machineSpec': {'machineType': 'n1-standard-4'}, 'containerSpec': {
            'imageUri': IMAGE, 'command': ['sh', '-c', script], 'args': list(args),
            'env': [{'name': name, 'value': value} for name, value in (env or {}).items()]}}]}
        target = f'/v1/projects/{self.emulator.project}/locations/{REGION}/customJobs'
        name = self.ask(target, {'displayName': 'shell', 'jobSpec': spec})['name']

        def ended():
            job = self.ask(f'/v1/{name}')
            return job if 'endTime' in job else None
        job = support.wait_for(ended, f'the end of {script}', 120)
        number = name.rpartition('/')[2]
        log = self.ask('/v2/entries:list', {
            'resourceNames': [f'projects/{self.emulator.project}'], 'orderBy': 'timestamp asc',
            'filter': f'resource.labels.job_id="{number}" AND resource.labels.task_name="workerpool0-0"'})
        return job, log.get('entries', [])

    def expect_success(self, script, **more):
        job, entries = self.run_script(script, **more)
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED', json.dumps([job, entries], indent=1))
        return entries

    def texts(self, entries):
        return [entry.get('textPayload') for entry in entries]

    def put(self, name, data):
        path = self.emulator.directory / 'upload'
        path.write_bytes(data)
        self.emulator.caip('cp', path, f'gs://bkt/{name}')

    def resource(self, name):
        return self.ask(f'/storage/v1/b/bkt/o/{name.replace("/", "%2F")}')


class OnMachines(OnVertex):
    config = 'isolation: machine\n' + MAPPED

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        super().setUpClass()

    def test_objects_are_files_and_files_become_objects(self):
        self.put('in/data.txt', b'three words here')
        entries = self.expect_success(
            'wc -w < /gcs/bkt/in/data.txt && mkdir -p /gcs/bkt/out/deep && '
            'printf model > /gcs/bkt/out/deep/model.bin && mv /gcs/bkt/out/deep/model.bin /gcs/bkt/out/model.bin')
        self.assertEqual(self.texts(entries), ['3'])
        stored = self.resource('out/model.bin')
        self.assertEqual((stored['size'], stored['contentType']), ('5', 'application/octet-stream'))
        self.assertEqual(self.emulator.caip('cat', 'gs://bkt/out/model.bin').stdout, 'model')
        listed = self.ask('/storage/v1/b/bkt/o?prefix=out/')
        self.assertEqual([item['name'] for item in listed['items']], ['out/model.bin'])

    def test_a_changed_file_is_a_new_generation(self):
        self.put('again.txt', b'one')
        before = self.resource('again.txt')
        self.expect_success('printf three > /gcs/bkt/again.txt')
        after = self.resource('again.txt')
        self.assertGreater(int(after['generation']), int(before['generation']))
        self.assertEqual(after['size'], '5')

    def test_what_the_emulator_keeps_among_the_buckets_is_hidden(self):
        self.put('versions.txt', b'one')
        entries = self.expect_success(
            'for own in .caip-tmp .caip-versions; do ls -A /gcs/$own; mv /gcs/$own /gcs/bkt/ 2>/dev/null && echo moved; '
            'ln -s /etc /gcs/$own/link 2>/dev/null && echo linked; rmdir /gcs/$own 2>/dev/null && echo removed; done; '
            'umount /gcs/.caip-tmp 2>/dev/null && echo unmounted; ls /gcs')
        self.assertNotIn('moved', self.texts(entries))
        self.assertEqual([text for text in self.texts(entries) if text.endswith('ed')], [])

    def test_a_bucket_that_is_created_later_appears(self):
        def create():
            support.wait_for((self.bucket / 'started').exists, 'the start of the job')
            self.emulator.caip('buckets', 'create', 'later')
        thread = threading.Thread(target=create)
        thread.start()
        self.addCleanup(thread.join)
        entries = self.expect_success('touch /gcs/bkt/started; until test -d /gcs/later; do sleep 0.05; done; '
                                      'echo there')
        self.assertEqual(self.texts(entries), ['there'])

    def test_the_command_of_the_python_client_installs_a_package_from_a_bucket(self):
        """google-cloud-aiplatform sends it for images that are not pre-built."""
        probe = support.run(['/usr/bin/env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'python3', '-c',
                             'import pip'], check=False)
        if probe.returncode:
            self.skipTest('the python3 of PATH has no pip')
        name = 'aiplatform-2026-01-31-23:59:59.123-aiplatform_custom_trainer_script-0.1.tar.gz'
        self.put(name, sdist())
        entries = self.expect_success(
            f'pip3 install -q --user /gcs/bkt/{name} && python3 -m trainer.task --epochs=2',
            env={'PIP_NO_INDEX': '1', 'PIP_DISABLE_PIP_VERSION_CHECK': '1'})
        self.assertIn('trained with --epochs=2', self.texts(entries))


class InProcesses(OnVertex):
    config = 'isolation: process\n' + MAPPED

    def test_paths_in_words_are_replaced_and_the_log_says_so(self):
        self.put('in.txt', b'seen')
        entries = self.expect_success('cat /gcs/bkt/in.txt > "$OUT"; cat "$0"', args=['/gcs/bkt/in.txt'],
                                      env={'OUT': '/gcs/bkt/out.txt'})
        self.assertEqual(self.emulator.caip('cat', 'gs://bkt/out.txt').stdout, 'seen')
        warning, printed = entries
        self.assertEqual(warning['severity'], 'WARNING')
        self.assertIn('/gcs does not exist', warning['jsonPayload']['message'])
        self.assertEqual(printed['textPayload'], 'seen')

    def test_a_job_that_names_no_such_path_has_no_warning(self):
        self.assertEqual(self.texts(self.expect_success('echo quiet')), ['quiet'])

    def test_lines_of_containers_are_texts_or_json_objects(self):
        entries = self.expect_success(
            'echo plain; echo error >&2; echo \'{"severity": "WARNING", "message": "m", "step": 3}\'; '
            'echo \'{"step": 4}\'; echo \'{"severity": "ALERT"\'')
        seen = sorted((entry['severity'], json.dumps(entry.get('textPayload') or entry['jsonPayload']))
                      for entry in entries)
        self.assertEqual(seen, sorted([
            ('DEFAULT', '"plain"'), ('DEFAULT', '"error"'),
            ('WARNING', '{"message": "m", "step": 3}'), ('DEFAULT', '{"step": 4}'),
            ('DEFAULT', json.dumps('{"severity": "ALERT"'))]))
        found = self.ask('/v2/entries:list', {
            'resourceNames': [f'projects/{self.emulator.project}'], 'filter': 'jsonPayload.step=3'})
        self.assertEqual(len(found['entries']), 1)

    def test_the_error_of_a_container_has_its_traceback(self):
        job, entries = self.run_script(f'{sys.executable} -c "1/0"')
        self.assertIn('ZeroDivisionError', job['error']['message'])
        self.assertEqual(entries[0]['textPayload'], 'Traceback (most recent call last):')
        self.assertEqual({entry['severity'] for entry in entries}, {'DEFAULT'})


def sdist():
    """A source distribution with the module trainer.task."""
    data = io.BytesIO()
    files = {'pyproject.toml': PROJECT, 'backend.py': BACKEND, 'trainer/__init__.py': '', 'trainer/task.py': TASK,
             'PKG-INFO': 'Metadata-Version: 1.0\nName: trainer\nVersion: 0.1\n'}
    with tarfile.open(fileobj=data, mode='w:gz') as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f'trainer-0.1/{name}')
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


if __name__ == '__main__':
    support.main()
