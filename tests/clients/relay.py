"""A relay between a client and the emulator that can stop in the middle of a transfer.

Used by the scripts here, like support.py.
"""

import re
import socket
import threading

_REQUEST = re.compile(rb'^([A-Z]+) (\S+) HTTP/1\.1\r\n((?:[^\r\n]+\r\n)*)', re.MULTILINE)


class Relay:
    """Forwards every connection to 127.0.0.1:`target`, which may change.

    with Relay(emulator.port) as relay:
        relay.hold_after(10_000_000)   # bytes of the clients; then all wait
        ...relay.held.wait(60)...
        relay.let_go()
    """

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.url = f'http://127.0.0.1:{self.port}'
        self.held = threading.Event()
        self.requests = []  # (method, target, headers) as the clients sent them
        self.sent = 0  # bytes of the clients that were forwarded
        self.limit = None
        self.going = threading.Event()
        self.going.set()
        self.lock = threading.Lock()
        self.sockets = set()

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.cut()
        self.going.set()

    def hold_after(self, count):
        """Forwards `count` more bytes, then stops reading from the clients until `let_go`."""
        with self.lock:
            self.limit = self.sent + count
        self.held.clear()

    def let_go(self):
        """Forwards again, without limit."""
        with self.lock:
            self.limit = None
        self.going.set()

    def cut(self):
        """Ends all connections."""
        with self.lock:
            sockets = list(self.sockets)
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(('127.0.0.1', self.target))
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets |= {client, server}
            for source, target, up in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pump, args=(source, target, up), daemon=True).start()

    def _pump(self, source, target, up):
        try:
            while data := source.recv(65536):
                if up:
                    self._pass_or_hold(data)
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        with self.lock:
            self.sockets -= {source}
        source.close()

    def _pass_or_hold(self, data):
        with self.lock:
            self.requests += [(m[1].decode(), m[2].decode(), m[3].decode('latin-1'))
                              for m in _REQUEST.finditer(data)]
            self.sent += len(data)
            hold = self.limit is not None and self.sent > self.limit
            if hold:
                self.going.clear()
        if hold:
            self.held.set()
        self.going.wait()
