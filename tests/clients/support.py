"""Shared by the tests of real clients: an emulator, and the installation of clients.

A script is one client. It runs by itself (`python3 tests/clients/gcloud.py -v [Class.test]`) or
from ctest as `clients.gcloud`. It ends with `support.main()`: exit code 0 all passed, 1 something
failed, 77 nothing could be run here. Skipped tests are listed by name, with the reason.

  CAIP          the caip to test; default: the newest of build/{release,quick,dev}/caip
  CAIP_CLIENTS  where virtual environments and node modules are kept; default: clients/ beside caip
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
# Variables that must not reach a client from the developer's shell.
FOREIGN = ('CLOUDSDK_', 'GOOGLE_', 'STORAGE_EMULATOR_HOST', 'BOTO_', 'GCE_METADATA_', 'CAIP_STATE',
           'CAIP_ENDPOINT', 'HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'TENSORSTORE_', 'PYTHON',
           'GRPC_', 'grpc_proxy', 'no_grpc_proxy')
installation = {k: v for k, v in os.environ.items() if k.lower() in ('http_proxy', 'https_proxy')}


def caip_binary():
    """The caip under test."""
    if os.environ.get('CAIP'):
        return Path(os.environ['CAIP']).resolve()
    built = [ROOT / 'build' / name / 'caip' for name in ('release', 'quick', 'dev')]
    built = [path for path in built if path.exists()]
    if not built:
        raise SystemExit('tests/clients: caip is not built. Build it, or set CAIP.')
    return max(built, key=lambda path: path.stat().st_mtime)


def clients_directory():
    """The directory that keeps installed clients between runs."""
    return Path(os.environ.get('CAIP_CLIENTS') or caip_binary().parent / 'clients').resolve()


def clean_environment():
    """This process's environment without variables that configure clients."""
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def need(*programs):
    """Skips unless all programs are on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f'{program} is not on PATH')


def need_entry():
    """Skips where `caip jobs shell` cannot enter a machine."""
    if os.environ.get('CAIP_SANITIZE') == 'thread':
        raise unittest.SkipTest('a process with a second thread, as the sanitizer has, cannot enter a user namespace')


def need_isolation(prefix=()):
    """Skips if replicas cannot have machines of their own on this host. `prefix` changes to the user who asks."""
    with tempfile.TemporaryDirectory() as state:
        done = run([*prefix, caip_binary(), 'doctor', '--format', 'json', '--state', state])
    fact = next(fact for fact in json.loads(done.stdout) if fact['name'] == 'isolation')
    if fact['found'] != 'yes':
        raise unittest.SkipTest(f'replicas cannot have machines of their own here: '
                                f'{fact["detail"]}')


def run(words, env=None, timeout=300, check=True, cwd=None, stdin=None):
    """Runs a program to its end. With `check`, a failure is an AssertionError with its output."""
    words = [str(word) for word in words]
    done = subprocess.run(words, env=env, timeout=timeout, cwd=cwd, capture_output=True, text=True,
                          input=stdin, errors='replace')
    if check and done.returncode != 0:
        raise AssertionError(f'{" ".join(words)} ended with {done.returncode}\n--- stdout\n'
                             f'{done.stdout[-4000:]}\n--- stderr\n{done.stderr[-6000:]}')
    return done


def wait_for(condition, what, seconds=60):
    """Waits until `condition()` is true, and returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {seconds} s in vain for {what}')
        time.sleep(0.05)


