#!/usr/bin/env python3
"""At `ulimit -n 256`, each of 300 clients at once gets an answer: 200, or 503 beyond the limit of connections."""

import collections
import contextlib
import os
import pathlib
import resource
import selectors
import signal
import socket
import tempfile
import time
import unittest

from old_state import SECONDS, Server, caip

DESCRIPTORS = 256
CLIENTS = 300
SERVED = (DESCRIPTORS - DESCRIPTORS // 2) * 4 // 9  # at the same time (ConnectionsFor in src/http/server.cc)
BODY = b'x' * 32_000  # half a minute of a body that does not count as slow (kBodyBytesMin in src/http)
GET = b'GET /emulator/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'


def upload(number):
    """A request without the last byte of its body."""
    return (f'POST /upload/storage/v1/b/few-bucket/o?uploadType=media&name=object{number} HTTP/1.1\r\n'
            f'Host: 127.0.0.1\r\nContent-Length: {len(BODY)}\r\n\r\n').encode() + BODY[:-1]


def status_of(answer):
    """The status of a complete answer, else None."""
    head, end, body = answer.partition(b'\r\n\r\n')
    fields = dict(line.lower().split(b': ', 1) for line in head.split(b'\r\n')[1:])
    if not end or len(body) < int(fields[b'content-length']):
        return None
    return int(head.split(b' ', 2)[1])


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


class Clients:
    """Connections that all stay open, each with one request."""

    def __init__(self, server, requests):
        """All requests are there before the server answers the first one."""
        self.sockets, self.received = [], {}
        address = ('127.0.0.1', int(server.url.rsplit(':', 1)[1]))
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            for request in requests:
                self.sockets.append(socket.create_connection(address, timeout=SECONDS))
                self.sockets[-1].sendall(request)
                self.received[self.sockets[-1]] = b''
        finally:
            os.kill(server.process.pid, signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.sockets:
            client.close()

    def waiting(self):
        return [client for client in self.sockets if status_of(self.received[client]) is None]

    def read_until(self, waiting_max):
        """Returns when so few clients wait for an answer. An answer that is cut off or reset raises."""
        deadline = time.monotonic() + SECONDS
        with selectors.DefaultSelector() as selector:
            for client in self.waiting():
                selector.register(client, selectors.EVENT_READ)
            while len(selector.get_map()) > waiting_max:
                assert time.monotonic() < deadline, f'{len(selector.get_map())} clients wait, {self.counts()}'
                for key, _ in selector.select(1):
                    piece = key.fileobj.recv(65536)
                    assert piece, f'the answer ends early: {self.received[key.fileobj]!r}'
                    self.received[key.fileobj] += piece
                    if status_of(self.received[key.fileobj]) is not None:
                        selector.unregister(key.fileobj)

    def counts(self):
        return collections.Counter(map(status_of, self.received.values()))


class FewDescriptors(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        state = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='caip-few-')), 'state')
        self.server = stack.enter_context(Server(state, preexec_fn=limit_descriptors))
        self.assertEqual(caip(state, 'buckets', 'create', 'gs://few-bucket').returncode, 0)
        stack.callback(self.check_next_client)

    def check_next_client(self):
        with Clients(self.server, [GET]) as clients:
            clients.read_until(0)
            self.assertEqual(clients.counts(), {200: 1})

    def test_each_short_request_is_answered(self):
        with Clients(self.server, [GET] * CLIENTS) as clients:
            clients.read_until(0)
            self.assertLessEqual(set(clients.counts()), {200, 503})
            self.assertGreaterEqual(clients.counts()[200], 1)

    def test_requests_beyond_the_limit_are_refused_while_the_others_are_answered(self):
        with Clients(self.server, [upload(number) for number in range(CLIENTS)]) as clients:
            clients.read_until(SERVED)
            self.assertEqual(set(clients.counts()), {503, None})
            for client in clients.waiting():
                client.sendall(BODY[-1:])
            clients.read_until(0)
            # Descriptors may run out when so many objects are written at once. Then the answer says so.
            self.assertEqual(set(clients.counts()), {200, 503})
            self.assertGreaterEqual(clients.counts()[503], CLIENTS - SERVED)


if __name__ == '__main__':
    unittest.main()
