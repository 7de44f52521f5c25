"""The workflow files of docs/ci: every command in them is one that works."""

import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAIP = os.environ.get('CAIP', 'caip')
TEST = '''import urllib.request
def test_speaks(caip):
    with urllib.request.urlopen(caip.endpoint + '/v1/projects/p/jobs') as answer:
        assert answer.status == 200
'''


def text_of(name):
    with open(os.path.join(ROOT, 'docs', 'ci', name)) as file:
        return file.read()


def github():
    return re.findall(r'- run: (.*)', text_of('github-actions.yml'))


def gitlab():
    """The items of every `script:`, with the lines that go on joined."""
    commands = []
    for block in re.findall(r'  script:\n((?:    .*\n)+)', text_of('gitlab-ci.yml')):
        commands += [' '.join(item.split()) for item in re.findall(r'- (.*(?:\n      .*)*)', block)]
    return [re.sub(r'\s+#.*', '', command) for command in commands]


class Workflows(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.lay_out()

    def lay_out(self):
        """The user's tree as the workflow makes it: caip beside the user's own files."""
        tree = os.path.join(self.folder, 'caip')
        os.makedirs(os.path.join(tree, 'build'))
        os.symlink(os.path.dirname(os.path.realpath(CAIP)), os.path.join(tree, 'build', 'release'))
        for name in ('conformance', 'scripts'):
            os.symlink(os.path.join(ROOT, name), os.path.join(tree, name))
        os.makedirs(os.path.join(tree, 'tests'))
        os.symlink(os.path.join(ROOT, 'tests', 'fixtures'), os.path.join(tree, 'tests', 'fixtures'))
        with open(os.path.join(tree, 'tests', 'test_of_caip_itself.py'), 'w') as file:
            file.write('def test_nobody_asked_for():\n    assert False\n')

    def run_it(self, command, folder=''):
        return subprocess.run(['bash', '-ec', command], cwd=os.path.join(self.folder, folder), timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, CI_NODE_INDEX='1', CI_NODE_TOTAL='2'))

    def test_the_judge_takes_the_words(self):
        for command, folder in ((github(), ''), (gitlab(), 'caip')):
            command, = [one for one in command if 'caip conform' in one]
            with self.subTest(command):
                filled = re.sub(r'\$\{\{ matrix.shard \}\}', '1', command)
                run = self.run_it(filled + ' --filter "labels/*"', folder)
                self.assertEqual(run.returncode, 0, run.stdout.decode())
                self.assertIn(b'against embedded:', run.stdout)
                self.assertTrue(os.path.exists(os.path.join(self.folder, folder, 'conform.xml')))

    def test_targets_and_scripts_are_there(self):
        with open(os.path.join(ROOT, 'CMakeLists.txt')) as file:
            made = file.read()
        for command in github() + gitlab():
            for script in re.findall(r'\./(scripts/\w+)', command):
                self.assertTrue(os.access(os.path.join(ROOT, script), os.X_OK), script)
            for words in re.findall(r'scripts/build release ([a-z -]+)', command):
                for target in words.split():
                    self.assertIn('add_executable(' + target, made)

    @unittest.skipUnless(subprocess.run(['/usr/bin/python3', '-c', 'import pytest'],
                                        stderr=subprocess.DEVNULL).returncode == 0, 'python3-pytest is not installed')
    def test_pytest_runs_the_users_tests(self):
        with open(os.path.join(self.folder, 'test_it.py'), 'w') as file:
            file.write(TEST)
        for commands in (github(), gitlab()):
            command, = [one for one in commands if 'pytest -p' in one]
            with self.subTest(command):
                path = re.search(r'PYTHONPATH: (\S+)', text_of('github-actions.yml')).group(1)
                run = self.run_it('export PYTHONPATH=%s; %s' % (path, command))
                self.assertEqual(run.returncode, 0, run.stdout.decode())
                self.assertIn(b'1 passed', run.stdout)


if __name__ == '__main__':
    unittest.main()
