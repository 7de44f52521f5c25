#!/usr/bin/env python3
"""Fake GPUs, MIG instances and TPUs on machines: a replica finds the files of those that it was lent and no others, and an
nvidia-smi that lists just those. The same from an image with a shell, and from one without any file. A program of Python
asks NVML for them, as pynvml does, on a machine and from an image."""

import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import framework_image  # noqa: E402
import machine_job  # noqa: E402
import support  # noqa: E402

BUSYBOX = Path('/bin/busybox')
PROJECT = 'demo-project'
CUSTOM = ['--scale-tier', 'custom', '--master-machine-type']
T4 = [*CUSTOM, 'n1-standard-8', '--master-accelerator', 'type=nvidia-tesla-t4,count=1']
TWO_T4 = [*CUSTOM, 'n1-standard-8', '--master-accelerator', 'type=nvidia-tesla-t4,count=2']
A100 = [*CUSTOM, 'a2-highgpu-1g']
TPU_CONFIG = "trainingInput: {scaleTier: BASIC_TPU, workerConfig: {tpuTfVersion: '2.1'}}\n"
CONTROLS = ['/dev/nvidia-uvm', '/dev/nvidiactl']
ACCELERATORS = [f'/dev/accel{i}' for i in range(4)]
NVIDIA_SMI = '/dev/caip-gpus/nvidia-smi'
UUID = r'ca1bfa4e-0000-4000-8000-[0-9a-f]{12}'

# Prints the files of devices, which take what is written, and what nvidia-smi prints. `hold` then waits for a line in a
# pipe.
LOOK = r'''
for file in /dev/nvidia* /dev/nvidia-caps/* /dev/accel* /dev/vfio/*; do
  test -c "$file" && echo text > "$file" && echo "FILE $file"
done
echo "VISIBLE [$CUDA_VISIBLE_DEVICES]"
echo "PROGRAM [$(command -v nvidia-smi)]"
echo "LIBRARIES [$LD_LIBRARY_PATH]"
if test -e /dev/caip-gpus/nvidia-smi; then
  nvidia-smi -L | while IFS= read -r line; do echo "LISTED [$line]"; done
  nvidia-smi --query-gpu=index,uuid,name,memory.total --format=csv,noheader | while IFS= read -r line; do
    echo "ROW [$line]"
  done
  nvidia-smi -q > /tmp/said 2>&1; echo "REFUSED [$? $(cat /tmp/said)]"
fi
if test "$1" = hold; then
  mkfifo /tmp/release
  read -r line < /tmp/release
fi
'''

# Asks NVML for what nvidia-smi prints, and prints it in the same form.
ASK = r'''
import ctypes, os, subprocess
nvml = ctypes.CDLL('libnvidia-ml.so.1')
def call(name, *arguments):
    answer = getattr(nvml, name)(*arguments)
    if answer != 0:
        raise SystemExit(f'{name} answers {answer}')
def number(name, *device):
    value = ctypes.c_uint(99)
    call(name, *device, ctypes.byref(value))
    return value.value
def handle(name, *arguments):
    device = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(device))
    return device
def text(name, device):
    value = ctypes.create_string_buffer(96)
    call(name, device, value, 96)
    return value.value.decode()
def mebibytes(device):
    memory = (ctypes.c_ulonglong * 3)()
    call('nvmlDeviceGetMemoryInfo', device, memory)
    return memory[0] >> 20
def show_instances(gpu):
    for place in range(number('nvmlDeviceGetMaxMigDeviceCount', gpu)):
        device = ctypes.c_void_p()
        if nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, place, ctypes.byref(device)) != 0:
            continue
        name, uuid = text('nvmlDeviceGetName', device), text('nvmlDeviceGetUUID', device)
        print(f'ASKED [  MIG {name.split()[-1]:<12}Device {place:2}: (UUID: {uuid})]')
        print(f'INSTANCE [{uuid} {mebibytes(device)} {number("nvmlDeviceGetGpuInstanceId", device)}]')
call('nvmlInit_v2')
for index in range(number('nvmlDeviceGetCount_v2')):
    gpu = handle('nvmlDeviceGetHandleByIndex_v2', index)
    name, uuid = text('nvmlDeviceGetName', gpu), text('nvmlDeviceGetUUID', gpu)
    print(f'ASKED [GPU {index}: {name} (UUID: {uuid})]')
    print(f'MEMORY [{index}, {uuid}, {name}, {mebibytes(gpu)} MiB]')
    show_instances(gpu)
for kind, words in (('LISTED', ['-L']), ('ROW', ['--query-gpu=index,uuid,name,memory.total', '--format=csv,noheader'])):
    for line in subprocess.check_output(['nvidia-smi', *words], universal_newlines=True).splitlines():
        print(f'{kind} [{line}]')
print('VISIBLE [' + os.environ['CUDA_VISIBLE_DEVICES'] + ']')
'''
FOUND = ('LISTED', 'ROW', 'VISIBLE', 'REFUSED', 'PROGRAM', 'LIBRARIES', 'ASKED', 'MEMORY', 'INSTANCE')


