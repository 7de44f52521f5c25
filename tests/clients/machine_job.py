"""Replicas on machines of their own: without any variable of caip, a trainer finds Google's names and its peers
through its hosts file, and the metadata server at its real address and names. Every port is free."""

import contextlib
import errno
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import support

NOBODY = 65534

# Inspects its surroundings with nothing but PATH in the environment, and prints them.
LOOK = r'''
import json, os, socket, ssl, sys, urllib.request
ca, host_port = sys.argv[1:3]

# as in src/http/transport/certificate_authority.cc
SYSTEM_FILES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt',
                '/etc/ssl/ca-bundle.pem', '/etc/ssl/cert.pem']
SYSTEM_FILE = next(filter(os.path.isfile, SYSTEM_FILES), None)

def get(url, trusted=ca):
    request = urllib.request.Request(url, headers={'Metadata-Flavor': 'Google'})
    context = ssl.create_default_context(cafile=trusted) if url.startswith('https') else None
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        return answer.read().decode()

def heard(text):
    """What the host's echo server answers to a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(30)
        asking.sendto(text.encode(), ('10.128.255.254', int(host_port)))
        return asking.recv(100).decode()

_, resolver = open('/etc/resolv.conf').read().split()[:2]
metadata = 'computeMetadata/v1/instance/'
account = 'http://metadata/' + metadata + 'service-accounts/default/'
token = json.loads(get(account + 'token'))['access_token']
print('SEEN ' + json.dumps({
    'variables': sorted(os.environ),
    'host': socket.gethostname(),
    'user': os.getuid(),
    'own_address': socket.gethostbyname(socket.gethostname()),
    'object': get('https://storage.googleapis.com/bkt/hello.txt'),
    'by_bucket': get('https://bkt.storage.googleapis.com/hello.txt'),
    'listing': json.loads(get('https://www.googleapis.com/storage/v1/b/bkt/o'))['items'][0]['name'],
    'token': json.loads(get('https://oauth2.googleapis.com/tokeninfo?access_token=' + token)),
    'name': get('http://169.254.169.254/' + metadata + 'name'),
    'task': get('http://metadata.google.internal/' + metadata + 'attributes/task_name'),
    'email': get(account + 'email'),
    'by_system_file': SYSTEM_FILE and get('https://storage.googleapis.com/bkt/hello.txt', SYSTEM_FILE),
    'host_is_reached': socket.socket().connect_ex(('127.0.0.1', int(host_port))) == 0,
    'host_by_its_address': socket.socket().connect_ex(('host.caip.internal', int(host_port))) == 0,
    'echo': heard('as loud as it is here'),
    'resolver': resolver,
    'nobody': socket.socket().connect_ex(('10.128.0.77', 80)),
}), flush=True)
'''

# Runs LOOK. The worker then reports to the master, at the address in TF_CONFIG.
TASK = r'''
import json, os, socket, subprocess, sys
host_port, = sys.argv[1:]
config = json.loads(os.environ['TF_CONFIG'])
cluster = config.get('cluster') or {}
host, port = cluster['master'][0].rsplit(':', 1) if cluster else ('', '0')
serves = config['task']['type'] == 'master' and 'worker' in cluster
print('CLUSTER', *cluster.get('master', []), flush=True)
listening = socket.create_server(('0.0.0.0', int(port))) if serves else None
subprocess.run([sys.executable, '-c', LOOK, os.environ['SSL_CERT_FILE'], host_port],
               env={'PATH': os.environ['PATH']}, check=True)
if serves:
    with listening.accept()[0] as connection:
        print('HEARD ' + connection.makefile().readline(), flush=True)
elif config['task']['type'] == 'worker':
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(socket.gethostname().encode() + b'\n')
    import time; time.sleep(600)
'''.replace('LOOK,', repr(LOOK) + ',')

