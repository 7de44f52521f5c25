"""A state directory as caip 0.1 left it, made from the dumps in tests/fixtures, and ways to look at states."""

import os
import pathlib
import sqlite3
import subprocess
import time

CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())
FIXTURES = pathlib.Path(__file__).resolve().parents[1] / 'fixtures'
SECONDS = 120
OBJECT = 'fixture-bucket/model/weights.txt'
OLDER = '.caip-versions/fixture-bucket/1795715304285203'
WEIGHTS = b'weights of 0.1\n'
DATABASES = ('jobs.db', 'studies.db', 'logs.db', 'buckets.db')


def caip(state, *words, environment=None, **options):
    """Runs `caip WORDS` on the state to its end."""
    given = {**os.environ, 'CAIP_STATE': str(state), 'CLOUDSDK_CORE_PROJECT': 'demo', **(environment or {})}
    options.setdefault('text', True)
    return subprocess.run([CAIP, *words], env=given, capture_output=True, timeout=SECONDS, **options)


def make_database(dump, file):
    database = sqlite3.connect(file)
    database.executescript(dump.read_text())
    database.close()


def run_sql(file, sql):
    database = sqlite3.connect(file)
    database.execute(sql)
    database.commit()
    database.close()


def make(state):
    """The jobs, the log, a study, a bucket with an object and an older version of it, and the keys."""
    state.mkdir(mode=0o700)
    make_database(FIXTURES / 'jobs_0_1.sql', state / 'jobs.db')
    for name in ('studies', 'logs', 'buckets'):
        make_database(FIXTURES / 'state_0_1' / f'{name}.sql', state / f'{name}.db')
    database = sqlite3.connect(state / 'buckets.db')
    for table, path in (('objects', OBJECT), ('versions', OLDER)):
        file = state / 'buckets' / path
        file.parent.mkdir(parents=True)
        file.write_bytes(WEIGHTS)
        facts = file.stat()
        database.execute(f'UPDATE {table} SET inode = ?, modified_ns = ?', (facts.st_ino, facts.st_mtime_ns))
    database.commit()
    database.close()
    keys = state / 'storage-keys'
    keys.mkdir()
    (keys / 'public_keys.json').write_text('{}')


def make_recent(state):
    """The same, with jobs that were created two minutes ago. A job ends a week after its start by itself."""
    make(state)
    minute = time.strftime('%Y-%m-%dT%H:%M:', time.gmtime(time.time() - 120))
    for table, column in (('jobs', 'job'), ('jobs', 'run'), ('trials', 'state'), ('trials', 'run')):
        run_sql(state / 'jobs.db', f"UPDATE {table} SET {column} = replace({column}, '2026-11-22T21:40:', '{minute}')")


def contents(folder):
    """Each file below the folder with its bytes and its time."""
    return {str(file.relative_to(folder)): (file.read_bytes() if file.is_file() else None, file.lstat().st_mtime_ns)
            for file in sorted(folder.rglob('*'))}


def dump(file):
    """The schema, its version and all rows of a database that is not damaged."""
    database = sqlite3.connect(file)
    assert database.execute('PRAGMA integrity_check').fetchall() == [('ok',)], file
    text = [str(database.execute('PRAGMA user_version').fetchone()), *database.iterdump()]
    database.close()
    return '\n'.join(text)


class Server:
    """`caip serve` on the state, until the end of a `with` block."""

    def __init__(self, state, *words, **options):
        self.state = state
        self.words = words
        self.options = options  # of subprocess.Popen

    def __enter__(self):
        given = {**os.environ, 'CAIP_STATE': str(self.state), 'CLOUDSDK_CORE_PROJECT': 'demo'}
        self.process = subprocess.Popen([CAIP, 'serve', '--port', '0', *self.words], env=given, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **self.options)
        first = self.process.stdout.readline()
        assert 'serves' in first, first + self.process.stdout.read()
        self.url = first.split()[-1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=SECONDS)


def wait_for(condition, what):
    """Until the condition holds, for at most a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f'{what} did not happen in a minute'
        time.sleep(0.05)