def shell_image(directory):
    """An image with busybox, and nothing else."""
    made = framework_image.Layout(directory / 'shell')
    binaries = directory / 'binaries'
    binaries.mkdir()
    for name in ('sh', 'cat', 'mkfifo'):
        shutil.copyfile(BUSYBOX.resolve(), binaries / name)
        (binaries / name).chmod(0o755)
    made.add_layer({f'/bin/{file.name}': file for file in binaries.iterdir()})
    empty = directory / 'empty'
    empty.mkdir()
    made.add_layer({'/tmp': empty})
    return made.finish({'Entrypoint': ['/bin/sh'], 'Env': ['PATH=/bin']})


def bare_image(directory):
    """An image that has neither a shell nor a C library."""
    made = framework_image.Layout(directory / 'bare')
    note = directory / 'note'
    note.write_text('no program\n')
    made.add_layer({'/note': note})
    return made.finish({'Entrypoint': ['nvidia-smi'], 'Env': ['PATH=/bin']})


def python_image(directory):
    """An image with this Python, which asks NVML."""
    package = directory / 'asking'
    package.mkdir()
    (package / '__init__.py').touch()
    (package / 'task.py').write_text(ASK)
    return framework_image.trainer_image(directory / 'python', sys.executable, package, 'asking.task', only=('none',))


