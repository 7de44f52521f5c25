"""Actors that use Cloud Storage: whole objects, and resumable uploads."""

import hashlib
import http.client
import json
import urllib.parse

from ledger import shortened
from world import Lost, Refused

PIECE = 256 << 10
COMPOSED_BYTES_MAX = 2_000_000
CANCELLED_UPLOAD = 499
CANCELLED_SESSION = (404, 410, 499)
CANCELLED_AGAIN = 3  # cancelled uploads in each check
READ_AGAIN = 10  # objects whose bytes are compared in each check
UNANSWERED = (OSError, http.client.HTTPException)


def path(bucket, name, more=''):
    return f'/storage/v1/b/{bucket}/o/' + urllib.parse.quote(name, safe='') + more


def content(label, size):
    """Bytes of which each KiB differs, so that a piece in a wrong place is found."""
    return b''.join(f'{label} {i:5}\n'.encode().rjust(1024) for i in range(size // 1024 + 1))[:size]


def checksum(data):
    return hashlib.sha256(data).hexdigest()


class Objects:
    """Writes, composes, copies, moves and deletes objects below its own prefix.

    `kept` has the content type and the bytes of every acknowledged object. `open` has, for the names of
    the operation that got no answer, the two states that are right after it.
    """

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.kept, self.open, self.count = {}, {}, 0

    def act(self):
        operation = self.chance.choice([self.put] * 5 + [self.delete, self.compose, self.copy, self.move])
        changes = operation(dry=True)
        if changes is None:
            changes, operation = self.put(dry=True), self.put
        self.open = {name: (self.kept.get(name), after) for name, after in changes.items()}
        operation(dry=False)
        for name, after in changes.items():
            self.keep(name, after)
        self.open = {}

    def keep(self, name, value):
        if value is None:
            self.kept.pop(name, None)
        else:
            self.kept[name] = value

    def some(self):
        return self.chance.choice(sorted(self.kept))

    def put(self, dry):
        if dry:
            self.count += 1
            name = self.some() if self.kept and self.chance.random() < 0.5 else f'{self.prefix}/{self.count}'
            size = self.chance.choice([0, 10, 5_000, 300_000])
            self.target = (name, (f'text/x-{self.count}', content(f'{name} {self.count}', size)))
            return {name: self.target[1]}
        name, (kind, data) = self.target
        status, _, text = self.client.send('POST', '/upload/storage/v1/b/storm-bucket/o?uploadType=media&name='
                                           + urllib.parse.quote(name, safe=''), data, {'Content-Type': kind})
        return self.must(status, text)

    def delete(self, dry):
        if dry:
            if not self.kept:
                return None
            self.target = self.some()
            return {self.target: None}
        status, _, text = self.client.send('DELETE', path('storm-bucket', self.target))
        return self.must(status, text, 204)

    def compose(self, dry):
        if dry:
            if len(self.kept) < 2:
                return None
            self.sources, self.target = [self.some(), self.some()], f'{self.prefix}/composed'
            self.count += 1
            self.kind = f'text/x-{self.count}'
            whole = b''.join(self.kept[name][1] for name in self.sources)
            return {self.target: (self.kind, whole)} if len(whole) < COMPOSED_BYTES_MAX else None
        body = {'sourceObjects': [{'name': name} for name in self.sources], 'destination': {'contentType': self.kind}}
        return self.client.json('POST', path('storm-bucket', self.target, '/compose'), body)

    def copy(self, dry):
        if dry:
            if not self.kept:
                return None
            self.source, self.target = self.some(), f'{self.prefix}/copied'
            return {self.target: self.kept[self.source]}
        target = '/rewriteTo/b/storm-bucket/o/' + urllib.parse.quote(self.target, safe='')
        return self.client.json('POST', path('storm-bucket', self.source, target), {})

    def move(self, dry):
        if dry:
            self.source, self.target = (self.some() if self.kept else None), f'{self.prefix}/moved'
            if self.source in (None, self.target):
                return None
            return {self.target: self.kept[self.source], self.source: None}
        target = '/moveTo/o/' + urllib.parse.quote(self.target, safe='')
        return self.client.json('POST', path('storm-bucket', self.source, target), {})

    @staticmethod
    def must(status, text, wanted=200):
        if status != wanted:
            raise Refused(f'status {status} instead of {wanted}: {text[:300]!r}')

    def listed(self):
        names, page = set(), ''
        while True:
            answer = self.client.json('GET', f'/storage/v1/b/storm-bucket/o?prefix={self.prefix}/'
                                      + (f'&pageToken={page}' if page else ''))
            names.update(item['name'] for item in answer.get('items', []))
            page = answer.get('nextPageToken')
            if not page:
                return names

    def read(self, name):
        status, headers, data = self.client.send('GET', path('storm-bucket', name, '?alt=media'))
        if status not in (200, 404):
            raise Refused(f'{name}: {status} {data[:300]!r}')
        return (headers['Content-Type'], data) if status == 200 else None

    def verify(self):
        moving = len(self.open) == 2
        seen = {name: self.read(name) for name in self.open}
        for name, states in self.open.items():
            if seen[name] not in states:
                raise Lost(f'{name} is {shortened(seen[name])}, neither as before nor as after the operation: '
                           f'{shortened(list(states))}')
            self.keep(name, seen[name])
        if moving and all(value is None for value in seen.values()):
            raise Lost(f'a move lost its object: {sorted(self.open)}')
        self.open = {}
        listed = self.listed()
        if listed != set(self.kept):
            raise Lost(f'objects {self.prefix}: lost {sorted(set(self.kept) - listed)}, '
                       f'unknown {sorted(listed - set(self.kept))}')
        for name in self.chance.sample(sorted(self.kept), min(READ_AGAIN, len(self.kept))):
            seen = self.read(name)
            if seen != self.kept[name]:
                raise Lost(f'{name} is {shortened(seen)} instead of {shortened(self.kept[name])}')

    def clear(self):
        for name in sorted(self.kept):
            status, _, text = self.client.send('DELETE', path('storm-bucket', name))
            self.must(status, text, 204)
        self.kept = {}


class Uploads:
    """One resumable upload after the other, each continued where the emulator says it is.

    `done` has the checksum of the bytes that were sent for each object.
    """

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.count, self.session, self.done = 0, None, {}
        self.cancelled, self.cancelling = [], False  # sessions; True: the cancellation has no answer
        self.unread = []  # the objects that were made since the last check

    def act(self):
        if self.session is None:
            self.begin()
        elif self.chance.random() < 0.1:
            self.cancel()
        else:
            self.send_piece()

    def begin(self):
        self.count += 1
        self.name = f'{self.prefix}/upload-{self.count}'
        pieces = self.chance.randrange(1, 4)
        self.data = content(self.name, pieces * PIECE - self.chance.choice([0, 1000]))
        self.acknowledged = 0
        status, headers, text = self.client.send(
            'POST', '/upload/storage/v1/b/storm-bucket/o?uploadType=resumable&ifGenerationMatch=0&name='
            + urllib.parse.quote(self.name, safe=''))
        if status != 200:
            raise Refused(f'a session cannot begin: {status} {text[:300]!r}')
        self.session = urllib.parse.urlsplit(headers['Location'])
        self.session = self.session.path + '?' + self.session.query

    def cancel(self):
        self.cancelling = True
        status, _, text = self.client.send('DELETE', self.session)
        if status != CANCELLED_UPLOAD:
            raise Refused(f'{self.session} cannot be cancelled: {status} {text[:300]!r}')
        self.forget_cancelled()

    def forget_cancelled(self):
        self.cancelled.append(self.session)
        self.session, self.cancelling = None, False

    def progress(self, session):
        """The answer to a question about a session: (status, headers, body)."""
        return self.client.send('PUT', session, b'', {'Content-Range': 'bytes */*'})

    def send_piece(self):
        begin = self.acknowledged
        piece = self.data[begin:begin + PIECE]
        last = begin + len(piece) == len(self.data)
        total = len(self.data) if last else '*'
        status, headers, text = self.client.send('PUT', self.session, piece, {
            'Content-Range': f'bytes {begin}-{begin + len(piece) - 1}/{total}'})
        self.take(status, headers, text)

    def take(self, status, headers, text):
        if status == 200:
            self.finish(json.loads(text))
        elif status == 308:
            received = headers.get('Range')
            offset = int(received.split('-')[1]) + 1 if received else 0
            if offset < self.acknowledged:
                raise Lost(f'{self.name}: {offset} bytes of {self.acknowledged} acknowledged ones')
            self.acknowledged = offset
        else:
            raise Refused(f'{self.name}: {status} {text[:300]!r}')

    def finish(self, resource):
        if int(resource['size']) != len(self.data):
            raise Lost(f'{self.name} has {resource["size"]} bytes instead of {len(self.data)}')
        self.done[self.name] = checksum(self.data)
        self.unread.append(self.name)
        self.session = None

    def verify(self):
        if self.cancelling:  # it may continue, but its client does not
            self.session, self.cancelling = None, False
        if self.session:
            self.take(*self.client.send('PUT', self.session, b'', {
                'Content-Range': f'bytes */{len(self.data)}'}))
        for session in self.cancelled[-CANCELLED_AGAIN:]:
            status, _, text = self.progress(session)
            if status >= 500:
                raise Refused(f'{session}: {status} {text[:300]!r}')
            if status not in CANCELLED_SESSION:
                raise Lost(f'a cancelled upload continues: {status} {text[:300]!r}')
        listed = {item['name'] for item in self.listed()}
        if listed != set(self.done):
            raise Lost(f'uploads: lost {sorted(set(self.done) - listed)}, unknown {sorted(listed - set(self.done))}')
        older = self.chance.sample(sorted(self.done), min(READ_AGAIN, len(self.done)))
        for name in sorted({*self.unread, *older}):
            status, _, data = self.client.send('GET', path('storm-bucket', name, '?alt=media'))
            if status != 200:
                raise Refused(f'{name}: {status} {data[:300]!r}')
            if checksum(data) != self.done[name]:
                raise Lost(f'{name} has other bytes than were sent')
        self.unread = []

    def listed(self):
        """Every object below the prefix: all pages of the list."""
        page = {}
        while True:
            answer = self.client.json('GET', '/storage/v1/b/storm-bucket/o?' + urllib.parse.urlencode(
                {'prefix': f'{self.prefix}/', **page}))
            yield from answer.get('items', [])
            if 'nextPageToken' not in answer:
                return
            page = {'pageToken': answer['nextPageToken']}

    def clear(self):
        if self.session:
            self.cancel()
        for name in sorted(self.done):
            self.client.json('DELETE', path('storm-bucket', name), expect=(204,))
        self.done = {}
