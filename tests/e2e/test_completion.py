#!/usr/bin/env python3
"""Completion as the shells do it: bash with the variables that it sets, fish with its own question, and bash and zsh at a
terminal. A shell that is missing is skipped by name.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

CAIP = pathlib.Path(os.environ['CAIP']).resolve()
SECONDS = 60
REPLY = '\nfor reply in "${COMPREPLY[@]}"; do printf "%s\\n" "$reply"; done\n'


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


def bash_words(line):
    """The words of a line as bash divides them, also at = and :."""
    words = re.findall(r"'[^']*'?|[=:]+|[^\s=:']+", line)
    return words + [''] if line.endswith(' ') else words


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='caip-completion-')
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.state = cls.root / 'state'
        kept = {name: value for name, value in os.environ.items() if not name.startswith(('CAIP_', 'CLOUDSDK_'))}
        cls.environment = {**kept, 'HOME': str(cls.root), 'CAIP_STATE': str(cls.state), 'TERM': 'dumb',
                           'CLOUDSDK_CORE_PROJECT': 'demo', 'PATH': f'{CAIP.parent}:{os.environ["PATH"]}'}
        (cls.root / 'trainer').mkdir()
        (cls.root / 'my trainer').mkdir()
        (cls.root / 'job.yaml').write_text('labels: {a: b}\n')
        cls.run_caip('buckets', 'create', 'my-bucket', 'other')
        cls.run_caip('cp', 'job.yaml', 'gs://my-bucket/data/job.yaml')
        image = 'gcr.io/demo/t:v1'
        for name, command in (('first_1', 'true'), ('first_2', 'true')):
            cls.run_caip('jobs', 'submit', 'training', name, '--region', 'us-central1', '--stream-logs',
                         '--master-image-uri', image, '--map-image', f'{image}={command}')
        name = cls.run_caip('ai', 'custom-jobs', 'create', '--region', 'us-central1', '--display-name', 'custom',
                            '--worker-pool-spec', f'machine-type=n1-standard-4,container-image-uri={image}',
                            '--map-image', f'{image}=true', '--format', 'value(name)')
        cls.custom_job = name.strip().rpartition('/')[2]
        # until it ends: an emulator would stay for a job that has not ended
        cls.run_caip('ai', 'custom-jobs', 'stream-logs', cls.custom_job, '--region', 'us-central1')
        cls.run_caip('stop')
        for shell in ('bash', 'zsh', 'fish'):
            (cls.root / f'caip.{shell}').write_text(cls.run_caip('completion', shell))

    @classmethod
    def run_caip(cls, *words):
        done = subprocess.run([CAIP, *words], cwd=cls.root, env=cls.environment, text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, f'{words}: {done.stderr}'
        return done.stdout

    def tool(self, *argv, **more):
        done = subprocess.run(argv, cwd=self.root, env={**self.environment, **more}, text=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''), argv)
        return done.stdout.splitlines()

    def bash(self, line, **more):
        """What bash would offer in place of its last word."""
        words = bash_words(line)
        script = (f'source ./caip.bash\nCOMP_LINE={quoted(line)}\nCOMP_POINT={len(line)}\n'
                  f'COMP_WORDS=({" ".join(map(quoted, words))})\nCOMP_CWORD={len(words) - 1}\n_caip{REPLY}')
        return self.tool('bash', '-c', script, **more)

    def fish(self, line):
        """The words that fish offers, without their texts."""
        if not shutil.which('fish'):
            self.skipTest('fish is missing')
        lines = self.tool('fish', '--no-config', '-c', f'source caip.fish; complete -C {quoted(line)}')
        return [line.split('\t')[0] for line in lines]

    def typed(self, argv, begin, line, awaited):
        """Types a line and a tab at a terminal. Waits until the terminal shows `awaited`."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.root)
            os.execvpe(argv[0], argv, {**self.environment, 'PS1': '> ', 'INPUTRC': '/dev/null'})
        shown, deadline = '', time.monotonic() + SECONDS
        todo = [(begin + '; echo ready$((1+1))\n', 'ready2'), (line + '\t', awaited)]
        try:
            for keys, expected in todo:
                os.write(terminal, keys.encode())
                shown = ''
                while expected not in shown:
                    ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
                    self.assertTrue(ready, f'{expected!r} does not appear: {shown!r}')
                    shown += os.read(terminal, 4096).decode(errors='replace')
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(terminal)

    def test_bash_completes_commands_flags_and_values(self):
        for line, offered in {
            'caip jobs li': ['list'],
            'caip jobs submit ': ['training'],
            'caip images im': ['import'],
            'caip images import x --na': ['--name'],
            'caip jobs submit training j --scale-tier b': ['basic', 'basic-gpu', 'basic-tpu'],
            'caip jobs submit training j --scale-tier=basic-t': ['basic-tpu'],
            'caip jobs list --format js': ['json'],
            'caip explore --faults notice,st': ['notice,storage-errors'],
            'caip help set': ['settings'],
            'caip nothing ': [],
        }.items():
            with self.subTest(line):
                self.assertEqual(self.bash(line), offered)

    def test_bash_completes_jobs_buckets_and_objects(self):
        for line, offered in {
            'caip jobs describe first': ['first_2', 'first_1'],
            'caip jobs delete first_1 ': ['first_2'],
            'caip jobs cancel ': [],
            'caip buckets rm ': ['my-bucket', 'other'],
            'caip buckets rm gs://o': ['//other'],
            'caip ls ': ['gs://my-bucket/', 'gs://other/'],
            'caip cat gs://my': ['//my-bucket/'],
            'caip cat gs://my-bucket/data/': ['//my-bucket/data/job.yaml'],
            "caip cat 'gs://my-bucket/d": ['gs://my-bucket/data/'],
            'caip cat gs://my-bucket/../': [],
            'caip jobs submit training j --job-dir=gs://my': ['//my-bucket/'],
            'caip jobs describe --project other_project ': [],
        }.items():
            with self.subTest(line):
                self.assertEqual(self.bash(line), offered)

    def test_ids_of_vertex_ai_are_offered_to_their_own_commands(self):
        self.assertEqual(self.bash('caip ai custom-jobs describe '), [self.custom_job])
        self.assertEqual(self.bash('caip ai hp-tuning-jobs describe '), [])
        self.assertNotIn(self.custom_job, self.bash('caip jobs describe '))

    def test_bash_completes_files(self):
        self.assertEqual(self.bash('caip jobs submit training j --config jo'), ['job.yaml'])
        self.assertEqual(sorted(self.bash('caip jobs submit training j --package-path ')), ['my trainer', 'state', 'trainer'])
        self.assertEqual(self.bash('caip jobs submit training j --package-path=tr'), ['trainer'])
        self.assertEqual(self.bash('caip cp jo'), ['job.yaml'])

    def test_without_a_state_directory_nothing_is_said_and_nothing_is_made(self):
        missing = self.root / 'missing'
        for line in ('caip jobs describe ', 'caip cat gs://', 'caip images remove '):
            self.assertEqual(self.bash(line, CAIP_STATE=str(missing)), [])
        self.assertFalse(missing.exists())
        (self.root / 'broken').mkdir(exist_ok=True)
        (self.root / 'broken/jobs.db').write_text('no database')
        self.assertEqual(self.bash('caip jobs describe ', CAIP_STATE=str(self.root / 'broken')), [])

    def test_a_job_of_a_running_emulator_is_offered(self):
        self.run_caip('buckets', 'list')
        server = subprocess.Popen([CAIP, 'serve', '--port', '0'], env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            self.assertTrue(any('http://' in line for line in server.stdout))
            self.assertEqual(self.bash('caip jobs describe first'), ['first_2', 'first_1'])
        finally:
            server.terminate()
            server.communicate(timeout=SECONDS)

    def test_bash_completes_at_a_terminal(self):
        bash = ['bash', '--norc', '--noprofile', '-i']
        for line, awaited in {
            'caip jobs desc': 'caip jobs describe ',
            'caip jobs submit training j --scale-tier=basic-t': '--scale-tier=basic-tpu ',
            'caip cat gs://my-bucket/d': 'gs://my-bucket/data/',
            'caip local train --package-path my': 'my\\ trainer/',
        }.items():
            with self.subTest(line):
                self.typed(bash, 'source ./caip.bash', line, awaited)

    def test_zsh_completes_at_a_terminal(self):
        if not shutil.which('zsh'):
            self.skipTest('zsh is missing')
        begin = 'autoload -Uz compinit; compinit -u -D; source ./caip.zsh'
        for line, awaited in {
            'caip jobs desc': 'caip jobs describe ',
            'caip jobs submit training j --scale-tier=basic-t': '--scale-tier=basic-tpu ',
            'caip cat gs://my-bucket/d': 'gs://my-bucket/data/',
            'caip local train --package-path=tr': '--package-path=trainer/',
            'caip buckets rm o': 'caip buckets rm other ',
        }.items():
            with self.subTest(line):
                self.typed(['zsh', '-f', '-i'], begin, line, awaited)

    def test_fish_completes(self):
        for line, offered in {
            'caip jobs li': ['list'],
            'caip jobs submit training j --scale-tier=basic-t': ['--scale-tier=basic-tpu'],
            'caip jobs delete first_1 ': ['first_2'],
            'caip cat gs://my-bucket/data/': ['gs://my-bucket/data/job.yaml'],
            'caip jobs submit training j --config jo': ['job.yaml'],
            'caip local train --package-path=tr': ['--package-path=trainer/'],
        }.items():
            with self.subTest(line):
                self.assertEqual(self.fish(line), offered)


if __name__ == '__main__':
    unittest.main(verbosity=2)