# Kills itself in its first boot. An object distinguishes the boots.
RESTARTED = r'''
import os, signal, sys, urllib.error, urllib.request
storage = os.environ['STORAGE_EMULATOR_HOST']
try:
    urllib.request.urlopen(f'{storage}/storage/v1/b/bkt/o/{sys.argv[2]}')
except urllib.error.HTTPError:
    open('/tmp/left', 'w').close()
    urllib.request.urlopen(f'{storage}/upload/storage/v1/b/bkt/o?uploadType=media&name={sys.argv[2]}', b'')
    print('first boot', flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
''' + "print('LEFT', os.listdir('/tmp'))\n" + TASK.replace('host_port, =', 'host_port, _ =')

SLEEPER = r'''
import subprocess, sys, time
child = subprocess.Popen(['setsid', 'sleep', '600'])
print('SLEEPS', child.pid, flush=True)
time.sleep(600)
'''


class MachineTest(support.EmulatorTest):
    """Jobs of container images that stand for the programs above."""

    flags = ('--isolation', 'machine')
    prefix = ()

    @classmethod
    def setUpClass(cls):
        support.need_isolation(cls.prefix)
        cls.programs = Path(tempfile.mkdtemp(prefix='caip-machine-'))
        cls.addClassCleanup(shutil.rmtree, cls.programs, ignore_errors=True)
        os.chmod(cls.programs, 0o777)
        python = python_for(cls.prefix)
        images = {}
        for name, source in (('task', TASK), ('restarted', RESTARTED), ('sleeper', SLEEPER)):
            (cls.programs / f'{name}.py').write_text(source)
            images[f'gcr.io/p/{name}:v1'] = [python, str(cls.programs / f'{name}.py')]
        cls.config = f'images: {json.dumps(images)}\nseed: 1\n'
        cls.emulator = support.Emulator(*cls.flags, config=cls.config, prefix=cls.prefix)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()
        bucket = cls.emulator.bucket('bkt')
        (bucket / 'hello.txt').write_text('hello from the bucket')
        cls.host_listens, cls.echo = servers_of_one_port()
        cls.addClassCleanup(cls.host_listens.close)
        cls.addClassCleanup(cls.echo.close)
        threading.Thread(target=answer_datagrams, args=(cls.echo,), daemon=True).start()

    def submit(self, job, image, *words, workers=0, wait=True):
        """Runs a job, and returns its log."""
        image = ['--master-image-uri', f'gcr.io/p/{image}:v1']
        if workers:
            image += ['--scale-tier', 'custom', '--master-machine-type', 'n1-standard-4',
                      '--worker-machine-type', 'n1-standard-4', '--worker-count', workers,
                      '--worker-image-uri', image[1]]
        self.emulator.caip('jobs', 'submit', 'training', job, '--region', 'us-central1', *image,
                           '--project', 'demo-project', '--', *words)
        return self.log_of(job) if wait else ''

    def log_of(self, job):
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', 'demo-project',
                                  check=False)
        return done.stdout + done.stderr

    def state_of(self, job):
        return json.loads(self.emulator.caip('jobs', 'describe', job, '--project', 'demo-project',
                                             '--format', 'json').stdout)['state']

    @property
    def host_port(self):
        return str(self.host_listens.getsockname()[1])

    def seen(self, log):
        """The output of LOOK, by task."""
        lines = [line.split('SEEN ', 1)[1] for line in log.splitlines() if 'SEEN {' in line]
        self.assertTrue(lines, log)
        found = [json.loads(line) for line in lines]
        return {look['task']: look for look in found}


