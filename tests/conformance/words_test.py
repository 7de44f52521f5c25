"""The judge's words and files: mistakes in them, and which cases they choose."""

import os
import shutil
import subprocess
import tempfile
import unittest

from peers import CAIP, judge


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def written(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_case_file_with_a_mistake(self):
        self.written('chapter/x.yaml', 'cases:\n  - id: a\n    sentence: b\n    rules: [api.get]\n'
                                       '    call: GET /\n    expct: {status: 200}\n')
        code, _, err = judge('--cases', self.folder)
        self.assertEqual(code, 2)
        self.assertIn("x.yaml:6:5: unknown word 'expct'; did you mean 'expect'?\n    expct: {status: 200}\n    ^", err)

    def test_words_that_nothing_can_be_begun_with(self):
        for words, mistake in ((('--endpoint', 'foo'), 'is not a valid endpoint'),
                               (('--storage', 'foo'), 'is not a valid endpoint'),
                               (('--vertex', 'foo'), 'is not a valid endpoint'),
                               (('--timeout', '-1'), '--timeout'), (('--timeout', '0'), '--timeout'),
                               (('--job-timeout', '-3'), '--job-timeout'),
                               (('--log-timeout', '1e9'), '--log-timeout')):
            code, _, err = judge(*words)
            self.assertEqual(code, 2, err)
            self.assertIn(mistake, err)

    def test_target_that_names_no_case(self):
        target = self.written('t.yaml', 'name: t\nknown_misses:\n  - {cases: nothing/*, reason: none}\n')
        code, _, err = judge('--target', target)
        self.assertEqual(code, 2)
        self.assertIn("t.yaml:3: no case id matches 'nothing/*'", err)

    def test_listed_case_that_passes_is_a_failure(self):
        target = self.written('t.yaml', 'name: t\nhas: [jobs]\nknown_misses:\n'
                                        '  - {cases: labels/none, reason: It has none.}\n')
        code, out, _ = judge('--target', target, '--filter', 'labels/none')
        self.assertEqual(code, 1)
        self.assertIn('passed unexpectedly labels/none', out)

    def test_listed_case_that_fails_is_none(self):
        self.written('c/labels/x.yaml', 'cases:\n  - id: none\n    sentence: b\n    rules: [api.get]\n'
                                        '    call: GET /v1/nothing\n    expect: {status: 200}\n')
        target = self.written('t.yaml', 'name: t\nhas: [jobs]\nknown_misses:\n'
                                        '  - {cases: labels/none, reason: It has none.}\n')
        code, out, err = judge('--cases', self.folder + '/c', '--target', target)
        self.assertEqual(code, 0, out + err)
        self.assertIn('1 known miss', out)

    def test_shards_share_the_cases(self):
        counts = [len(judge('--list', '--shard', '%d/3' % i)[1].splitlines()) for i in (1, 2, 3)]
        self.assertEqual(sum(counts), len(judge('--list')[1].splitlines()))
        self.assertLessEqual(max(counts) - min(counts), 1)

    def test_lists_what_is_chosen(self):
        code, out, _ = judge('--list', '--chapter', 'job-ids', '--filter', '*begin-with*')
        self.assertEqual(code, 0)
        for line in out.splitlines():
            self.assertRegex(line, r'^job-ids/\S*begin-with\S*  [A-Z].*\.$')
        both = judge('--list', '--chapter', 'job-ids', '--chapter', 'labels')[1].splitlines()
        self.assertEqual({line.split('/')[0] for line in both}, {'job-ids', 'labels'})
        one = judge('--list', '--filter', 'labels/no-key-empty', '--filter', 'labels/value-*')[1].splitlines()
        self.assertGreater(len(one), 1)
        self.assertTrue(all(line.startswith(('labels/no-key-empty', 'labels/value-')) for line in one), one)

    def chapters(self, *words):
        return {line.split('/')[0] for line in judge('--list', *words)[1].splitlines()}

    def test_an_api_chooses_its_cases(self):
        of_ml, of_vertex, of_all = (self.chapters('--api', api) for api in ('ml', 'vertex', 'all'))
        self.assertTrue({'labels', 'storage'} <= of_ml)
        self.assertTrue({'vertex-labels', 'storage'} <= of_vertex)
        self.assertFalse({one for one in of_ml if one.startswith('vertex-')})
        self.assertNotIn('labels', of_vertex)
        self.assertEqual(of_all, of_ml | of_vertex)
        self.assertEqual(self.chapters(), of_all)
        self.assertEqual(self.chapters('--endpoint', 'http://x'), of_ml)

    def test_a_target_names_its_apis(self):
        target = self.written('t.yaml', 'name: t\napis: [vertex]\n')
        self.assertEqual(self.chapters('--target', target, '--filter', '*labels/*'), {'vertex-labels'})
        target = self.written('t.yaml', 'name: t\napis: [vertx]\n')
        code, _, err = judge('--list', '--target', target)
        self.assertEqual(code, 2)
        self.assertIn("t.yaml:2:1: unknown word 'vertx'", err)

    def test_a_command_tells_its_api(self):
        for command, chapter in (('caip ai custom-jobs create', 'vertex-command'),
                                 ('caip jobs submit training', 'precedence'),
                                 ('gcloud beta ai custom-jobs create', 'vertex-command')):
            with self.subTest(command):
                self.assertEqual(self.chapters('--endpoint', 'none', '--submit-command', command), {chapter})

    def test_a_judge_that_is_not_built_is_named_with_the_remedy(self):
        alone = shutil.copy(CAIP, self.folder)
        done = subprocess.run([alone, 'conform'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('No such file or directory', done.stderr)
        self.assertIn('`scripts/build release caip caip-conform`', done.stderr)

    def test_wrong_words(self):
        for words in (['--shard', '4/3'], ['--set', 'x'], ['--frobnicate'], ['--filter', 'nothing/*'],
                      ['--endpoint', 'none'], ['--jobs', '0'], ['--api', 'both']):
            self.assertEqual(judge(*words)[0], 2, words)


if __name__ == '__main__':
    unittest.main()
