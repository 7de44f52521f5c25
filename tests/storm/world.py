"""An emulator to kill, and the requests to it."""

import contextlib
import fcntl
import http.client
import json
import os
import resource
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from power_cut import Disk

ROOT = Path(__file__).resolve().parents[2]
MARKER = 'CAIP_STORM'
ESTABLISHED, CLOSE_WAIT = '01', '08'  # states in /proc/PID/net/tcp
LAUNCHER_SECONDS = 20  # kLauncherPatience in src/host/process/launcher_lock.h
REPLICA = 'CAIP_REPLICA'  # of each replica's processes (src/host/process/orphans.h)
PROJECT = 'storm-project'
IMAGE = 'gcr.io/storm-project/lines:1'
LINES = 20
TRAINER = f"sh -c 'i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo storm line $i; done'"
STUDY_IMAGE = 'gcr.io/storm-project/study:1'
# Reports the value of its one parameter as the metric, as cloudml-hypertune writes it.
STUDY_TRAINER = r"""sh -c 'echo "{\"m\": \"$1\", \"global_step\": \"1\", \"timestamp\": 1.5,""" \
    r""" \"trial\": \"$CLOUD_ML_TRIAL_ID\"}" > "$CLOUD_ML_HP_METRIC_FILE"'"""


class Lost(Exception):
    """Something acknowledged is gone, or something is there that nobody wrote."""


class Refused(Lost):
    """A request got an error as its answer."""


class Client:
    """One connection that is opened again when it was lost. One thread."""

    def __init__(self, emulator):
        self.emulator = emulator
        self.connection = None

    def send(self, method, target, body=None, headers=None):
        """(status, headers, body). OSError or HTTPException: no answer came."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection('127.0.0.1', self.emulator.port, timeout=60)
        try:
            self.connection.request(method, target, body, headers or {})
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except BaseException:
            self.connection.close()
            self.connection = None
            raise

    def json(self, method, target, value=None, expect=(200,)):
        """The answer as a JSON value; another status than `expect` is an error."""
        body = None if value is None else json.dumps(value).encode()
        status, _, text = self.send(method, target, body, {'Content-Type': 'application/json'})
        if status not in expect:
            raise Refused(f'{method} {target}: {status} {text[:300]!r}')
        return json.loads(text) if text else {}

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


def state_id(directory):
    """The first part of REPLICA's value, FNV-1a of the path."""
    number = 0xcbf29ce484222325
    for byte in os.fsencode(directory.resolve()):
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return f'{number:016x}'


