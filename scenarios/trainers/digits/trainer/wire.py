"""Messages between replicas: a fixed header and a vector of doubles, little-endian, over TCP."""
import array
import socket
import socketserver
import struct
import sys
import time
from collections import namedtuple

# Requests to a parameter server.
INIT, PULL, PUSH, SNAPSHOT, LEAVE_OFF = 1, 2, 3, 4, 5
# Requests to the chief: for the next step; and the report that a server did not know the generation.
NEXT, REPORT_STALE = 10, 11
# Answers.
OK, STALE, WAIT, FINISHED, UNKNOWN = 20, 21, 22, 23, 24

HEADER = struct.Struct("<BQQdI")
Message = namedtuple("Message", "op generation step number vector")

# A replica is unreachable while its machine is replaced. No wait here is shorter than a minute.
SILENCE_SECONDS = 90.0
BIND_SECONDS = 90.0
LONGEST_PAUSE_SECONDS = 1.0


class Unreachable(Exception):
    """The other replica was unreachable for the caller's whole time limit."""


def message(op, generation=0, step=0, number=0.0, vector=()):
    return Message(op, generation, step, number, vector)


def send(connection, sent):
    values = array.array("d", sent.vector)
    if sys.byteorder == "big":
        values.byteswap()
    header = HEADER.pack(sent.op, sent.generation, sent.step, sent.number, len(values))
    connection.sendall(header + values.tobytes())


def receive(connection):
    op, generation, step, number, count = HEADER.unpack(_exactly(connection, HEADER.size))
    values = array.array("d")
    values.frombytes(_exactly(connection, count * values.itemsize))
    if sys.byteorder == "big":
        values.byteswap()
    return Message(op, generation, step, number, values)


def _exactly(connection, size):
    content = bytearray(size)
    view = memoryview(content)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise ConnectionError("the other side closed the connection")
        view = view[count:]
    return bytes(content)


class Peer:
    """A client's end. It connects when needed, and again after a restart of the other side."""

    def __init__(self, address):
        self._address = address
        self._connection = None

    def ask(self, request, patience):
        """Sends until there is an answer, so every request may be handled twice."""
        deadline, pause = time.monotonic() + patience, 0.05
        while True:
            try:
                return self._ask_once(request)
            except OSError as error:  # refused, reset, timed out, or the name is not known yet
                self.close()
                if time.monotonic() + pause > deadline:
                    raise Unreachable("no answer from %s:%d: %s" % (self._address + (error,)))
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _ask_once(self, request):
        if self._connection is None:
            self._connection = socket.create_connection(self._address, timeout=SILENCE_SECONDS)
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send(self._connection, request)
        return receive(self._connection)

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Server(socketserver.ThreadingTCPServer):
    """Answers each message by `answer(request, owner)`, and calls `left(owner)` when a client is gone.

    The owner is one connection. Each connection has a thread.
    """

    allow_reuse_address = True  # a restarted replica uses its old address at once
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address, answer, left=lambda owner: None):
        self.answer, self.left = answer, left
        deadline = time.monotonic() + BIND_SECONDS
        while True:
            try:
                super().__init__(address, _Conversation)
                return
            except OSError as error:  # the predecessor has not ended yet, or the name is new
                if time.monotonic() > deadline:
                    raise SystemExit("cannot listen on %s:%d, this replica's own address in "
                                     "TF_CONFIG: %s" % (address + (error,)))
            time.sleep(0.2)


class _Conversation(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        owner = object()
        try:
            while True:
                send(self.request, self.server.answer(receive(self.request), owner))
        except OSError:
            pass
        finally:
            self.server.left(owner)
