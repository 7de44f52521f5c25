"""Jobs on the real GPUs of this host: a replica sees and uses those that it was lent, and no others; images get the
host's driver; a machine that is lost gives its GPUs back. Skipped where there are none."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import framework_image
import frameworks
import support

TRAINER = support.ROOT / 'scenarios/trainers/gpu/trainer'
GPU = ['--scale-tier', 'custom', '--master-machine-type', 'n1-standard-8', '--master-accelerator',
       'type=nvidia-tesla-t4,count={}']
TORCH = ('torch', 'torchgen', 'functorch', 'nvidia', 'triton', 'numpy', 'numpy.libs', 'sympy', 'mpmath', 'networkx', 'jinja2',
         'markupsafe', 'typing_extensions.py', 'filelock', 'fsspec', 'cuda')


def uuids(lines):
    """The GPUs in lines of `nvidia-smi -L`; of a GPU with MIG instances those instances."""
    text = '\n'.join(lines)
    return re.findall(r'UUID: (MIG-[^)]+)\)', text) or re.findall(r'UUID: (GPU-[^)]+)\)', text)


def used_mib():
    """The memory that programs use on all GPUs."""
    said = support.run(['nvidia-smi', '--query-gpu=memory.used', '--format=csv,noheader,nounits']).stdout
    return sum(int(line) for line in said.split() if line.isdigit())


def plain_python(directory):
    """An interpreter without packages: that of an image should be small."""
    support.run([sys.executable, '-m', 'venv', '--without-pip', directory])
    return Path(directory) / 'bin/python'


class Gpu(support.EmulatorTest):
    """Programs that use the driver itself."""

    flags = ('--isolation', 'machine', '--create-buckets')

    @classmethod
    def setUpClass(cls):
        support.need('nvidia-smi')
        support.need_isolation()
        cls.host = uuids(support.run(['nvidia-smi', '-L'], check=False).stdout.splitlines())
        if not cls.host:
            raise unittest.SkipTest('nvidia-smi lists no GPU')
        cls.scratch = Path(tempfile.mkdtemp(prefix='caip-gpu-'))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        image = framework_image.trainer_image(cls.scratch / 'image', plain_python(cls.scratch / 'venv'), TRAINER,
                                              'trainer.step')
        step = [sys.executable, str(TRAINER / 'step.py')]
        cls.config = f'images: {json.dumps({"gcr.io/p/step:v1": step, "gcr.io/p/image:v1": image})}\n'
        super().setUpClass()

    def submit(self, job, image='step', gpus=1, words=()):
        """Begins a job on so many GPUs."""
        asked = [word.format(gpus) for word in GPU] if gpus else []
        self.addCleanup(self.emulator.caip, 'jobs', 'cancel', job, '--project', 'demo-project', check=False)
        self.emulator.caip('jobs', 'submit', 'training', job, '--region', 'us-central1', *asked, '--master-image-uri',
                           f'gcr.io/p/{image}:v1', '--project', 'demo-project', '--', *words)

    def log_of(self, job):
        """The log of a job, when it has ended."""
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', 'demo-project', check=False)
        return done.stdout + done.stderr

    def state_of(self, job):
        said = self.emulator.caip('jobs', 'describe', job, '--project', 'demo-project', '--format', 'json').stdout
        return json.loads(said)['state']

    def seen(self, job):
        """What the program of a job saw."""
        log = self.log_of(job)
        self.assertIn('GPU {', log)
        self.assertEqual(self.state_of(job), 'SUCCEEDED', log)
        return json.loads(re.search(r'GPU (\{.*)', log).group(1))

    def assert_sees(self, seen, count):
        """A replica with so many GPUs has computed on one of them, and finds no others."""
        self.assertNotIn('error', seen)
        self.assertTrue(seen['is_right'])
        lent = seen['visible'].split(',')
        self.assertEqual(len(lent), count)
        self.assertLessEqual(set(lent), set(self.host))
        self.assertEqual(sorted(uuids(seen['listed'])), sorted(lent))
        if not lent[0].startswith('MIG-'):
            self.assertEqual(seen['devices'], lent)
            self.assertEqual(len(seen['files']), count)

    def test_doctor_lists_those_of_nvidia_smi(self):
        facts = json.loads(self.emulator.caip('doctor', '--format', 'json').stdout)
        details = ' '.join(fact['detail'] for fact in facts if fact['name'].startswith('gpu '))
        self.assertEqual(re.findall(r'(?:GPU|MIG)-[0-9a-f-]{36}', details), self.host)
        self.assertIn('(by NVML)', details)

    def test_a_replica_computes_on_the_one_that_it_was_lent(self):
        self.submit('one')
        self.assert_sees(self.seen('one'), 1)

    def test_a_replica_gets_all_that_it_asks_for(self):
        if len(self.host) not in (1, 2, 4):
            self.skipTest('the service offers 1, 2 or 4 of this type')
        self.submit('all', gpus=len(self.host))
        self.assert_sees(self.seen('all'), len(self.host))

    def test_a_replica_without_any_finds_none(self):
        self.submit('none', gpus=0)
        seen = self.seen('none')
        self.assertEqual((seen['devices'], seen['files'], uuids(seen['listed'])), ([], [], []))
        self.assertIn('error', seen)

    def test_an_image_gets_the_driver_of_the_host(self):
        self.submit('image', 'image')
        self.assert_sees(self.seen('image'), 1)

    def test_an_image_without_any_finds_none(self):
        self.submit('no_driver', 'image', gpus=0)
        seen = self.seen('no_driver')
        self.assertIn('libcuda.so.1', seen['error'])
        self.assertEqual(seen['files'], [])

    def test_a_job_waits_for_those_of_another(self):
        if len(self.host) not in (1, 2, 4):
            self.skipTest('one job cannot take all')
        self.submit('first', gpus=len(self.host), words=['--hold', '/tmp/released'])
        support.wait_for(lambda: self.shell('first', 'test', '-e', '/tmp/released.awaited').returncode == 0, 'the first job', 20)
        self.submit('second')
        time.sleep(1)
        self.assertIn(self.state_of('second'), ('QUEUED', 'PREPARING'))
        self.assertEqual(self.shell('first', 'touch', '/tmp/released').returncode, 0)
        self.assert_sees(self.seen('first'), len(self.host))
        self.assert_sees(self.seen('second'), 1)

    def shell(self, job, *words):
        """Runs a command in the job's replica."""
        return self.emulator.caip('jobs', 'shell', job, '--project', 'demo-project', '--', *words, check=False)

    def test_a_cancelled_job_gives_its_memory_back(self):
        before = used_mib()
        self.submit('held', words=['--hold', '/tmp/never'])
        support.wait_for(lambda: used_mib() > before, 'memory in use', 20)
        self.emulator.caip('jobs', 'cancel', 'held', '--project', 'demo-project')
        support.wait_for(lambda: used_mib() <= before, 'memory given back')


