"""The storage of a job: objects in Cloud Storage or files in a directory, with the same methods.

Values are JSON. Imports are few, so that a restarted trainer starts fast: http.client alone would
double the time.
"""
import json
import os
import socket
import time

TRIES = 6


def folder(url):
    """The folder at gs://bucket/path or at a local path."""
    return Bucket(url) if url.startswith("gs://") else Directory(url)


class Directory:
    """Files. A file that is being written is visible while incomplete; a rename is atomic."""

    def __init__(self, path):
        self._path = path.rstrip("/")

    def put(self, name, value):
        path = self._of(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(json.dumps(value))

    def get(self, name):
        with open(self._of(name)) as file:
            return json.loads(file.read())

    def list(self, prefix=""):
        """The names below the folder with this prefix, sorted as text."""
        found = []
        for place, _, files in os.walk(self._path):
            found += [os.path.relpath(os.path.join(place, file), self._path) for file in files]
        return sorted(name for name in found if name.startswith(prefix))

    def delete(self, name):
        os.unlink(self._of(name))

    def rename(self, old, new):
        os.rename(self._of(old), self._of(new))

    def _of(self, name):
        return self._path + "/" + name


class Bucket:
    """Objects of the JSON API, over one connection. A rename is a copy, then a delete."""

    def __init__(self, url):
        self._bucket, _, path = url[len("gs://"):].partition("/")
        self._prefix = path.rstrip("/") + "/" if path else ""
        host = os.environ["STORAGE_EMULATOR_HOST"].rpartition("//")[2].rstrip("/")
        self._host, _, self._port = host.partition(":")
        self._socket, self._unread = None, b""

    def put(self, name, value):
        self._ask("POST", "/upload/storage/v1/b/%s/o?uploadType=media&name=%s"
                  % (self._bucket, _quoted(self._of(name))), json.dumps(value).encode())

    def get(self, name):
        return json.loads(self._ask("GET", self._object(name) + "?alt=media").decode())

    def list(self, prefix=""):
        """The names below the folder with this prefix, sorted as text."""
        found, page, start = [], "", len(self._prefix)
        while page is not None:
            answer = json.loads(self._ask("GET", "/storage/v1/b/%s/o?prefix=%s%s" % (
                self._bucket, _quoted(self._of(prefix)), page)).decode())
            found += [item["name"][start:] for item in answer.get("items", ())]
            token = answer.get("nextPageToken")
            page = "&pageToken=" + _quoted(token) if token else None
        return sorted(found)

    def delete(self, name):
        self._ask("DELETE", self._object(name))

    def rename(self, old, new):
        self._ask("POST", "%s/copyTo/b/%s/o/%s"
                  % (self._object(old), self._bucket, _quoted(self._of(new))))
        self.delete(old)

    def _of(self, name):
        return self._prefix + name

    def _object(self, name):
        return "/storage/v1/b/%s/o/%s" % (self._bucket, _quoted(self._of(name)))

    def _ask(self, method, target, body=b""):
        """The answer's body. Transient failures are tried again, as in Google's clients."""
        for attempt in range(TRIES):
            try:
                status, answer = self._exchange(method, target, body)
            except OSError as error:
                self._socket, status, answer = None, 503, str(error).encode()
            if status < 300:
                return answer
            if status == 404:
                raise FileNotFoundError(target)
            if status != 429 and status < 500:
                break
            time.sleep(0.05 * 2 ** attempt)
        raise OSError("%s %s: %d %s" % (method, target, status, answer.decode(errors="replace")))

    def _exchange(self, method, target, body):
        if self._socket is None:
            self._socket, self._unread = socket.create_connection((self._host, self._port)), b""
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = "%s %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\n" \
               "Content-Length: %d\r\n\r\n" % (method, target, self._host, self._port, len(body))
        self._socket.sendall(head.encode() + body)
        while b"\r\n\r\n" not in self._unread:
            self._receive()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        length = int(fields.get("content-length", 0))
        while len(self._unread) < length:
            self._receive()
        answer, self._unread = self._unread[:length], self._unread[length:]
        if fields.get("connection") == "close":
            self._socket = None
        return int(lines[0].split()[1]), answer

    def _receive(self):
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionResetError("the connection was closed in mid-answer")
        self._unread += data


def _quoted(text):
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 or chr(byte) in "-_.~"
                   else "%%%02X" % byte for byte in text.encode())
