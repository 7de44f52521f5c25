"""Shared by the tests of frameworks that train on several machines: an interpreter with the framework, and the scenarios
of scenarios/frameworks, which say what must hold. The machines have the names of the service."""

import shutil
import tempfile
import unittest
from pathlib import Path

import support

SCENARIOS = support.ROOT / 'scenarios/frameworks'


class FrameworkTest(unittest.TestCase):
    """The interpreter runs the packages of jobs with runtime version 2.11."""

    name, requirements, gigabytes = '', (), 1

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        need_space(cls.name, cls.gigabytes)
        python = support.virtualenv(cls.name, *cls.requirements, timeout=1200)
        cls.state = Path(tempfile.mkdtemp(prefix='caip-frameworks-'))
        cls.addClassCleanup(shutil.rmtree, cls.state, ignore_errors=True)
        (cls.state / 'config.yaml').write_text(f'runtimes: {{"2.11": {python}}}\n'
                                               'isolation: machine\n')

    def assert_passes(self, scenario):
        """Runs a scenario of the folder."""
        done = support.run([support.caip_binary(), 'scenario', 'run', SCENARIOS / f'{scenario}.yaml',
                            '--state', self.state, '--verbose'],
                           env=support.clean_environment(), timeout=1200, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn('1 scenario: 1 passed', said)  # a scenario that is skipped does not fail


def need_space(name, gigabytes):
    """Skips if the framework is not installed and takes more space than the disk has."""
    home = support.clients_directory()
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free >> 30
    if free < gigabytes and not (home / f'venv-{name}').exists():
        raise unittest.SkipTest(f'{home} has {free} GiB of free space, {gigabytes} are needed')
