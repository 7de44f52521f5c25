"""A project with the files that examples name, and a state directory with the jobs that they name."""

import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

from found import CAIP, ROOT

sys.path.insert(0, str(ROOT / 'tests/support'))
import machines  # noqa: E402
import shared_modules  # noqa: E402

PROJECT = 'demo'
BUSYBOX = pathlib.Path('/bin/busybox')
ARCHITECTURE = 'arm64' if platform.machine() == 'aarch64' else 'amd64'
# An example takes at most this time; several times as long under a sanitizer.
SECONDS = 1200 if os.environ.get('CAIP_SANITIZE') else 240
BUCKETS = ('my-bucket', 'other', 'data')
# Without these, an example could not tell whether it or the surroundings of the test failed.
CLEARED = ('CAIP_', 'CLOUDSDK_', 'COLUMNS')

ARGUMENTS = '''    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--data")
    parser.add_argument("--out")
    args = parser.parse_args()
'''
# Only the master trains: the other replicas of an example's cluster have nothing to do.
ROLES = '''    if json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("type") not in (None, "master", "chief"):
        print("ready", flush=True)
        return
'''
WAIT = '''
import signal
signal.signal(signal.SIGTERM, lambda *_: exit(1))
print("waits", flush=True)
signal.pause()
'''
TUNE = '''
import json, os
if "CLOUD_ML_TRIAL_ID" not in os.environ:
    exit()
value = int(os.environ["CLOUD_ML_TRIAL_ID"])
with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w") as file:
    file.write(json.dumps({"accuracy": str(value), "global_step": "1", "timestamp": 1.0,
                           "trial": os.environ["CLOUD_ML_TRIAL_ID"]}) + "\\n")
'''
CLUSTER = '''
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: 1
  runtimeVersion: "2.11"
  pythonVersion: "3.7"
'''
STUDY = '''
trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    maxTrials: 3
    maxParallelTrials: 3
    params:
    - {parameterName: rate, type: DOUBLE, minValue: 0.1, maxValue: 0.3}
'''
SPEC = '''
workerPoolSpecs:
- machineSpec: {machineType: n1-standard-4}
  containerSpec: {imageUri: gcr.io/p/digits}
'''
TUNING = '''
studySpec:
  metrics: [{metricId: accuracy, goal: MAXIMIZE}]
  parameters:
  - {parameterId: rate, doubleValueSpec: {minValue: 0.1, maxValue: 0.3}}
trialJobSpec:
  workerPoolSpecs:
  - machineSpec: {machineType: n1-standard-4}
    containerSpec: {imageUri: gcr.io/p/digits}
'''
TRAINING = '''
jobId: census
trainingInput:
  region: us-central1
  runtimeVersion: "2.11"
  pythonModule: trainer.task
  packageUris: [gs://my-bucket/trainer-0.1.tar.gz]
'''
JOB = ['--region', 'us-central1', '--staging-bucket', 'gs://my-bucket', '--package-path', 'trainer',
       '--runtime-version', '2.11', '--python-version', '3.7']


def environment(state, home):
    """Of a user whose caip is on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(CLEARED)}
    return {**kept, 'CAIP_STATE': str(state), 'HOME': str(home), 'GITHUB_ENV': str(home / 'github.env'),
            'CLOUDSDK_CORE_PROJECT': PROJECT,
            'PATH': f'{pathlib.Path(CAIP).parent}:{os.environ["PATH"]}'}


def wait_for(condition, what):
    """The first true value of the condition."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f'not within {SECONDS} seconds: {what}')


def need_image_programs():
    """Skips if the programs of the project's images cannot run on this host."""
    if not BUSYBOX.exists():
        raise unittest.SkipTest(f'busybox is not in {BUSYBOX.parent}')
    machines.need(CAIP)