class Torch(unittest.TestCase):
    """PyTorch, if an interpreter has it."""

    @classmethod
    def setUpClass(cls):
        support.need('nvidia-smi')
        support.need_isolation()
        asked = 'import torch; print(torch.cuda.is_available())'
        done = subprocess.run([sys.executable, '-c', asked], capture_output=True, text=True, check=False)
        if 'True' not in done.stdout:
            raise unittest.SkipTest(f'{sys.executable} has no PyTorch that finds a GPU')
        cls.state = Path(tempfile.mkdtemp(prefix='caip-torch-'))
        cls.addClassCleanup(shutil.rmtree, cls.state, ignore_errors=True)
        (cls.state / 'config.yaml').write_text(f'runtimes: {{"2.11": {sys.executable}}}\nisolation: machine\n')

    def assert_passes(self, file):
        """Runs a scenario."""
        began = time.monotonic()
        done = support.run([support.caip_binary(), 'scenario', 'run', file, '--state', self.state, '--verbose'],
                           env=support.clean_environment(), timeout=600, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn('1 scenario: 1 passed', said)  # a scenario that is skipped does not fail
        print(f'{Path(file).stem}: {time.monotonic() - began:.1f} s', flush=True)

    def test_resumes_as_if_the_machine_had_not_been_lost(self):
        self.assert_passes(frameworks.SCENARIOS / 'torch_gpu_lost_machine.yaml')

    @frameworks.large
    def test_resumes_in_an_image_too(self):
        scratch = Path(tempfile.mkdtemp(prefix='caip-image-', dir=support.clients_directory()))
        self.addCleanup(shutil.rmtree, scratch, ignore_errors=True)
        image = framework_image.trainer_image(scratch / 'image', sys.executable, TRAINER, 'trainer.task', TORCH)
        file = scratch / 'torch_gpu_from_image.yaml'
        words = ['--map-image', f'{frameworks.IMAGE}={image}', '--master-image-uri', frameworks.IMAGE, '--scale-tier', 'basic-gpu']
        file.write_text(f'extends: {frameworks.SCENARIOS}/torch_gpu_lost_machine.yaml\nneeds: {{modules: []}}\n'
                        f'job: {{submit: {json.dumps(words)}}}\n')
        self.assert_passes(file)


if __name__ == '__main__':
    support.main()
