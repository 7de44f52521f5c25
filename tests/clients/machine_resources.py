"""What a machine has for itself: the names of its memory and of its queues, the memory and the CPUs of its type, and the
size of its boot disk. Jobs show it, from the submit to their end."""

import ctypes
import errno
import json
import re
import shutil
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

import support

KIND = 'n1-standard-4'  # 4 CPUs and 15 GB of memory
CPUS, MEMORY = 4, 15 << 30
KEY_OF_JOB, KEY_OF_HOST = 0x43410001, 0x43410002

# Functions that make objects by their names, and that look them up: 'found', or the name of the error.
NAMES = r'''
import ctypes, errno, json, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
MAKE, SIZE = 0o1000, 4096  # IPC_CREAT

def result(number):
    return 'found' if number >= 0 else errno.errorcode[ctypes.get_errno()]

def names(key, make):
    flags, mode = (MAKE | 0o666, os.O_CREAT | os.O_RDWR) if make else (0, os.O_RDWR)
    name = b'/caip-%x' % key
    return {
        'shared memory of System V': result(libc.shmget(key, SIZE, flags)),
        'semaphores of System V': result(libc.semget(key, 1, flags)),
        'queue of System V': result(libc.msgget(key, flags)),
        'shared memory of POSIX': result(libc.shm_open(name, mode, 0o666)),
        'semaphore of POSIX': 'found' if os.path.exists('/dev/shm/sem.caip-%x' % key) else 'ENOENT',
        'queue of POSIX': result(libc.mq_open(name, mode, 0o666, None)),
    }
'''

# The master makes objects, which a second process of its machine finds and the worker looks for.
SHARING = NAMES + r'''
key, key_of_host = map(int, sys.argv[1:])
config = json.loads(os.environ['TF_CONFIG'])
host, port = config['cluster']['master'][0].rsplit(':', 1)

def connect():
    # The master may not listen yet.
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=60)
        except ConnectionRefusedError:
            time.sleep(0.05)

def look_up():
    return {'job': names(key, make=False), 'host': names(key_of_host, make=False)}

if config['task']['type'] == 'worker':
    with connect() as connection:
        connection.makefile().readline()  # the objects exist
        print('WORKER ' + json.dumps(look_up()), flush=True)
        connection.sendall(b'done\n')
        connection.recv(1)
    sys.exit()
print('MADE ' + json.dumps(names(key, make=True)), flush=True)
open('/dev/shm/sem.caip-%x' % key, 'x').close()  # as sem_open does
if os.fork() == 0:
    print('MASTER ' + json.dumps(look_up()), flush=True)
    os._exit(0)
os.wait()
with socket.create_server(('0.0.0.0', int(port))) as listening:
    connection = listening.accept()[0]
    connection.sendall(b'made\n')
    assert connection.makefile().readline() == 'done\n'
'''

# Waits until an object exists, and then uses more memory than its machine has.
HUNGRY = r'''
import os, sys, time, urllib.error, urllib.request
storage = os.environ['STORAGE_EMULATOR_HOST']
print('waits', flush=True)
while True:
    try:
        urllib.request.urlopen(f'{storage}/storage/v1/b/bkt/o/go')
        break
    except urllib.error.HTTPError:
        time.sleep(0.05)
held = bytearray(512 << 20)
print('GOES ON', len(held), flush=True)
'''

# Fills its boot disk twice, and reports the error and what there is. The second file stays.
FULL = r'''
import errno, os
block = b'x' * (1 << 20)

def fill(name):
    written = 0
    try:
        with open(name, 'wb', buffering=0) as file:
            while written < 200 << 20:
                written += file.write(block)
        print('NO LIMIT', flush=True)
    except OSError as error:
        print('FULL', errno.errorcode[error.errno], os.path.getsize(name) >> 20, flush=True)

fill('/root/first')
os.remove('/root/first')
fill('/root/second')
'''

# Whether the calls of a program are held, as they are on a disk with a limit.
HELD = r'''
status = open('/proc/self/status').read()
print('HELD', 'Seccomp:\t2' in status, flush=True)
'''


