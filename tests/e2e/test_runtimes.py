#!/usr/bin/env python3
"""The Python of jobs: `caip runtimes`, --python, an active virtual environment, and what a job that fails says. pip finds
its packages in a folder, so nothing comes from the network.
"""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())
SECONDS = 300
TRAINER = '''
import importlib, sys
print("runs with", sys.prefix)
module = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "tensorflow")
print("module of", module.__version__)
'''


def wheel(folder, name, module, version, body=''):
    """A package of one module that knows its version."""
    label = name.replace('-', '_')
    facts = f'{label}-{version}.dist-info'
    with zipfile.ZipFile(folder / f'{label}-{version}-py3-none-any.whl', 'w') as archive:
        archive.writestr(f'{module}.py', f'__version__ = "{version}"\n{body}')
        archive.writestr(f'{facts}/METADATA', f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
        archive.writestr(f'{facts}/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        archive.writestr(f'{facts}/RECORD', '')


def sources(folder, name, version):
    """A package that exists only as sources."""
    label = f'{name}-{version}'
    facts = f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'.encode()
    with tarfile.open(folder / f'{label}.tar.gz', 'w:gz') as archive:
        for file, text in (('PKG-INFO', facts), ('setup.py', b'raise SystemExit("no compiler")')):
            member = tarfile.TarInfo(f'{label}/{file}')
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))