class Job(MachineTest):
    """As the user who runs the tests."""

    def test_finds_everything_at_its_real_address(self):
        log = self.submit('alone', 'task', self.host_port)
        self.assertEqual(self.state_of('alone'), 'SUCCEEDED', log)
        seen = self.seen(log)['master-replica-0']
        self.assertEqual(set(seen['variables']) - {'LC_CTYPE'}, {'PATH'})
        self.assertEqual(seen['object'], 'hello from the bucket')
        self.assertEqual(seen['by_bucket'], 'hello from the bucket')
        self.assertIn(seen['by_system_file'], (None, 'hello from the bucket'))
        self.assertEqual(seen['listing'], 'hello.txt')
        self.assertEqual(seen['token']['email'], seen['email'])
        self.assertRegex(seen['host'], r'^cmle-training-master-\w+-0$')
        self.assertEqual(seen['name'], seen['host'])
        self.assertIn('@cloud-ml.google.com.iam.gserviceaccount.com', seen['email'])
        self.assertEqual(seen['own_address'], '10.128.0.2')
        self.assertEqual(seen['user'], 0)  # as in the service's containers
        self.assertFalse(seen['host_is_reached'])

    def test_reaches_other_networks_as_its_host_does(self):
        log = self.submit('outside', 'task', self.host_port)
        seen = self.seen(log)['master-replica-0']
        self.assertTrue(seen['host_by_its_address'])
        self.assertEqual(seen['echo'], 'AS LOUD AS IT IS HERE')
        self.assertEqual(seen['resolver'], '10.128.255.253')
        self.assertEqual(seen['nobody'], errno.EHOSTUNREACH)

    def test_replicas_have_addresses_of_their_own_and_reach_each_other(self):
        log = self.submit('cluster', 'task', self.host_port, workers=1)
        self.assertEqual(self.state_of('cluster'), 'SUCCEEDED', log)
        seen = self.seen(log)
        self.assertEqual(sorted(seen), ['master-replica-0', 'worker-replica-0'])
        for look in seen.values():
            self.assertEqual(look['name'], look['host'])
        worker = seen['worker-replica-0']
        self.assertIn('HEARD ' + worker['host'], log)
        self.assertNotEqual(worker['own_address'], seen['master-replica-0']['own_address'])
        self.assertRegex(log, r'CLUSTER cmle-training-master-\w+-0:2222')
        access = (self.emulator.state / 'access.log').read_text()
        self.assertIn(' cluster/worker-replica-0 GET /computeMetadata/v1/instance/name 200 ',
                      access)

    def test_with_a_program_of_the_host_on_port_2222_of_all_addresses(self):
        with contextlib.suppress(OSError):  # somebody listens there already
            self.enterContext(socket.create_server(('0.0.0.0', 2222)))
        log = self.submit('taken', 'task', self.host_port, workers=1)
        self.assertEqual(self.state_of('taken'), 'SUCCEEDED', log)
        self.assertIn('HEARD cmle-training-worker-', log)
        self.assertNotIn('WARNING', log)

    def test_a_restarted_replica_finds_the_same(self):
        log = self.submit('again', 'restarted', self.host_port, 'marker')
        self.assertIn('first boot', log)
        # it restarts on the same machine, whose disk is not the host's
        self.assertRegex(log, r"LEFT \[.*'left'")
        self.assertFalse(os.path.exists('/tmp/left'))
        self.assertEqual(self.state_of('again'), 'SUCCEEDED', log)
        seen = self.seen(log)['master-replica-0']
        self.assertEqual(seen['object'], 'hello from the bucket')
        self.assertEqual(seen['name'], seen['host'])

    def test_can_be_cancelled(self):
        self.submit('stopped', 'sleeper', wait=False)
        child = self.sleeper_of(self.emulator)
        self.emulator.caip('jobs', 'cancel', 'stopped', '--project', 'demo-project')
        support.wait_for(lambda: self.state_of('stopped') == 'CANCELLED', 'the end of the job')
        support.wait_for(lambda: not is_alive(child), f'the end of process {child}')

    def test_nothing_outlives_an_emulator_that_is_killed(self):
        emulator = support.Emulator(*self.flags, config=self.config, prefix=self.prefix)
        self.addCleanup(emulator.close)
        emulator.start()
        self.addCleanup(setattr, type(self), 'emulator', self.emulator)
        type(self).emulator = emulator
        self.submit('orphan', 'sleeper', wait=False)
        self.sleeper_of(emulator)
        processes = descendants(emulator.process.pid)
        self.assertGreaterEqual(len(processes), 4)  # the launcher, an init, the trainer, its child
        emulator.kill()
        support.wait_for(lambda: not any(map(is_alive, processes)), f'the end of {processes}')
        self.assertNotIn(str(emulator.state), Path('/proc/mounts').read_text())

    def sleeper_of(self, emulator):
        """Waits for the process that SLEEPER starts."""
        def found():
            sleeping = [pid for pid in descendants(emulator.process.pid)
                        if command_of(pid).startswith('sleep 600')]
            return sleeping[0] if sleeping else None
        return support.wait_for(found, 'the child of the trainer')


