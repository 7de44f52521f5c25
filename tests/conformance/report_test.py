"""What the judge reports: to people, to machines, and after Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import xml.etree.ElementTree

from peers import CAIP, judge

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))
import caip_pytest  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBE = os.path.join(ROOT, 'conformance', 'probe', 'caip_probe', 'task.py')

CASES = '''cases:
  - {id: none, sentence: It <is> so., rules: [api.get], call: GET /v1/nothing, expect: {status: 200, text: "a\\nb"}}
  - {id: other, sentence: b, rules: [api.get], call: GET /v1/nothing, expect: {status: 404}}
  - {id: missed, sentence: c, rules: [api.get], call: GET /v1/nothing, expect: {status: 200}}
  - {id: skipped, sentence: d, rules: [api.get], needs: [wings], call: GET /v1/nothing}
'''
TARGET = '''name: t
has: [jobs]
known_misses: [{cases: labels/missed, reason: It cannot.}]
'''


class Reports(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.makedirs(self.folder + '/c/labels')
        for name, text in (('/c/labels/x.yaml', CASES), ('/t.yaml', TARGET)):
            with open(self.folder + name, 'w') as file:
                file.write(text)
        self.words = ['--cases', self.folder + '/c', '--target', self.folder + '/t.yaml']

    def test_for_people(self):
        code, out, _ = judge(*self.words)
        self.assertEqual(code, 1)
        self.assertIn('failed labels/none\n  It <is> so.\n', out)
        self.assertIn('    status: expected 200, got 404', out)
        self.assertIn('case:   %s/c/labels/x.yaml:2' % self.folder, out)
        self.assertIn('4 cases against t: 1 passed, 1 failed, 1 known miss, 1 skipped', out)

    def test_the_command_that_is_told_shows_the_failure_again(self):
        code, out, _ = judge(*self.words, '--junit', self.folder + '/j', '--shard', '1/1', '--jobs', '1')
        again = re.search(r'again:  caip (conform .*)', out).group(1)
        run = subprocess.run(['bash', '-c', '%s %s' % (CAIP, again)], stdout=subprocess.PIPE, timeout=120)
        self.assertEqual((code, run.returncode), (1, 1))
        self.assertIn(b'failed labels/none', run.stdout)
        self.assertIn(b'1 case against t', run.stdout)

    def test_json_on_standard_output_is_nothing_but_json(self):
        code, out, err = judge(*self.words, '--json', '-', env=dict(os.environ, GITHUB_ACTIONS='true'))
        report = json.loads(out)
        self.assertEqual(code, 1)
        self.assertEqual([case['verdict'] for case in report['cases']], ['failed', 'passed', 'known miss', 'skipped'])
        self.assertEqual(report['cases'][0]['mismatches'][0]['where'], 'status')
        self.assertIn("--filter 'labels/none'", report['cases'][0]['replay'])
        self.assertIn('failed labels/none', err)
        self.assertIn('::error file=', err)

    def test_tap(self):
        _, out, _ = judge(*self.words, '--tap', '-')
        lines = out.splitlines()
        self.assertEqual(lines[:2], ['TAP version 13', '1..4'])
        points = [line for line in lines[2:] if not line.startswith('#')]
        self.assertEqual([point.split(' - ')[0] for point in points], ['not ok 1', 'ok 2', 'not ok 3', 'ok 4'])
        self.assertRegex(points[2], r'labels/missed # \x54ODO It cannot')
        self.assertRegex(points[3], r'labels/skipped # SKIP .*wings')
        self.assertTrue(any(line.startswith('# status: expected 200') for line in lines))

    def test_junit(self):
        judge(*self.words, '--junit', self.folder + '/j.xml')
        root = xml.etree.ElementTree.parse(self.folder + '/j.xml').getroot()
        self.assertEqual((root.get('tests'), root.get('failures')), ('4', '1'))
        cases = {case.get('name').split(':')[0]: case for case in root.iter('testcase')}
        self.assertEqual(cases['none'].get('name'), 'none: It <is> so.')
        self.assertIn('status: expected 200', cases['none'].find('failure').text)
        self.assertIsNone(cases['other'].find('failure'))
        self.assertIsNotNone(cases['skipped'].find('skipped'))

    def test_junit_is_xml_for_all_texts(self):
        cases = os.fsencode(self.folder) + b'/c\xff'  # the report has the paths of the files
        os.rename(self.folder + '/c', cases)
        with open(cases + b'/labels/x.yaml', 'w') as file:
            file.write(CASES.replace('It <is> so.', '"It \\uFFFE \\uFFFF \\x01 is so."'))
        run = subprocess.run([CAIP, 'conform', '--cases', cases, '--target', self.folder + '/t.yaml', '--junit',
                              self.folder + '/j.xml'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(run.returncode, 1, run.stderr)
        root = xml.etree.ElementTree.parse(self.folder + '/j.xml').getroot()
        shown = {case.get('name'): case.get('file') for case in root.iter('testcase')}
        self.assertEqual(shown['none: It \ufffd \ufffd ? is so.'], self.folder + '/c\ufffd/labels/x.yaml:2')

    def test_github_annotations(self):
        _, out, _ = judge(*self.words, env=dict(os.environ, GITHUB_ACTIONS='true'))
        annotations = [line for line in out.splitlines() if line.startswith('::')]
        self.assertEqual(len(annotations), 1)
        start = '::error file=%s/c/labels/x.yaml,line=2,title=labels/none::It <is> so.%%0A' % self.folder
        self.assertTrue(annotations[0].startswith(start), annotations)
        self.assertNotIn('::', judge(*self.words, env={k: v for k, v in os.environ.items()
                                                       if k != 'GITHUB_ACTIONS'})[1])

    def test_a_report_that_cannot_be_written(self):
        for path in ('/no/such/folder', '/c'):
            code, out, err = judge(*self.words, '--tap', self.folder + path)
            self.assertEqual(code, 2)
            self.assertIn('--tap: %s%s: cannot be written' % (self.folder, path), err)
            self.assertEqual(out, '', 'cases ran')

    def test_the_check_of_a_report_changes_no_file(self):
        kept = self.folder + '/kept'
        with open(kept, 'w') as file:
            file.write('before')
        code, out, _ = judge(*self.words, '--json', kept, '--junit', self.folder + '/new', '--tap', '/no/such/file')
        self.assertEqual((code, out), (2, ''))
        self.assertFalse(os.path.exists(self.folder + '/new'))
        with open(kept) as file:
            self.assertEqual(file.read(), 'before')

    def test_two_reports_on_standard_output_are_refused(self):
        code, out, err = judge(*self.words, '--json', '-', '--tap', '-')
        self.assertEqual((code, out), (2, ''))
        self.assertIn('--json and --tap cannot both print their report', err)


class Documents(unittest.TestCase):
    def test_the_documents_have_the_number_of_cases(self):
        def count(*words):
            return '{:,}'.format(len(judge('--list', *words)[1].splitlines()))
        with open(os.path.join(ROOT, 'README.md')) as file:
            self.assertIn('`caip conform` asks any endpoint %s questions' % count(), ' '.join(file.read().split()))
        with open(os.path.join(ROOT, 'docs', 'conformance.md')) as file:
            rows = [[cell.strip() for cell in line.split('|')[1:-1]] for line in file if line.startswith('| ')]
        shown = {row[0]: row[2] for row in rows if len(row) == 6}
        self.assertEqual(shown['this emulator, with its own commands'], count())
        self.assertEqual(shown['the same, `--api ml`'], count('--api', 'ml'))
        self.assertEqual(shown["the same, `--api vertex --filter 'vertex-*'`"],
                         count('--api', 'vertex', '--filter', 'vertex-*'))


class Interrupt(unittest.TestCase):
    def jobs(self, caip):
        with urllib.request.urlopen(caip.endpoint + '/v1/projects/caip-conform/jobs?pageSize=100') as answer:
            return json.load(answer).get('jobs', [])

    def wait_for(self, what, look, patience=60):
        deadline = time.monotonic() + patience
        while not look():
            self.assertLess(time.monotonic(), deadline, 'waited in vain for ' + what)
            time.sleep(0.05)

    def test_reports_what_ran_and_takes_away_what_it_made(self):
        with caip_pytest.Emulator() as caip:
            run = subprocess.Popen([CAIP, 'conform', '--endpoint', caip.endpoint, '--jobs', '2',
                                    '--filter', 'life/*'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_for('a job that runs', lambda: any(job['state'] == 'RUNNING' for job in self.jobs(caip)))
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=100)
            self.assertEqual(run.returncode, 130, err)
            self.assertIn(b'Interrupted: this report covers the cases that ran before.', out)
            self.assertRegex(out, rb'\d+ cases against endpoint: .*not run')
            self.wait_for('all jobs to end', lambda: all('endTime' in job for job in self.jobs(caip)))
            with urllib.request.urlopen(caip.endpoint + '/storage/v1/b/caip-conform/o') as answer:
                self.assertNotIn('items', json.load(answer))

    def test_cancels_the_custom_jobs_that_it_made(self):
        image = 'gcr.io/conform/probe:v1'
        with caip_pytest.Emulator('--map-image', '%s=python3 %s' % (image, PROBE)) as caip:
            def custom_jobs():
                jobs = '/v1/projects/caip-conform/locations/us-central1/customJobs'
                return caip.call('GET', jobs).get('customJobs', [])
            run = subprocess.Popen(
                [CAIP, 'conform', '--api', 'vertex', '--endpoint', caip.endpoint, '--set', 'image=' + image,
                 '--jobs', '2', '--filter', 'vertex-life/*'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_for('a job that runs',
                          lambda: any(job['state'] == 'JOB_STATE_RUNNING' for job in custom_jobs()))
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=100)
            self.assertEqual(run.returncode, 130, err)
            self.assertRegex(out, rb'\d+ cases against endpoint: .*not run')
            self.wait_for('all jobs to end', lambda: all('endTime' in job for job in custom_jobs()))

    def test_stops_the_emulator_it_started(self):
        run = subprocess.Popen([CAIP, 'conform', '--jobs', '1'], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
        children = []

        def has_children():
            with open('/proc/%d/task/%d/children' % (run.pid, run.pid)) as file:
                children[:] = file.read().split()
            return children
        self.wait_for('an emulator', has_children)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=100)
        self.assertIn(run.returncode, (130, 3), err)  # 3: before the emulator was there
        for child in children:
            self.assertFalse(os.path.exists('/proc/' + child), 'the emulator is left')


if __name__ == '__main__':
    unittest.main()