class ResourcesTest(support.EmulatorTest):
    """Jobs of images that stand for the programs above, on machines."""

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        cls.programs = Path(tempfile.mkdtemp(prefix='caip-machine-'))
        cls.addClassCleanup(shutil.rmtree, cls.programs, ignore_errors=True)
        images = {}
        for name, source in (('sharing', SHARING), ('hungry', HUNGRY), ('full', FULL), ('held', HELD)):
            (cls.programs / f'{name}.py').write_text(source)
            images[f'gcr.io/p/{name}:v1'] = [sys.executable, str(cls.programs / f'{name}.py')]
        cls.config = f'images: {json.dumps(images)}\nisolation: machine\n'
        super().setUpClass()

    def submit(self, job, image, *words, workers=0, disk=0):
        uri = f'gcr.io/p/{image}:v1'
        more = ['--worker-machine-type', KIND, '--worker-count', workers, '--worker-image-uri', uri] if workers else []
        if disk:
            config = self.programs / f'{job}.yaml'
            config.write_text(f'trainingInput: {{masterConfig: {{diskConfig: {{bootDiskSizeGb: {disk}}}}}}}')
            more += ['--config', config]
        self.emulator.caip('jobs', 'submit', 'training', job, '--project', 'demo-project', '--region', 'us-central1',
                           '--scale-tier', 'custom', '--master-machine-type', KIND, '--master-image-uri', uri, *more,
                           '--', *words)

    def log_of(self, job):
        """The whole log, when the job has ended."""
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', 'demo-project', check=False)
        return done.stdout + done.stderr

    def describe(self, job):
        return json.loads(self.emulator.caip('jobs', 'describe', job, '--project', 'demo-project', '--format',
                                             'json').stdout)


class Names(ResourcesTest):
    """Objects that have a key or a name, not a file."""

    def setUp(self):
        super().setUp()
        self.libc = ctypes.CDLL(None, use_errno=True)

    def make_on_host(self):
        """Makes shared memory with a key of this host, and returns its id."""
        segment = self.libc.shmget(KEY_OF_HOST, 4096, 0o1666)
        self.assertGreaterEqual(segment, 0)
        self.addCleanup(self.libc.shmctl, segment, 0, None)  # IPC_RMID
        return segment

    def test_are_known_on_their_machine_only(self):
        self.make_on_host()
        self.submit('sharing', 'sharing', KEY_OF_JOB, KEY_OF_HOST, workers=1)
        log = self.log_of('sharing')
        self.assertEqual(self.describe('sharing')['state'], 'SUCCEEDED', log)
        seen = {who: json.loads(found) for who, found in re.findall(r'(MADE|MASTER|WORKER) (\{.*\})', log)}
        self.assertEqual(set(seen), {'MADE', 'MASTER', 'WORKER'}, log)
        self.assertEqual(set(seen['MADE'].values()) - {'ENOENT'}, {'found'}, seen)
        self.assertEqual(set(seen['MASTER']['job'].values()), {'found'}, 'by another process of the machine')
        self.assertEqual(set(seen['WORKER']['job'].values()), {'ENOENT'}, 'by another machine')
        for machine in ('MASTER', 'WORKER'):
            self.assertEqual(set(seen[machine]['host'].values()), {'ENOENT'}, machine)

    def test_of_a_machine_are_not_those_of_the_host(self):
        self.submit('sharing_too', 'sharing', KEY_OF_JOB, KEY_OF_HOST, workers=1)
        self.log_of('sharing_too')
        self.assertEqual(self.libc.shmget(KEY_OF_JOB, 4096, 0), -1)
        self.assertEqual(ctypes.get_errno(), errno.ENOENT)
        self.assertFalse(Path(f'/dev/shm/caip-{KEY_OF_JOB:x}').exists())