def facts_of(pid):
    """(state, parent, start) of a process. The start tells it from a later one with the same number."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return fields[0], int(fields[1]), int(fields[19])


def living_processes():
    """The parent of each process that has not ended: {pid: pid}."""
    parents = {}
    for entry in Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent, _ = facts_of(entry.name)
        except (OSError, ValueError):
            continue
        if state != 'Z':
            parents[int(entry.name)] = parent
    return parents


class Emulator:
    """`caip serve` on one state directory, which outlives its processes."""

    def __init__(self, caip, prefix=(), environment=None):
        self.caip = str(Path(caip).resolve())
        self.directory = Path(tempfile.mkdtemp(prefix='caip-storm-'))
        self.marker = secrets.token_hex(8)
        self.prefix = list(prefix)
        self.environment = {**os.environ, MARKER: self.marker, **(environment or {})}
        self.process = None
        self.family = {}  # processes that the emulators had: {pid: start}
        self.port = 0  # a new one at each start: meanwhile any program may take the old one
        self.state_id = state_id(self.directory / 'state')

    def start(self):
        reader, writer = os.pipe()
        words = [*self.prefix, self.caip, 'serve', '--state', self.directory / 'state', '--port',
                 0, '--access-log', 'off', '--map-image', f'{IMAGE}={TRAINER}',
                 '--map-image', f'{STUDY_IMAGE}={STUDY_TRAINER}']
        with open(self.directory / 'serve.log', 'ab') as log:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[writer], env={**self.environment, 'CAIP_READY_FD': str(writer)})
        os.close(writer)
        with os.fdopen(reader) as ready:
            url = ready.readline().strip()
        if not url:
            raise Lost('the emulator does not start:\n' + self.log())
        self.port = int(url.rsplit(':', 1)[1])

    def has_connections(self):
        """Whether the emulator has a connection of a client that it has not closed."""
        local = f':{self.port:04X}'
        for line in Path(f'/proc/{self.process.pid}/net/tcp').read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(local) and fields[3] in (ESTABLISHED, CLOSE_WAIT):
                return True
        return False

    def watch_disk(self, library):
        """From now on each emulator journals its changes, and the disk can cut the power."""
        disk = Disk(self.directory / 'state', self.directory / 'disk')
        self.environment.update(disk.environment(library))
        return disk

    @contextlib.contextmanager
    def few_descriptors(self, more):
        """The emulator may open `more` files, no further ones."""
        pid, limit = self.process.pid, resource.RLIMIT_NOFILE
        used = max(int(name) for name in os.listdir(f'/proc/{pid}/fd'))
        soft, hard = resource.prlimit(pid, limit)
        resource.prlimit(pid, limit, (min(used + 1 + more, soft), hard))
        try:
            yield
        finally:
            resource.prlimit(pid, limit, (soft, hard))

    def kill_all(self):
        """SIGKILL for the emulator and all that it started. Returns when all of it is dead."""
        self.kill()
        while left := self.own_processes():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    def descendants(self):
        """The processes that the emulator, or any of them, has started."""
        parents, found = living_processes(), {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {self.process.pid}

    def log(self):
        return (self.directory / 'serve.log').read_text(errors='replace')[-3000:]

    def remember_family(self):
        """Notes the processes that the emulator has, to find those that outlive it.

        A launcher has an empty environment and no arguments, and so has the first process of a machine.
        """
        for pid in self.descendants():
            with contextlib.suppress(OSError, ValueError):
                self.family[pid] = facts_of(pid)[2]

    def own_processes(self):
        """The living processes that descend from an emulator of this storm: {pid: command line}."""
        found = {}
        for entry in Path('/proc').iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                words = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
                if self.owns(int(entry.name), words):
                    found[int(entry.name)] = words
            except (OSError, ValueError):
                continue
        return found

    def owns(self, pid, words):
        state, parent, start = facts_of(pid)
        if self.process is not None and parent == self.process.pid or str(self.directory) in words:
            return True
        if state != 'Z' and self.family.get(pid) == start:
            return True
        environment = Path(f'/proc/{pid}/environ').read_bytes()
        if any(mark.encode() in environment for mark in
               (f'{MARKER}={self.marker}', f'{REPLICA}={self.state_id}/')):
            return True
        # A machine has parts of the state directory as its file systems.
        return str(self.directory).encode() in Path(f'/proc/{pid}/mountinfo').read_bytes()

    def orphans(self):
        """Own processes that do not descend from the living emulator: {pid: command line}."""
        own = self.own_processes()
        family = self.descendants() | {self.process.pid}
        return {pid: words for pid, words in own.items() if pid not in family}

    def replicas(self):
        """The job's id for each living process of a replica: {pid: id}."""
        start, found = f'{REPLICA}={self.state_id}/{PROJECT}/'.encode(), {}
        for pid in living_processes():
            try:
                environment = Path(f'/proc/{pid}/environ').read_bytes()
            except OSError:
                continue
            at = environment.find(start)
            if at >= 0:
                found[pid] = environment[at + len(start):].split(b'/', 1)[0].decode()
        return found

    def launchers(self):
        """Not the processes that become replicas: they have the launcher's command line at first."""
        parents = living_processes()
        return [pid for pid, words in self.own_processes().items()
                if 'launcher' in words.split(' ')[0] and parents.get(pid) == self.process.pid]

    def kill(self, launcher_too=False):
        """SIGKILL. With `launcher_too`, the process that starts the replicas goes first.

        Returns the number of launchers that it killed.
        """
        self.remember_family()
        killed = self.kill_launcher() if launcher_too else 0
        self.process.kill()
        self.process.wait()
        return killed

    def kill_launcher(self):
        """SIGKILL. Returns the number of launchers that it killed."""
        self.remember_family()
        killed = 0
        for pid in self.launchers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        return killed

    def is_launcher_lock_free(self, seconds=LAUNCHER_SECONDS):
        """Whether the launchers and all replicas end in time: takes their lock, as the next emulator does."""
        deadline = time.monotonic() + seconds
        with open(self.directory / 'state/launcher.lock', 'rb') as lock:
            while True:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.02)

    def stop(self):
        self.remember_family()
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Lost('the emulator does not end within 30 s of SIGTERM') from None

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)
