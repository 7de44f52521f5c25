"""The judge against endpoints that lie, hang, drop or never end; and its words and files."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from peers import CAIP, Peer, answering, endless, judge
GOOD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'


def dripping(connection):
    connection.recv(65536)
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
    while True:
        connection.sendall(b' ')
        time.sleep(0.1)


def turning(answers):
    """Answers well for the first requests, which set the run up, then as `answers` has it."""
    count = [0]

    def treat(connection):
        while connection.recv(65536):
            count[0] += 1
            connection.sendall(GOOD if count[0] <= 3 else answers)
            if count[0] > 3:
                return
    return Peer(treat)


class Endpoints(unittest.TestCase):
    def cannot(self, url, text, *words):
        code, out, err = judge('--endpoint', url, '--timeout', '2', *words)
        self.assertEqual(code, 3, out + err)
        self.assertIn(text, err)

    def test_nobody_there(self):
        with socket.create_server(('127.0.0.1', 0)) as unused:
            port = unused.getsockname()[1]
        self.cannot('http://127.0.0.1:%d' % port, 'connecting: Connection refused')

    def test_no_such_name(self):
        self.cannot('http://nobody.invalid:1', 'look-up of the name')

    def test_silence(self):
        with Peer(lambda connection: connection.recv(1) and time.sleep(30)) as url:
            self.cannot(url, 'took longer than 2000 ms')

    def test_one_byte_at_a_time(self):
        with Peer(dripping) as url:
            self.cannot(url, 'took longer than 2000 ms')

    def test_half_open(self):
        """The system accepts the connection; nobody ever reads from it."""
        with socket.create_server(('127.0.0.1', 0)) as listener:
            self.cannot('http://127.0.0.1:%d' % listener.getsockname()[1], 'took longer than 2000 ms')

    def test_lies_that_begin_in_the_middle(self):
        lies = {'html': b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>hi</html>',
                'other json': b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n[1,"x"]',
                'no number': b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"jobs": "x"}',
                'half': b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"jobs"',
                'no http': b'220 mail.example.com ESMTP\r\n'}
        for name, lie in lies.items():
            with self.subTest(name), turning(lie) as url:
                code, out, err = judge('--endpoint', url, '--timeout', '2', '--filter', 'methods/pages')
                self.assertEqual(code, 1, out + err)
                self.assertIn('failed methods/pages', out)
                self.assertIn("again:  caip conform --endpoint %s --timeout 2 --filter 'methods/pages'" % url, out)

    def test_hanging_up(self):
        with Peer(lambda connection: connection.recv(65536)) as url:
            self.cannot(url, 'the connection was closed before the answer was there')

    def test_half_an_answer(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"jobs"') as url:
            self.cannot(url, 'the answer')

    def test_html(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n', b'<html>hi</html>') as url:
            self.cannot(url, "does not speak like AI Platform Training: asked for jobs, it answers 200 "
                             "with '<html>hi</html>'")

    def test_other_json(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', b'[]') as url:
            self.cannot(url, 'does not speak like AI Platform Training')

    def test_not_let_in(self):
        body = json.dumps({'error': {'code': 401}}).encode()
        with answering(b'HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n' % len(body), body) as url:
            self.cannot(url, 'does not let us in (401')

    def test_no_http(self):
        with answering(b'220 mail.example.com ESMTP\r\n') as url:
            self.cannot(url, 'the answer')

    def test_endless_body(self):
        with Peer(endless) as url:
            code, out, err = judge('--endpoint', url, '--timeout', '30')
            self.assertEqual(code, 3, out + err)
            self.assertIn('did not end within 64 MiB', err)

    def test_plain_where_tls_is_wanted(self):
        with answering(b'HTTP/1.1 400 Bad Request\r\n\r\n') as url:
            self.cannot(url.replace('http:', 'https:'), 'TLS handshake')


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
        self.assertIn("x.yaml:6:5: unknown word 'expct'; is it 'expect'?\n    expct: {status: 200}\n    ^", err)

    def test_target_that_names_no_case(self):
        target = self.written('t.yaml', 'name: t\nknown_misses:\n  - {cases: nothing/*, reason: none}\n')
        code, _, err = judge('--target', target)
        self.assertEqual(code, 2)
        self.assertIn("t.yaml:3: no case has an id like 'nothing/*'", err)

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
        self.assertIn('1 known to be missed', out)

    def test_reports(self):
        self.written('c/labels/x.yaml', 'cases:\n  - id: none\n    sentence: It <is> so.\n    rules: [api.get]\n'
                                        '    call: GET /v1/nothing\n    expect: {status: 200}\n'
                                        '  - id: other\n    sentence: b\n    rules: [api.get]\n'
                                        '    call: GET /v1/nothing\n    expect: {status: 404}\n')
        files = {form: os.path.join(self.folder, form) for form in ('junit', 'json', 'tap')}
        words = [word for form, file in files.items() for word in ('--' + form, file)]
        code, out, _ = judge('--cases', self.folder + '/c', *words,
                             env=dict(os.environ, GITHUB_ACTIONS='true'))
        self.assertEqual(code, 1)
        self.assertIn("--filter 'labels/none'", out)
        self.assertIn('::error file=%s/c/labels/x.yaml,line=2,title=labels/none::' % self.folder, out)
        with open(files['json']) as file:
            report = json.load(file)
        self.assertEqual((report['passed'], report['failed']), (1, 1))
        self.assertEqual(report['cases'][0]['mismatches'][0]['where'], 'status')
        with open(files['junit']) as file:
            self.assertIn('It &lt;is&gt; so.', file.read())
        with open(files['tap']) as file:
            self.assertTrue(file.read().startswith('TAP version 13\n1..2\nnot ok 1 - labels/none\n'))

    def test_shards_share_the_cases(self):
        counts = [len(judge('--list', '--shard', '%d/3' % i)[1].splitlines()) for i in (1, 2, 3)]
        self.assertEqual(sum(counts), len(judge('--list')[1].splitlines()))
        self.assertLessEqual(max(counts) - min(counts), 1)

    def test_wrong_words(self):
        for words in (['--shard', '4/3'], ['--set', 'x'], ['--frobnicate'], ['--filter', 'nothing/*'],
                      ['--endpoint', 'none'], ['--jobs', '0']):
            self.assertEqual(judge(*words)[0], 2, words)

    def test_interrupt_reports_and_leaves_nothing(self):
        run = subprocess.Popen([CAIP, 'conform', '--jobs', '1'], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
        children = []
        deadline = time.monotonic() + 60
        while not children and time.monotonic() < deadline:
            with open('/proc/%d/task/%d/children' % (run.pid, run.pid)) as file:
                children = file.read().split()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=100)
        self.assertIn(run.returncode, (130, 3), err)
        if run.returncode == 130:
            self.assertIn(b'Interrupted: this is what ran until then.', out)
        for child in children:
            self.assertFalse(os.path.exists('/proc/' + child), 'the emulator is left')


if __name__ == '__main__':
    unittest.main()
