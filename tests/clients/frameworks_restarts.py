"""Trainers that follow the checkpoint recipes of six frameworks. In each, the explorer finds a planted restart bug, and
nothing once it is fixed. docs/explored.md has the results."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import frameworks
import support

RECIPES = support.ROOT / 'scenarios/trainers/frameworks/recipes'
# The first finding in the trainer with --bug.
BUGS = {
    'torch': 'the job ends FAILED',
    'lightning': 'no restart uses what was saved',
    'transformers': 'the job ends FAILED',
    'keras': 'the job ends FAILED',
    'xgboost': 'unexpected steps',
    'lightgbm': 'an artefact belongs to another state',
}


@frameworks.large
class Recipes(unittest.TestCase):
    """One interpreter has all six. The package of PyTorch has the libraries of CUDA, too."""

    @classmethod
    def setUpClass(cls):
        frameworks.need_space('recipes', 14)
        cls.python = support.virtualenv('recipes', 'torch', 'lightning', 'transformers', 'accelerate', 'keras', 'xgboost-cpu',
                                        'lightgbm', 'scikit-learn', timeout=2400)

    def explore(self, name, *flags):
        """The findings of which the explorer is sure, and its text."""
        folder = Path(tempfile.mkdtemp(prefix='caip-recipe-'))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        done = support.run([support.caip_binary(), 'explore', '--max-points', '12', '--no-pairs', '--json', folder / 'report.json',
                            '--out', folder / 'out', '--state', folder / 'state', '--', self.python,
                            RECIPES / f'{name}_recipe.py', '--out', '{job_dir}', *flags],
                           env=support.clean_environment(), cwd=folder, timeout=1500, check=False)
        report = json.loads((folder / 'report.json').read_text())
        return [one['cause'] for one in report['findings'] if one['sure']], done.stdout + done.stderr

    def assert_bug_and_fix(self, name):
        """The bug is the first finding; the fixed trainer has none."""
        found, said = self.explore(name, '--bug')
        self.assertTrue(found and found[0].startswith(BUGS[name]), said)
        found, said = self.explore(name)
        self.assertEqual(found, [], said)


def case(name):
    """A test of one framework, so that each is reported by its name."""
    return lambda self: self.assert_bug_and_fix(name)


for framework in BUGS:
    setattr(Recipes, f'test_{framework}', case(framework))

if __name__ == '__main__':
    support.main()
