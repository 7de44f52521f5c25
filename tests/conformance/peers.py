"""Endpoints that are not the service: each treats its connections in its own way."""

import os
import socket
import subprocess
import threading

CAIP = os.environ.get('CAIP', 'caip')


def judge(*words, **more):
    run = subprocess.run([CAIP, 'conform'] + list(words), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=120, **more)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


class Peer:
    """A server that treats each connection by a function of its own."""

    def __init__(self, treat):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.treat = treat
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        try:
            self.treat(connection)
        except OSError:
            pass
        connection.close()

    def __enter__(self):
        return 'http://127.0.0.1:%d' % self.port

    def __exit__(self, *_):
        self.listener.close()


def answering(head, body=b''):
    def treat(connection):
        connection.recv(65536)
        connection.sendall(head + body)
    return Peer(treat)


def endless(connection):
    connection.recv(65536)
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"jobs": "')
    while True:
        connection.sendall(b'x' * (1 << 20))
