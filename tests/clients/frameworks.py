"""Shared by the tests of frameworks that train on several machines: an interpreter with the framework, and the scenarios
of scenarios/frameworks, which say what must hold. The machines have the names of the service. A trainer is a package, or
an image that is made here."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

import framework_image
import support

SCENARIOS = support.ROOT / 'scenarios/frameworks'
TRAINERS = support.ROOT / 'scenarios/trainers/distributed'
IMAGE = 'gcr.io/demo/trainer'

ROLES = ('master', 'worker', 'parameterServer', 'evaluator')

# Marks a case that runs with CAIP_TEST_LARGE=1 only: each takes a minute of two cores.
large = unittest.skipUnless(os.environ.get('CAIP_TEST_LARGE'), 'runs with CAIP_TEST_LARGE=1')


class FrameworkTest(unittest.TestCase):
    """The interpreter runs the packages of jobs with runtime version 2.11."""

    name, requirements, gigabytes = '', (), 1
    elsewhere = ()  # paths of packages that are not in the environment

    @classmethod
    def environment(cls):
        """The Python of an environment with the framework."""
        need_space(cls.name, cls.gigabytes)
        return support.virtualenv(cls.name, *cls.requirements, timeout=1200)

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        cls.python = python = cls.environment()
        cls.state = Path(tempfile.mkdtemp(prefix='caip-frameworks-'))
        cls.addClassCleanup(shutil.rmtree, cls.state, ignore_errors=True)
        (cls.state / 'config.yaml').write_text(f'runtimes: {{"2.11": {python}}}\n'
                                               'isolation: machine\n')

    def assert_passes(self, scenario):
        """Runs a scenario of the folder."""
        self.assert_file_passes(SCENARIOS / f'{scenario}.yaml')

    def assert_passes_from_image(self, scenario, module, cluster='cluster_rescheduled', more=''):
        """Runs a scenario of the folder with an image of `module` instead of the package. `cluster` is the job's file, `more` is
        added to the scenario."""
        scratch = Path(tempfile.mkdtemp(prefix='caip-image-'))
        self.addCleanup(shutil.rmtree, scratch, ignore_errors=True)
        image = framework_image.trainer_image(scratch / 'image', self.python, TRAINERS / 'trainer', module,
                                              more=self.elsewhere)
        (scratch / 'cluster.yaml').write_text(with_images((TRAINERS / f'{cluster}.yaml').read_text()))
        file = scratch / f'{scenario}_from_image.yaml'
        file.write_text(f'extends: {SCENARIOS}/{scenario}.yaml\nneeds: {{modules: []}}\n'
                        f'job: {{submit: [--map-image, "{IMAGE}={image}", --config, cluster.yaml]}}\n{more}\n')
        self.assert_file_passes(file)

    def assert_new_trainer_works(self, kind):
        """The trainer that `caip init` writes survives the restart of its own scenario."""
        folder = Path(tempfile.mkdtemp(prefix='caip-new-'))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        support.run([support.caip_binary(), 'init', kind, folder])
        self.assert_file_passes(folder / 'restarts.yaml')

    def assert_file_passes(self, file):
        """Runs a scenario."""
        done = support.run([support.caip_binary(), 'scenario', 'run', file, '--state', self.state, '--verbose'],
                           env=support.clean_environment(), timeout=1200, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn('1 scenario: 1 passed', said)  # a scenario that is skipped does not fail


def with_images(config):
    """A job's configuration with an image for each role instead of a runtime version."""
    lines = [line for line in config.splitlines() if not line.strip().startswith(('runtimeVersion:', 'pythonVersion:'))]
    roles = [role for role in ROLES if f'{role}Type:' in config]
    return '\n'.join([*lines, '  useChiefInTfConfig: true', *(f'  {role}Config: {{imageUri: {IMAGE}}}' for role in roles), ''])


def need_space(name, gigabytes):
    """Skips if the framework is not installed and takes more space than the disk has."""
    home = support.clients_directory()
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free >> 30
    if free < gigabytes and not (home / f'venv-{name}').exists():
        raise unittest.SkipTest(f'{home} has {free} GiB of free space, {gigabytes} are needed')