@contextlib.contextmanager
def installing(name, recipe):
    """Yields the directory of a client, empty if it must be installed; one process at a time."""
    home = clients_directory()
    home.mkdir(parents=True, exist_ok=True)
    stamp = hashlib.sha256(recipe.encode()).hexdigest()
    directory = home / name
    with open(home / f'{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = directory / '.caip-recipe'
        fresh = not (made.exists() and made.read_text() == stamp)
        if fresh:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
        yield directory, fresh
        made.write_text(stamp)


def install(words, env, timeout, cwd=None):
    """Runs an installer; skips if it fails."""
    try:
        done = run(words, env=env, timeout=timeout, check=False, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise unittest.SkipTest(f'{words[0]} took more than {timeout} s to install') from None
    if done.returncode != 0:
        said = re.sub(r'\x1b\[[0-9;]*m', '', f'{done.stdout}\n{done.stderr}').split('\n')
        said = [line.strip() for line in said if line.strip()] or ['?']
        why = next((line for line in said if 'error' in line.lower()), said[-1])
        raise unittest.SkipTest(f'cannot be installed here: {why[:300]}')


def virtualenv(name, *requirements, python=sys.executable, timeout=900, system_packages=False):
    """The python of a virtual environment with these requirements; skips if they cannot be installed."""
    recipe = json.dumps([str(python), requirements, system_packages])
    with installing(f'venv-{name}', recipe) as (directory, fresh):
        interpreter = directory / 'bin/python'
        if fresh:
            env = {**clean_environment(), **installation}
            more = ['--system-site-packages'] if system_packages else []
            install([python, '-m', 'venv', *more, directory], env, timeout)
            if requirements:
                install([interpreter, '-m', 'pip', 'install', '-q', '--disable-pip-version-check',
                          *requirements], env, timeout)
    return interpreter


def node_modules(name, *packages, timeout=600):
    """A directory below which `node` finds these packages; skips if they cannot be installed."""
    need('node', 'npm')
    with installing(f'node-{name}', json.dumps(packages)) as (directory, fresh):
        if fresh:
            env = {**clean_environment(), **installation}
            (directory / 'package.json').write_text('{"private": true}')
            install(['npm', 'install', '--silent', '--no-audit', '--no-fund', *packages], env,
                     timeout, cwd=directory)
    return directory


class Emulator:
    """`caip serve` on a new state directory. Closing it removes everything.

    with Emulator('--create-buckets') as emulator:
        run(['gcloud', 'storage', 'ls'], env=emulator.env)
    """

    def __init__(self, *flags, project='demo-project', config=None, port=0, env=None, prefix=(), authority=None):
        self.flags = flags
        self.project = project
        self.directory = Path(tempfile.mkdtemp(prefix='caip-client-'))
        self.state = self.directory / 'state'
        self.asked_port = port
        self.own = env or {}
        self.home = {}
        self.prefix = prefix  # words before every caip command, such as those of setpriv
        self.process = None
        if authority is not None:
            self.state.mkdir()
            shutil.copytree(authority, self.state / 'ca')
        if config is not None:
            self.state.mkdir(exist_ok=True)
            (self.state / 'config.yaml').write_text(config)
        if prefix:
            self.give_away()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Starts the server and waits until it reports that it serves."""
        reader, writer = os.pipe()
        env = {**clean_environment(), **self.home, **self.own, 'CAIP_READY_FD': str(writer)}
        words = [*self.prefix, caip_binary(), 'serve', '--state', self.state, '--port', self.asked_port, *self.flags]
        with open(self.directory / 'serve.log', 'ab') as log:
            self.process = subprocess.Popen([str(word) for word in words], env=env, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL,
                                            pass_fds=[writer], start_new_session=True)
        os.close(writer)
        with os.fdopen(reader) as ready:
            self.url = ready.readline().strip()  # the end of the file ends this, too
        if not self.url:
            self.process.wait()
            raise AssertionError('caip serve did not start:\n' + self.log())
        self.port = int(self.url.rsplit(':', 1)[1])
        self.variables = json.loads(self.caip('env', '--format', 'json', '--project',
                                              self.project).stdout)
        self.env = {**clean_environment(), **self.variables}
        return self

    def give_away(self):
        """Gives the directory to the user to whom `prefix` changes."""
        ids = run([*self.prefix, 'sh', '-c', 'id -u; id -g']).stdout.split()
        for path in (self.directory, *self.directory.rglob('*')):
            os.chown(path, *map(int, ids))
        self.home = {'HOME': str(self.directory)}

    def stop(self):
        """Sends SIGTERM and waits for the end."""
        self._end(signal.SIGTERM)

    def kill(self):
        """Sends SIGKILL, which is like a power cut for the process."""
        self._end(signal.SIGKILL)

    def _end(self, number):
        if self.process is None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError('caip serve did not end in 30 s\n' + self.log()) from None
        finally:
            self.process = None

    def restart(self, kill=False):
        """Restarts it on the same state, and on another port: meanwhile any program may take the old one."""
        self._end(signal.SIGKILL if kill else signal.SIGTERM)
        return self.start()

    def close(self):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def caip(self, *words, check=True, timeout=300, cwd=None):
        """Runs a caip command on this state directory."""
        env = {**clean_environment(), **self.home, 'CAIP_STATE': str(self.state)}
        return run([*self.prefix, caip_binary(), *words], env=env, check=check, timeout=timeout, cwd=cwd)

    def bucket(self, name='bkt'):
        """Creates a bucket, and returns its directory on disk."""
        self.caip('buckets', 'create', name)
        return self.state / 'buckets' / name

    def log(self):
        """The server's output so far."""
        return (self.directory / 'serve.log').read_text(errors='replace')


class EmulatorTest(unittest.TestCase):
    """One emulator for all tests of a class, with `flags`, the text `config`, and the directory `authority`.

    `authority` is a copy of another emulator's certificate authority, for clients that read it once in a process.
    """

    flags = ()
    config = None
    authority = None
    emulator = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.emulator = Emulator(*cls.flags, config=cls.config, authority=cls.authority)
        cls.addClassCleanup(cls.emulator.close)
        cls.emulator.start()


def write_package(parent, source, name='trainer'):
    """Writes parent/trainer/{__init__,task}.py, and returns the package's directory."""
    package = Path(parent) / name
    package.mkdir(parents=True, exist_ok=True)
    (package / '__init__.py').write_text('')
    (package / 'task.py').write_text(source)
    return package


def main():
    """Like unittest.main, but lists skips by name, and exits with 77 if every test was skipped."""
    program = unittest.main(module='__main__', exit=False,
                            argv=sys.argv if len(sys.argv) > 1 else [sys.argv[0], '-v'])
    result = program.result
    for test, reason in result.skipped:
        print(f'SKIPPED {test}: {reason}', flush=True)
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that is skipped as a whole is not a test, and does not count among those that ran.
    skipped = [test for test, _ in result.skipped if isinstance(test, unittest.TestCase)]
    only_skips = len(skipped) >= result.testsRun
    sys.exit(SKIPPED if result.skipped and only_skips else 0)