class JobOfAnOrdinaryUser(Job):
    """If the tests run as root: the same as the user nobody, who needs a user namespace."""

    prefix = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups')

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest('the tests run as an ordinary user already')
        support.need('setpriv')
        if not may_run(cls.prefix, support.caip_binary(), 'version'):
            raise unittest.SkipTest('nobody may not run this caip')
        super().setUpClass()


class Denied(unittest.TestCase):
    """Network namespaces are not available, because a user namespace limits their number to 0."""

    def caip(self, *words):
        script = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
        return support.run(['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh',
                            support.caip_binary(), *words], check=False)

    def setUp(self):
        support.need('unshare')
        if self.caip('version').returncode != 0:
            self.skipTest('no user namespace can be made in which to forbid the others')
        self.state = tempfile.mkdtemp(prefix='caip-machine-')
        self.addCleanup(shutil.rmtree, self.state, ignore_errors=True)

    def test_is_one_clear_error_before_anything_runs(self):
        done = self.caip('serve', '--port', '0', '--state', self.state, '--isolation', 'machine')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn('cannot have machines of their own on this host (making a network namespace',
                      done.stderr)
        self.assertIn('denies network namespaces; as root, run `sysctl user.max_net_namespaces=15000`', done.stderr)

    def test_leaves_replicas_as_processes_with_a_note_by_default(self):
        config = Path(self.state) / 'config.yaml'
        config.write_text('images: {"gcr.io/p/host:v1": [/bin/hostname]}\n')
        done = self.caip('jobs', 'submit', 'training', 'job', '--project', 'demo', '--region',
                         'us-central1', '--master-image-uri', 'gcr.io/p/host:v1', '--state',
                         self.state, '--stream-logs')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Replicas are processes of this host, because it allows them no machines of '
                      'their own (making a network namespace', done.stderr)
        self.assertIn(socket.gethostname(), done.stderr)

    def test_is_reported_by_the_doctor(self):
        facts = {fact['name']: fact for fact in json.loads(
            self.caip('doctor', '--format', 'json', '--state', self.state).stdout)}
        self.assertEqual(facts['isolation']['found'], 'no')
        self.assertIn('making a network namespace', facts['isolation']['detail'])