class Looking(unittest.TestCase):
    """An emulator with two GPUs, one that is split in two, and a TPU."""

    prefix = ()
    image = ''  # of the jobs

    @classmethod
    def setUpClass(cls):
        if not cls.image:
            raise unittest.SkipTest('the base of the other classes')
        support.need_isolation(cls.prefix)
        cls.scratch = Path(tempfile.mkdtemp(prefix='caip-fakes-'))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.scratch.chmod(0o755)
        images = {'gcr.io/p/host:v1': ['sh'], **cls.images()}
        cls.emulator = support.Emulator(
            '--isolation', 'machine', '--fake-gpus', '2xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:1x2g.10gb+1x3g.20gb',
            '--fake-tpu', 'v2-8', config=f'images: {json.dumps(images)}\ncompanions: []\n', prefix=cls.prefix)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()

    @classmethod
    def images(cls):
        return {}

    def submit(self, job, flags=(), image=None, words=()):
        self.addCleanup(self.emulator.caip, 'jobs', 'cancel', job, '--project', PROJECT, check=False)
        self.emulator.caip('jobs', 'submit', 'training', job, '--region', 'us-central1', '--project', PROJECT, *flags,
                           '--master-image-uri', f'gcr.io/p/{image or self.image}:v1', '--', *words)

    def look(self, job, flags=(), *words):
        """Begins a job that looks."""
        self.submit(job, flags, words=['-c', LOOK, 'sh', *words])

    def log_of(self, job):
        """The log, when the job has ended."""
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', PROJECT, check=False)
        return done.stdout + done.stderr

    def seen(self, job):
        """What the replica of a job found, when the job has ended."""
        log = self.log_of(job)
        described = self.emulator.caip('jobs', 'describe', job, '--project', PROJECT, '--format', 'json')
        self.assertEqual(json.loads(described.stdout)['state'], 'SUCCEEDED', log)
        found = {name: re.findall(rf'\b{name} \[(.*)\]', log) for name in FOUND}
        self.assertEqual(len(found['VISIBLE']), 1, log)  # it has looked
        return {**found, 'FILES': sorted(re.findall(r'\bFILE (\S+)', log))}

    def await_hold(self, job):
        support.need_entry()

        def holds():
            return self.shell(job, 'sh', '-c', 'test -p /tmp/release').returncode == 0
        support.wait_for(holds, f'the pipe of {job}', 60)

    def release(self, job):
        """Lets the job end, which may end this command as well."""
        self.shell(job, 'sh', '-c', 'echo > /tmp/release')

    def shell(self, job, *words):
        """Runs a command in the job's replica."""
        return self.emulator.caip('jobs', 'shell', job, '--replica', 'master-replica-0', '--project', PROJECT, '--', *words,
                                  check=False)

    def look_at_the_same_time(self, kind, flags):
        """What two jobs find, of which the first one runs until the second one has ended."""
        first, second = f'first_{kind}', f'second_{kind}'
        self.look(first, flags, 'hold')
        self.await_hold(first)
        self.look(second, flags)
        seen = self.seen(second)
        self.release(first)
        return self.seen(first), seen

    def check_gpus(self):
        seen = self.look_at_the_same_time('gpu', T4)
        numbers = []
        for one in seen:
            files = [file for file in one['FILES'] if file not in CONTROLS]
            self.assertEqual(len(files), 1, one)
            number = int(re.fullmatch(r'/dev/nvidia([01])', files[0]).group(1))
            self.assertEqual(one['FILES'], sorted([*CONTROLS, f'/dev/nvidia{number}']))
            uuid = one['VISIBLE'][0]
            self.assertRegex(uuid, f'^GPU-{UUID}$')
            self.assertEqual(one['LISTED'], [f'GPU 0: fake NVIDIA_TESLA_T4 (UUID: {uuid})'])
            self.assertEqual(one['ROW'], [f'0, {uuid}, fake NVIDIA_TESLA_T4, 15360 MiB'])
            self.assertEqual(one['PROGRAM'], [NVIDIA_SMI])
            self.assertEqual(one['LIBRARIES'][0].split(':')[0], os.path.dirname(NVIDIA_SMI))
            self.assertEqual(len(one['REFUSED']), 1)
            self.assertIn("2 nvidia-smi: '-q' is not supported for fake GPUs.", one['REFUSED'][0])
            numbers.append(number)
        self.assertEqual(sorted(numbers), [0, 1])
        self.assertNotEqual(seen[0]['VISIBLE'], seen[1]['VISIBLE'])

    def check_both_gpus(self):
        self.look('both', TWO_T4)
        seen = self.seen('both')
        self.assertEqual(seen['FILES'], sorted([*CONTROLS, '/dev/nvidia0', '/dev/nvidia1']))
        uuids = seen['VISIBLE'][0].split(',')
        self.assertEqual(seen['LISTED'], [f'GPU {i}: fake NVIDIA_TESLA_T4 (UUID: {uuids[i]})' for i in (0, 1)])

    def check_instances(self):
        seen = self.look_at_the_same_time('instance', A100)
        parents = set()
        for one, profile, capabilities in zip(seen, ('3g.20gb', '2g.10gb'), ((282, 283), (300, 301))):
            own = [f'/dev/nvidia-caps/nvidia-cap{number}' for number in capabilities]
            self.assertEqual(one['FILES'], sorted([*CONTROLS, '/dev/nvidia2', *own]))
            self.assertRegex(one['VISIBLE'][0], f'^MIG-{UUID}$')
            gpu, instance = one['LISTED']
            parents.add(re.fullmatch(rf'GPU 0: fake NVIDIA_TESLA_A100 \(UUID: (GPU-{UUID})\)', gpu).group(1))
            self.assertEqual(instance, f'  MIG {profile}     Device  0: (UUID: {one["VISIBLE"][0]})')
        self.assertEqual(len(parents), 1)
        self.assertNotEqual(seen[0]['VISIBLE'], seen[1]['VISIBLE'])

    def check_tpu(self):
        config = self.scratch / 'tpu.yaml'
        config.write_text(TPU_CONFIG)
        self.look('tpu', ['--config', config])
        seen = self.seen('tpu')
        self.assertEqual(seen['FILES'], ACCELERATORS)
        self.assertEqual(seen['LISTED'], [])

    def check_none(self):
        self.look('other', T4, 'hold')
        self.await_hold('other')
        self.look('none')
        seen = self.seen('none')
        self.release('other')
        self.assertEqual((seen['FILES'], seen['VISIBLE'], seen['LISTED']), ([], [''], []))
        self.assertNotEqual(seen['PROGRAM'], [NVIDIA_SMI])
        self.assertNotIn('caip-gpus', seen['LIBRARIES'][0])

    def check_nvml(self):
        self.submit('asks_for_both', TWO_T4, 'python')
        both = self.seen('asks_for_both')
        self.assertEqual(both['ASKED'], both['LISTED'])
        self.assertEqual(both['MEMORY'], both['ROW'])
        self.assertEqual(re.findall(rf'GPU-{UUID}', '\n'.join(both['ASKED'])), both['VISIBLE'][0].split(','))
        self.submit('asks_for_instance', A100, 'python')
        one = self.seen('asks_for_instance')
        self.assertEqual(len(one['ASKED']), 2, one)  # the GPU and its instance
        self.assertEqual(one['ASKED'], one['LISTED'])
        self.assertEqual(one['MEMORY'], one['ROW'])
        known = {'3g.20gb': '20096 1', '2g.10gb': '9984 3'}
        self.assertEqual(one['INSTANCE'], [f'{one["VISIBLE"][0]} {known[one["ASKED"][1].split()[1]]}'])


