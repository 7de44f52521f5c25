"""The replicas of the job and their connections: one JSON message for each line over TCP."""
import json
import os
import socket
import time

RETRY_SECONDS = 0.02
# Other names of roles: in CLUSTER_SPEC of Vertex AI, and in TF_CONFIG.
POOLS = {"workerpool0": "master", "workerpool1": "worker", "workerpool2": "ps",
         "workerpool3": "evaluator", "chief": "master"}


class Cluster:
    """The replicas and their addresses, from CLUSTER_SPEC or TF_CONFIG."""

    def __init__(self):
        spec = json.loads(os.environ.get("CLUSTER_SPEC") or os.environ["TF_CONFIG"])
        self.role, self.index = spec["task"]["type"], spec["task"]["index"]
        self.role = POOLS.get(self.role, self.role)
        self._addresses = {POOLS.get(role, role): hosts for role, hosts in spec["cluster"].items()}

    def count(self, role):
        return len(self._addresses.get(role, ()))

    def listen(self):
        """A listening socket at this replica's own address."""
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(self._address(self.role, self.index))
        server.listen(16)
        return server

    def connect(self, role, index=0, patience=None):
        """A connection to a replica. Waits until the replica listens. `patience`: the seconds after
        which an operation of the connection fails; None: it waits without end."""
        while True:
            try:
                return Peer(socket.create_connection(self._address(role, index), patience))
            except OSError:
                time.sleep(RETRY_SECONDS)

    def _address(self, role, index):
        host, _, port = self._addresses[role][index].rpartition(":")
        return host, int(port)


class Gone(Exception):
    """The other end was closed."""


class Peer:
    """One end of a connection. receive() reports that the other end is gone."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket, self._unread = connection, b""

    def send(self, **message):
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            pass

    def receive(self):
        """The next message; raises Gone."""
        while b"\n" not in self._unread:
            try:
                data = self._socket.recv(65536)
            except OSError as error:
                raise Gone(str(error))
            if not data:
                raise Gone("the other end is gone")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line.decode())

    def acknowledge(self):
        """Acknowledges what was received at once, as TCP does in a step that takes long."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def close(self):
        self._socket.close()


def accept(server):
    """The next incoming connection."""
    return Peer(server.accept()[0])


def wait_to_be_stopped():
    """Waits forever. A replica that cannot continue must not exit, because that would end the job."""
    while True:
        time.sleep(3600)
