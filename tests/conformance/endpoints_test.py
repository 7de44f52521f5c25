"""The judge against endpoints that lie, hang, drop or never end."""

import json
import socket
import time
import unittest

from peers import Peer, answering, endless, judge
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
                'nested': b'HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n' + b'[' * 300000 + b']' * 300000,
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
            self.cannot(url, 'the connection was closed before the answer arrived')

    def test_half_an_answer(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"jobs"') as url:
            self.cannot(url, 'the answer')

    def test_html(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n', b'<html>hi</html>') as url:
            self.cannot(url, "is not AI Platform Training: a request for jobs was answered with 200 "
                             "and '<html>hi</html>'")

    def test_html_for_vertex(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n', b'<html>hi</html>') as url:
            self.cannot(url, "is not Vertex AI: a request for jobs was answered with 200 and '<html>hi</html>'",
                        '--api', 'vertex')

    def test_vertex_elsewhere(self):
        with answering(GOOD) as url, answering(b'HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n', b'{}') as vertex:
            self.cannot(url, '%s is not Vertex AI: a request for jobs was answered with 404' % vertex,
                        '--api', 'all', '--vertex', vertex)

    def test_other_json(self):
        with answering(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', b'[]') as url:
            self.cannot(url, 'is not AI Platform Training')

    def test_not_let_in(self):
        body = json.dumps({'error': {'code': 401}}).encode()
        with answering(b'HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n' % len(body), body) as url:
            self.cannot(url, 'refuses access (401')

    def test_no_http(self):
        with answering(b'220 mail.example.com ESMTP\r\n') as url:
            self.cannot(url, 'the answer')

    def test_endless_body(self):
        with Peer(endless) as url:
            code, out, err = judge('--endpoint', url, '--timeout', '30')
            self.assertEqual(code, 3, out + err)
            self.assertIn('is longer than 64 MiB', err)

    def test_plain_where_tls_is_wanted(self):
        with answering(b'HTTP/1.1 400 Bad Request\r\n\r\n') as url:
            self.cannot(url.replace('http:', 'https:'), 'TLS handshake')


if __name__ == '__main__':
    unittest.main()