class DeniedToUsers(unittest.TestCase):
    """A setting of the kernel denies user namespaces to a user without rights over the host."""

    def test_the_setting_and_the_remedy_are_named(self):
        support.need('unshare', 'setpriv')
        if support.run(['unshare', '--user', '--map-root-user', 'true'], check=False).returncode != 0:
            self.skipTest('no user namespace can be made in which to forbid the others')
        script = ('echo 0 > /proc/sys/user/max_user_namespaces && '
                  'exec setpriv --inh-caps=-all --bounding-set=-all "$@"')
        with tempfile.TemporaryDirectory(prefix='caip-machine-') as state:
            done = support.run(['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh',
                                support.caip_binary(), 'serve', '--port', '0', '--state', state,
                                '--isolation', 'machine'], check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('denies user namespaces; as root, run `sysctl user.max_user_namespaces=15000`',
                      done.stderr)


class Hidden(unittest.TestCase):
    """Parts of the host are hidden or read-only, as in containers."""

    HIDES_PROC = 'mount --bind /dev/null /proc/version && exec unshare --user --map-root-user "$@"'

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='caip-machine-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.state = self.folder + '/state'

    def caip(self, script, *words, user=('--user', '--map-root-user'), job='job', name='sh'):
        """Runs a job after the script, which is root of a user namespace, with mounts of its own."""
        support.need('unshare')
        prefix = ['unshare', *user, '--mount', 'sh', '-c', script, name]
        if support.run(['unshare', *user, '--mount', 'true'], check=False).returncode != 0:
            self.skipTest('no namespace can be made in which to hide something')
        settings = Path(self.folder) / 'settings.yaml'
        settings.write_text('images: {"gcr.io/p/host:v1": [/bin/hostname]}\n')
        return support.run([*prefix, support.caip_binary(), 'jobs', 'submit', 'training', job, '--project', 'demo',
                            '--region', 'us-central1', '--master-image-uri', 'gcr.io/p/host:v1', '--state', self.state,
                            '--emulator-config', str(settings), '--stream-logs', *words], check=False)

    def test_parts_of_proc_leave_replicas_as_processes_with_advice(self):
        done = self.caip(self.HIDES_PROC)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('(mounting /proc: Operation not permitted. Another mount hides a part of /proc', done.stderr)
        self.assertIn(socket.gethostname(), done.stderr)

    def test_a_state_directory_that_had_machines_before_is_tried_again(self):
        """A container has the boot of its host, and may have a state directory that others used."""
        as_others = 'exec unshare --user --map-root-user "$@"'
        for script, job, is_process in [(as_others, 'a', False), (self.HIDES_PROC, 'b', True), (as_others, 'c', False)]:
            with self.subTest(job=job):
                done = self.caip(script, job=job)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual('Replicas are processes of this host' in done.stderr, is_process, done.stderr)

    def test_a_state_directory_in_the_files_of_a_container_gives_the_remedy(self):
        """The root of an ordinary user's machine has overlays, and none can be on another overlay."""
        if os.getuid() != 0:
            self.skipTest('needs root')
        as_nobody = ('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups')
        if not may_run(as_nobody, support.caip_binary(), 'version'):
            self.skipTest('the user nobody may not run the program of this build')
        os.chmod(self.folder, 0o755)
        script = ('cd "$(dirname "$0")" && mkdir lower upper work state && chown 65534:65534 lower upper && '
                  'mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work state && '
                  f'cd / && exec env HOME="$(dirname "$0")/state" {" ".join(as_nobody)} "$@"')
        done = self.caip(script, user=(), name=self.folder + '/script')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('The state directory must be on a file system that can hold the changes of an overlay', done.stderr)

    def test_the_whole_of_proc_is_one_clear_error(self):
        if os.environ.get('CAIP_SANITIZE'):
            self.skipTest('a sanitizer prints warnings where /proc is hidden')
        done = self.caip('mount -t tmpfs none /proc && exec "$@"')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn('/proc is hidden', done.stderr)

    def test_control_groups_that_cannot_be_made_are_a_note(self):
        done = self.caip("awk '$3 ~ /^cgroup/ {print $2}' /proc/self/mounts | while read -r group; do "
                         'mount -o remount,ro,bind "$group"; done; exec "$@"', '--machine-limits')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('--machine-limits has no effect on this host: ', done.stderr)


def servers_of_one_port():
    """A listener and a socket for datagrams with the same port of 127.0.0.1."""
    while True:
        listening = socket.create_server(('127.0.0.1', 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            datagrams.bind(listening.getsockname())
            return listening, datagrams
        except OSError:
            listening.close()
            datagrams.close()


def answer_datagrams(server):
    """Answers each datagram with its text in capitals, until the socket is closed."""
    with contextlib.suppress(OSError):
        while True:
            text, sender = server.recvfrom(1000)
            server.sendto(text.upper(), sender)


def may_run(prefix, *words):
    """Whether the user to whom `prefix` changes may run it. setpriv itself still has root's rights."""
    shell = ['sh', '-c', 'exec "$@"', 'sh'] if prefix else []
    return support.run([*prefix, *shell, *words], check=False).returncode == 0


def python_for(prefix):
    """A python that the user to whom `prefix` changes may run."""
    for python in (sys.executable, '/usr/bin/python3'):
        if may_run(prefix, python, '-c', 'pass'):
            return python
    raise unittest.SkipTest('the user nobody may not run any python of this host')


def is_alive(pid):
    """Whether a process is alive; a zombie is not."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def command_of(pid):
    try:
        return Path(f'/proc/{pid}/cmdline').read_text().replace('\0', ' ')
    except OSError:
        return ''


def descendants(pid):
    """All processes below a process."""
    found = []
    for task in Path(f'/proc/{pid}/task').glob('*/children'):
        try:
            children = task.read_text().split()
        except OSError:  # the thread has ended
            continue
        for child in children:
            found += [int(child), *descendants(int(child))]
    return found


if __name__ == '__main__':
    support.main()