def docker_archive(path, name):
    """What `docker save` writes, of an image that has busybox as /bin/true. Without busybox, it has no file."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with tarfile.open(folder / 'layer.tar', 'w') as layer:
            if BUSYBOX.exists():
                layer.add(BUSYBOX.resolve(), 'bin/true')
        digest = hashlib.sha256((folder / 'layer.tar').read_bytes()).hexdigest()
        (folder / 'config.json').write_text(json.dumps({
            'architecture': ARCHITECTURE, 'os': 'linux', 'config': {'Entrypoint': ['/bin/true']},
            'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + digest]}}))
        (folder / 'manifest.json').write_text(json.dumps([{
            'Config': 'config.json', 'RepoTags': [name], 'Layers': ['layer.tar']}]))
        with tarfile.open(path, 'w') as archive:
            for file in ('layer.tar', 'config.json', 'manifest.json'):
                archive.add(folder / file, file)


def oci_layout(folder):
    """A directory with an OCI layout whose image has the tag v1."""
    blobs = folder / 'blobs/sha256'
    blobs.mkdir(parents=True)

    def blob(content, media_type):
        data = json.dumps(content).encode()
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {'mediaType': media_type, 'digest': 'sha256:' + digest, 'size': len(data)}
    config = blob({'architecture': ARCHITECTURE, 'os': 'linux', 'config': {'Cmd': ['/bin/true']},
                   'rootfs': {'type': 'layers', 'diff_ids': []}}, 'application/vnd.oci.image.config.v1+json')
    manifest = blob({'schemaVersion': 2, 'config': config, 'layers': []}, 'application/vnd.oci.image.manifest.v1+json')
    manifest['annotations'] = {'org.opencontainers.image.ref.name': 'v1'}
    (folder / 'oci-layout').write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / 'index.json').write_text(json.dumps({'schemaVersion': 2, 'manifests': [manifest]}))


def make_project(folder):
    """The trainer of `caip init`, and the files beside it."""
    subprocess.run([CAIP, 'init', 'plain', str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                   check=True)
    task = folder / 'trainer/task.py'
    source = task.read_text().replace('    args = parser.parse_args()\n', ARGUMENTS)
    source = source.replace('"--job-dir", required=True', '"--job-dir", default=os.environ.get("AIP_CHECKPOINT_DIR", "out")')
    source = source.replace('    parser = argparse', ROLES + '    parser = argparse')
    source = source.replace('import json\n', 'import json\nimport os\n')
    task.write_text(source)
    (folder / 'trainer/wait.py').write_text(WAIT)
    (folder / 'trainer/tune.py').write_text(TUNE)
    for name in ('mine.yaml', 'my.yaml'):
        shutil.copy(folder / 'restarts.yaml', folder / name)
    (folder / 'cluster.yaml').write_text(CLUSTER)
    (folder / 'job.yaml').write_text('labels: {team: vision}\n')
    (folder / 'study.yaml').write_text(STUDY)
    (folder / 'spec.yaml').write_text(SPEC)
    (folder / 'tuning.yaml').write_text(TUNING)
    (folder / 'training.yaml').write_text(TRAINING)
    program = ('import runpy, sys\nsys.argv = [sys.argv[0], "--job-dir", "run"] + [word for word in sys.argv[1:] '
               'if not word.startswith("{")]\nrunpy.run_module("trainer.task", run_name="__main__")\n')
    (folder / 'train.py').write_text(program)
    (folder / 'src').mkdir()
    shutil.copytree(folder / 'trainer', folder / 'src/trainer')
    shutil.copytree(folder / 'trainer', folder / 'app/trainer')
    (folder / 'src/task.py').write_text('import runpy\nrunpy.run_module("trainer.task", run_name="__main__")\n')
    (folder / 'train.sh').write_text(f'#!/bin/sh\nexec {sys.executable} train.py "$@"\n')
    (folder / 'train.sh').chmod(0o755)
    for path, text in {'data.csv': 'a,b\n', 'fixtures/train.csv': 'a,b\n1,2\n', 'logs/old.txt': ''}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    restarts = folder / 'scenarios/restarts'
    restarts.mkdir(parents=True)
    for file in (ROOT / 'scenarios/restarts').glob('r01_half_a_checkpoint_*.yaml'):
        shutil.copy(file, restarts)
    shutil.copytree(ROOT / 'scenarios/vertex', folder / 'scenarios/vertex')
    for trainers in ('restarts/r01', 'restarts/r14', 'vertex'):
        place = f'scenarios/trainers/{trainers}'
        shutil.copytree(ROOT / place, folder / place)
        shared_modules.copy_to(folder / place)
    docker_archive(folder / 'image.tar', 'gcr.io/my-project/trainer:v1')
    shutil.copy(folder / 'image.tar', folder / 'trainer.tar')
    oci_layout(folder / 'layout')


def source_distribution(path, project):
    """The trainer as a package that `pip` installs."""
    setup = 'from setuptools import setup\nsetup(name="trainer", version="0.1", packages=["trainer"])\n'
    with tempfile.TemporaryDirectory() as folder:
        inside = pathlib.Path(folder) / 'trainer-0.1'
        shutil.copytree(project / 'trainer', inside / 'trainer')
        (inside / 'setup.py').write_text(setup)
        with tarfile.open(path, 'w:gz') as archive:
            archive.add(inside, inside.name)


class World:
    """A copy of the project and of the state, for one page or one block of examples."""

    def __init__(self, template=None):
        self._folder = tempfile.TemporaryDirectory(prefix='caip-examples-')
        root = pathlib.Path(self._folder.name)
        self.project, self.state = root / 'project', root / 'state'
        self.environment = environment(self.state, root)
        self._servers = []
        for folder in ('.zsh', '.config/fish/completions'):
            (root / folder).mkdir(parents=True)
        if template:
            shutil.copytree(template.project, self.project, symlinks=True)
            shutil.copytree(template.state, self.state, symlinks=True)
            return
        self.state.mkdir()
        (self.state / 'config.yaml').write_text(f'runtimes: {{"2.11": {sys.executable}, "3.7": {sys.executable}}}\n')
        make_project(self.project)
        self._make_state()

    def stop_servers(self):
        """Ends the servers as Ctrl-C does."""
        for server in self._servers:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=SECONDS)
            assert server.returncode in (0, 130), server.returncode
        self._servers.clear()

    def close(self):
        """Ends what runs in this world."""
        self.stop_servers()
        self.caip('jobs', 'cancel', 'my_job')
        self.caip('stop')
        self._folder.cleanup()

    def caip(self, *words):
        """The exit code and the output of a command."""
        done = subprocess.run([CAIP, *words], cwd=self.project, env=self.environment, text=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def need(self, *words):
        """As caip(), of a command that must succeed."""
        code, text = self.caip(*words)
        assert code == 0, f'{words}: {code}\n{text}'
        return text

    def shell(self, command):
        """As caip(), of a line for bash."""
        done = subprocess.run(['bash', '-c', f'set -o pipefail\n{command}'], cwd=self.project, env=self.environment,
                              text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def serve(self, command):
        """Starts a server that stays, and returns when it serves."""
        server = subprocess.Popen(['bash', '-c', f'exec {command}'], cwd=self.project, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._servers.append(server)
        said = []
        for line in server.stdout:
            said.append(line)
            if 'http://' in line:
                return
        raise AssertionError(f'{command} does not serve: {"".join(said)}')

    def _make_state(self):
        self.need('buckets', 'create', *BUCKETS)
        for name in ('job/old.ckpt', 'job/metrics.json', 'job/model/weights', 'logs/a.txt'):
            self.need('cp', 'data.csv', 'gs://my-bucket/' + name)
        self.need('jobs', 'submit', 'training', 'my_job', *JOB, '--module-name', 'trainer.task', '--config',
                  'cluster.yaml', '--job-dir', 'gs://my-bucket/out', '--labels', 'team=red,owner=me', '--stream-logs')
        for name in ('other_job', 'j', 'census_1'):
            self.need('jobs', 'submit', 'training', name, *JOB, '--module-name', 'trainer.tune', '--stream-logs')
        for name in ('my_study', 'digits'):
            self.need('jobs', 'submit', 'training', name, *JOB, '--module-name', 'trainer.tune', '--config',
                      'study.yaml', '--stream-logs')
        self.need('images', 'import', 'image.tar')
        source_distribution(self.project / 'trainer-0.1.tar.gz', self.project)
        self.need('cp', 'trainer-0.1.tar.gz', 'gs://my-bucket')
        self.caip('stop')

    def use_empty_folder(self):
        """The examples that follow run in a new folder."""
        self.project = pathlib.Path(tempfile.mkdtemp(dir=self._folder.name))

    def run_job(self, name, config, replicas):
        """Submits the job again, with a trainer that waits, and returns when so many replicas run."""
        self.need('jobs', 'delete', name)
        self.need('jobs', 'submit', 'training', name, *JOB, '--module-name', 'trainer.wait', '--config', config)

        def waits():
            code, text = self.caip('ps', '--format', 'json')
            rows = [row for row in json.loads(text or '[]') if row['jobId'] == name] if code == 0 else []
            return len(rows) == replicas and all(row.get('pid') for row in rows)
        wait_for(waits, f'all replicas of {name} run')
