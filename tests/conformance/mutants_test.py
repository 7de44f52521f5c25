"""The deliberate breaks still fit the sources they break; scripts/conformance-mutants runs them."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'conformance', 'mutants'))
from breaking import break_them, mutate  # noqa: E402
from mutants import MUTANTS  # noqa: E402


class Mutants(unittest.TestCase):
    def test_are_many_and_each_has_a_name_of_its_own(self):
        names = [one[0] for one in MUTANTS]
        self.assertGreaterEqual(len(names), 60)
        self.assertGreaterEqual(len([name for name in names if name.startswith('vertex_')]), 40)
        self.assertEqual(len(names), len(set(names)))

    def test_stand_for_texts_that_are_there_once(self):
        for name, _, file, old, new in MUTANTS:
            with self.subTest(name), open(os.path.join(ROOT, file)) as source:
                text = source.read()
                self.assertIn('caip_mutant("%s")' % name, mutate(text, name, old, new))

    def test_stand_in_one_program(self):
        files = {}
        for _, _, file, _, _ in MUTANTS:
            with open(os.path.join(ROOT, file), 'rb') as source:
                files[file] = source.read()
        break_them(files, MUTANTS)
        text = b''.join(files.values())
        for name, _, _, _, _ in MUTANTS:
            with self.subTest(name):
                self.assertIn(b'caip_mutant("%s")' % name.encode(), text)

    def test_name_chapters_that_exist(self):
        for name, chapter, _, _, _ in MUTANTS:
            with self.subTest(name):
                self.assertTrue(os.path.isdir(os.path.join(ROOT, 'conformance', 'cases', chapter)))

    def test_that_the_documentation_tells_of_exist(self):
        with open(os.path.join(ROOT, 'docs', 'conformance.md')) as file:
            told = re.findall(r'^\| (\w+) \| [\w/.]+ \| ([\w./-]+) \|$', file.read(), re.MULTILINE)
        self.assertLessEqual({name for name, _ in told}, {one[0] for one in MUTANTS})
        for name, case in told:
            with self.subTest(name):
                self.assertTrue(os.path.isdir(os.path.join(ROOT, 'conformance', 'cases', case.split('/')[0])))


if __name__ == '__main__':
    unittest.main()