class Limits(ResourcesTest):
    """`--machine-limits`, where the host lets this user make control groups."""

    flags = ('--machine-limits',)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        said = cls.emulator.log()
        if '--machine-limits' in said:
            raise unittest.SkipTest(said.strip().splitlines()[-1])

    def group_of(self, program, controller):
        """The control group of the replica that runs the program. Version one has a tree for each controller."""
        top = Path('/sys/fs/cgroup')
        if not (top / 'cgroup.controllers').exists():
            top /= controller
        processes = {entry.name for entry in Path('/proc').glob('[0-9]*') if program in words_of(entry)}
        self.assertTrue(processes, 'the replica has ended')
        groups = [file.parent for file in top.rglob('cgroup.procs')
                  if 'caip' in str(file) and processes & set(file.read_text().split())]
        self.assertEqual(len(groups), 1, groups)
        return groups[0]

    def value_of(self, group, *names):
        """The first word of the file that has one of these names, and the file."""
        file = next(group / name for name in names if (group / name).exists())
        return file.read_text().split()[0], file

    def test_end_a_replica_that_needs_more_memory_than_its_machine_has(self):
        self.emulator.bucket('bkt')
        self.submit('hungry', 'hungry')
        program = str(self.programs / 'hungry.py')
        support.wait_for(lambda: 'waits' in self.emulator.caip('jobs', 'logs', 'hungry', '--project', 'demo-project',
                                                               check=False).stdout, 'the start of the replica')
        limit, memory = self.value_of(self.group_of(program, 'memory'), 'memory.max', 'memory.limit_in_bytes')
        self.assertEqual(int(limit), MEMORY)
        quota, _ = self.value_of(self.group_of(program, 'cpu'), 'cpu.max', 'cpu.cfs_quota_us')
        self.assertEqual(int(quota), CPUS * 100_000)
        self.lower(memory, 128 << 20)  # this host may not have as much memory as the machine
        request = urllib.request.Request(f'{self.emulator.url}/upload/storage/v1/b/bkt/o?uploadType=media&name=go', b'')
        urllib.request.urlopen(request, timeout=60).close()
        log = self.log_of('hungry')
        job = self.describe('hungry')
        self.assertEqual(job['state'], 'FAILED', log)
        self.assertIn('The replica master 0 ran out-of-memory and exited with a non-zero status of 137(SIGKILL)',
                      job['errorMessage'])
        self.assertNotIn('GOES ON', log)
        self.assertIn('memory ran out', log)
        self.emulator.stop()
        self.assertFalse(memory.parent.exists(), 'the group of the replica')

    def lower(self, memory, limit):
        """Writes a lower limit. In version one, the limit with swap is the higher one."""
        memory.write_text(str(limit))
        with_swap = memory.with_name('memory.memsw.limit_in_bytes')
        if with_swap.exists():
            with_swap.write_text(str(limit))


class Disk(ResourcesTest):
    """`--disk-limits` with a size that is below that of the job's disk, which has 100 GB at least."""

    flags = ('--disk-limits', '32MB', '--keep-disks')

    def test_that_is_full_refuses_further_writes_and_takes_no_more_of_this_host(self):
        self.submit('full', 'full')
        log = self.log_of('full')
        self.assertEqual(self.describe('full')['state'], 'SUCCEEDED', log)
        self.assertNotIn('NO LIMIT', log)
        fillings = re.findall(r'FULL (\w+) (\d+)', log)
        self.assertEqual([code for code, _ in fillings], ['ENOSPC', 'ENOSPC'], log)
        for _, mebibytes in fillings:
            self.assertTrue(24 <= int(mebibytes) <= 32, fillings)
        self.assertIn('boot disk of this replica was full', log)
        kept = self.emulator.state / 'kept-disks'
        self.assertEqual([file.name for file in kept.rglob('second')], ['second'])
        used = sum(file.lstat().st_blocks * 512 for file in kept.rglob('*'))
        self.assertLess(used, 40 << 20)


class DiskByJob(ResourcesTest):
    """Without `--disk-limits`."""

    def held(self, job, **more):
        self.submit(job, 'held', **more)
        log = self.log_of(job)
        found = re.search(r'HELD (\w+)', log)
        self.assertTrue(found, log)
        return found[1]

    def test_has_the_size_that_the_job_asks_for_and_else_no_limit(self):
        facts = json.loads(self.emulator.caip('doctor', '--format', 'json').stdout)
        watched = next(fact for fact in facts if fact['name'] == 'watched replicas')
        if watched['found'] != 'yes':
            self.skipTest(f'calls cannot be held here: {watched["detail"]}')
        self.assertEqual(self.held('usual'), 'False')
        self.assertEqual(self.held('hundred', disk=100), 'False')
        self.assertEqual(self.held('larger', disk=200), 'True')


def words_of(entry):
    """The command line of a process, by its directory in /proc."""
    try:
        return (entry / 'cmdline').read_text(errors='replace').split('\0')
    except OSError:
        return []


if __name__ == '__main__':
    support.main()