class Runtimes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-runtimes-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.state = self.folder / 'state'
        self.wheels = self.folder / 'wheels'
        self.wheels.mkdir()
        for version in ('2.10.1', '2.12.0', '2.12.1', '2.13.0'):
            wheel(self.wheels, 'tensorflow', 'tensorflow', version)
        sources(self.wheels, 'scikit-learn', '1.0.2')  # needs a compiler, so another version is taken
        wheel(self.wheels, 'scikit-learn', 'sklearn', '1.1.3')
        wheel(self.wheels, 'xgboost', 'xgboost', '1.6.2')
        (self.folder / 'trainer').mkdir()
        (self.folder / 'trainer/__init__.py').write_text('')
        (self.folder / 'trainer/task.py').write_text(TRAINER)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(('CAIP_', 'CLOUDSDK_', 'PIP_', 'VIRTUAL_ENV', 'CONDA_'))}
        self.environment = {**kept, 'CLOUDSDK_CORE_PROJECT': 'demo', 'CAIP_STATE': str(self.state),
                            'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': str(self.wheels), 'PIP_CONFIG_FILE': os.devnull}
        self.addCleanup(self.caip, 'stop')
        self.jobs = 0

    def caip(self, *words, **variables):
        done = subprocess.run([CAIP, *words], cwd=self.folder, env={**self.environment, **variables}, text=True,
                              timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def job(self, *flags, module=None, **variables):
        self.jobs += 1
        words = ['jobs', 'submit', 'training', f'job_{self.jobs}', '--package-path', 'trainer', '--module-name',
                 'trainer.task', '--staging-bucket', 'gs://my-bucket', '--create-buckets', '--region', 'us-central1',
                 '--runtime-version', '2.11', '--stream-logs', *flags]
        return self.caip(*words, *(['--', module] if module else []), **variables)

    def test_an_installed_runtime_serves_its_jobs_until_it_is_removed(self):
        code, text = self.job()
        self.assertEqual(code, 1, text)
        self.assertIn('caip runtimes install 2.11', text)
        self.assertNotIn('was asked for', text)

        code, text = self.caip('runtimes', 'install', '2.11')
        self.assertEqual(code, 0, text)
        self.assertIn('tensorflow 2.12.1 (2.11.0)', text)
        self.assertNotIn('xgboost 1.6.2 (', text)
        code, text = self.caip('runtimes', 'list', '--format', 'json')
        listed = {runtime['version']: runtime for runtime in json.loads(text)}
        self.assertEqual(listed['2.11']['installedVersions'],
                         {'tensorflow': '2.12.1', 'scikit-learn': '1.1.3', 'xgboost': '1.6.2'})
        self.assertNotIn('installed', listed['2.10'])

        code, text = self.job()
        self.assertEqual(code, 0, text)
        self.assertIn('module of 2.12.1', text)
        self.assertIn('Runtime version 2.11 as installed here has', text)

        code, text = self.caip('runtimes', 'remove', '2.11')
        self.assertEqual(code, 0, text)
        self.assertEqual(sorted(path.name for path in (self.state / 'runtimes').iterdir()), ['.lock'])
        code, text = self.job()
        self.assertEqual(code, 1, text)
        code, text = self.caip('runtimes', 'remove', '2.11')
        self.assertEqual(code, 1, text)
        self.assertIn('is not installed', text)

    def test_what_cannot_be_installed_leaves_nothing(self):
        (self.wheels / 'xgboost-1.6.2-py3-none-any.whl').unlink()
        code, text = self.caip('runtimes', 'install', '2.11')
        self.assertEqual(code, 1, text)
        self.assertIn("no version of 'xgboost'", text)
        wheel(self.wheels, 'xgboost', 'xgboost', '1.6.2', 'import module_that_is_not_there')
        code, text = self.caip('runtimes', 'install', '2.11')
        self.assertEqual(code, 1, text)
        self.assertIn('cannot be imported', text)
        self.assertIn('module_that_is_not_there', text)
        self.assertEqual(sorted(path.name for path in (self.state / 'runtimes').iterdir()), ['.lock'])
        for words in (('2.0',), ('..',), ('2.11', '--python', '/nowhere/python3')):
            code, text = self.caip('runtimes', 'install', *words)
            self.assertEqual(code, 2, text)

    def test_an_interrupted_installation_leaves_nothing(self):
        mark = self.folder / 'importing'
        wheel(self.wheels, 'xgboost', 'xgboost', '1.6.2',
              f'import time\nopen({str(mark)!r}, "w").close()\ntime.sleep(600)\n')
        with subprocess.Popen([CAIP, 'runtimes', 'install', '2.11'], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as install:
            deadline = time.monotonic() + SECONDS
            while not mark.exists():
                self.assertIsNone(install.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            code, text = self.caip('runtimes', 'install', '2.10')
            self.assertEqual(code, 1, text)
            self.assertIn('Another command installs', text)
            code, text = self.caip('runtimes', 'remove', '2.11')
            self.assertEqual(code, 1, text)
            self.assertIn('Another command installs', text)
            install.send_signal(signal.SIGINT)
            said, _ = install.communicate(timeout=SECONDS)
        self.assertEqual(install.returncode, 130, said)
        self.assertEqual(sorted(path.name for path in (self.state / 'runtimes').iterdir()), ['.lock'])

    def test_a_virtual_environment_is_used_when_it_is_active_or_named(self):
        environments = []
        for name, version in (('one', '2.10.1'), ('two', '2.13.0')):
            root = self.folder / name
            subprocess.run([sys.executable, '-m', 'venv', '--without-pip', root], check=True, timeout=SECONDS)
            packages = next(root.glob('lib/python3*/site-packages'))
            with zipfile.ZipFile(self.wheels / f'tensorflow-{version}-py3-none-any.whl') as archive:
                archive.extractall(packages)
            environments.append(str(root))
        code, text = self.job(VIRTUAL_ENV=environments[0])
        self.assertEqual(code, 0, text)
        self.assertIn('module of 2.10.1', text)
        self.assertNotIn('was asked for', text)
        # Another environment becomes active: the emulator of the first job is replaced, because it is not used.
        code, text = self.caip('env', '--create-buckets', VIRTUAL_ENV=environments[0])
        self.assertEqual(code, 0, text)
        code, text = self.job(VIRTUAL_ENV=environments[1])
        self.assertEqual(code, 0, text)
        self.assertIn(f'starts again with the virtual environment {environments[1]}', text)
        self.assertIn('module of 2.13.0', text)
        # A flag is stronger.
        code, text = self.job('--python', 'one', VIRTUAL_ENV=environments[1])
        self.assertEqual(code, 0, text)
        self.assertIn('module of 2.10.1', text)
        code, text = self.job('--python', 'three')
        self.assertEqual(code, 2, text)
        self.assertIn('virtual environment', text)

    def test_a_failed_job_names_the_files_of_the_user_and_pip_says_little(self):
        code, text = self.job(module='x')
        self.assertEqual(code, 1, text)
        task = self.folder / 'trainer/task.py'
        self.assertIn(f'File "{task}", line 4, in <module>', text)
        self.assertNotIn('/site-packages/trainer', text)
        self.assertEqual(text.count('Successfully installed trainer-0.0.0'), 1, text)
        self.assertNotIn('Processing ./trainer', text)
        for words in (('jobs', 'logs', 'job_1'), ('jobs', 'stream-logs', 'job_1'), ('jobs', 'describe', 'job_1')):
            code, text = self.caip(*words)
            self.assertEqual(code, 0, text)
            self.assertIn(str(task), text, words)
        code, text = self.caip('jobs', 'describe', 'job_1', '--format', 'value(errorMessage)')
        self.assertIn('/site-packages/trainer/task.py', text)


if __name__ == '__main__':
    unittest.main()