class OnMachines(Looking):
    """Programs of the host."""

    image = 'host'

    @classmethod
    def images(cls):
        return {'gcr.io/p/python:v1': [sys.executable, '-c', ASK]}

    def test_two_jobs_see_their_own_gpu_only(self):
        self.check_gpus()

    def test_a_job_sees_both_of_its_gpus(self):
        self.check_both_gpus()

    def test_two_jobs_see_their_own_instance_of_one_gpu_only(self):
        self.check_instances()

    def test_a_job_with_a_tpu_sees_its_chips(self):
        self.check_tpu()

    def test_a_job_without_devices_sees_none(self):
        self.check_none()

    def test_nvml_reports_what_nvidia_smi_lists(self):
        self.check_nvml()

    def test_replicas_of_one_job_see_their_own_gpu_only(self):
        worker = ['--worker-machine-type', 'n1-standard-8', '--worker-count', '1', '--worker-image-uri', 'gcr.io/p/host:v1']
        script = ('echo "SEES $(echo /dev/nvidia[0-9]*) $(nvidia-smi -L)"\n'
                  'case $(uname -n) in *-worker-*) exec sleep 600;; esac\n'
                  'mkfifo /tmp/release; read -r line < /tmp/release')
        self.submit('cluster', [*T4, *worker, '--worker-accelerator', 'type=nvidia-tesla-t4,count=1'], words=['-c', script])
        self.await_hold('cluster')

        def lines():
            query = ['jobs', 'logs', 'cluster', '--project', PROJECT]
            said = self.emulator.caip(*query, check=False).stdout
            found = sorted(re.findall(r'SEES (/dev/nvidia\S+) GPU 0: .* \(UUID: GPU-\S+([01])\)', said))
            return found if len(found) == 2 else None
        self.assertEqual(support.wait_for(lines, 'the lines of both replicas'), [('/dev/nvidia0', '0'), ('/dev/nvidia1', '1')])
        self.release('cluster')


class OfAnOrdinaryUser(Looking):
    """The user nobody, who needs a user namespace."""

    image = 'host'
    prefix = machine_job.JobOfAnOrdinaryUser.prefix

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('the tests run as an ordinary user already')
        support.need('setpriv')
        if not machine_job.may_run(cls.prefix, support.caip_binary(), 'version'):
            raise unittest.SkipTest('nobody may not run this caip')
        super().setUpClass()

    def test_two_jobs_see_their_own_gpu_only(self):
        self.check_gpus()

    def test_a_job_without_devices_sees_none(self):
        self.check_none()


class FromImages(Looking):
    """Programs of images."""

    image = 'shell'

    @classmethod
    def setUpClass(cls):
        if not BUSYBOX.exists():
            raise unittest.SkipTest('busybox is not in /bin')
        super().setUpClass()

    @classmethod
    def images(cls):
        return {'gcr.io/p/shell:v1': shell_image(cls.scratch), 'gcr.io/p/bare:v1': bare_image(cls.scratch),
                'gcr.io/p/python:v1': python_image(cls.scratch)}

    def test_two_jobs_see_their_own_gpu_only(self):
        self.check_gpus()

    def test_two_jobs_see_their_own_instance_of_one_gpu_only(self):
        self.check_instances()

    def test_a_job_with_a_tpu_sees_its_chips(self):
        self.check_tpu()

    def test_a_job_without_devices_sees_none(self):
        self.check_none()

    def test_nvml_reports_what_nvidia_smi_lists(self):
        self.check_nvml()

    def test_an_image_without_any_program_has_nvidia_smi(self):
        self.submit('bare', T4, 'bare', ['-L'])
        log = self.log_of('bare')
        self.assertRegex(log, rf'GPU 0: fake NVIDIA_TESLA_T4 \(UUID: GPU-{UUID}\)')
        self.assertEqual(log.count('UUID: '), 1, log)


if __name__ == '__main__':
    support.main()
