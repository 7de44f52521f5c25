"""An actor that uses the XML API of Cloud Storage: multipart uploads."""

import hashlib
import html
import urllib.parse
from xml.etree import ElementTree

from ledger import Ledger
from storage_actors import content
from world import Lost, Refused

BUCKET = '/storm-bucket'
PART_BYTES_MIN = 5 << 20  # of all parts but the last
NAMES = 5


class MultipartUploads:
    """One multipart upload after the other: parts, also again, then completed or aborted.

    The ledger has objects: {('object', name): bytes}; the parts of the unfinished upload: {('part',
    number): bytes}; and the upload itself: {('upload', id): name}.
    """

    def __init__(self, client, chance, prefix):
        self.client, self.chance, self.prefix = client, chance, prefix
        self.ledger = Ledger()
        self.count, self.id, self.name = 0, None, None
        self.beginning = None  # the name of an upload that has not been acknowledged

    def act(self):
        if self.id is None:
            self.begin()
        elif not self.parts() or self.chance.random() < 0.5:
            self.put_part()
        elif self.chance.random() < 0.8:
            self.complete()
        else:
            self.abort()

    def begin(self):
        self.beginning = self.name = f'{self.prefix}/{self.chance.randrange(NAMES)}'
        self.id = self.text(self.call('POST', self.name, 'uploads'), 'UploadId')
        self.ledger.keep({('upload', self.id): self.name})
        self.beginning = None

    def put_part(self):
        """Part 1 is large enough to have another one after it, or is the only one."""
        self.count += 1
        large = self.chance.random() < 0.05
        number = 1 if large or len(self.parts().get(1, b'')) < PART_BYTES_MIN else 2
        size = PART_BYTES_MIN if large else self.chance.choice([1, 1_000, 70_000])
        data = content(f'{self.name} {self.count}', size)
        changes = {('part', number): data}
        if number == 1 and not large and 2 in self.parts():
            return
        with self.ledger.changing(changes):
            _, headers, _ = self.call('PUT', self.name, f'partNumber={number}&uploadId={self.id}', data)
            if headers['ETag'] != tag(data):
                raise Lost(f'part {number} of {self.name} has the tag {headers["ETag"]} instead of {tag(data)}')

    def complete(self):
        parts = self.parts()
        whole = b''.join(data for _, data in sorted(parts.items()))
        with self.ledger.changing({('object', self.name): whole}, self.gone()):
            self.send_completion(parts)
        self.id = None

    def send_completion(self, parts):
        body = ''.join(f'<Part><PartNumber>{number}</PartNumber><ETag>{html.escape(tag(data))}</ETag></Part>'
                       for number, data in sorted(parts.items()))
        self.call('POST', self.name, f'uploadId={self.id}',
                  f'<CompleteMultipartUpload>{body}</CompleteMultipartUpload>'.encode())

    def abort(self):
        with self.ledger.changing(self.gone()):
            self.call('DELETE', self.name, f'uploadId={self.id}', expect=204)
        self.id = None

    def gone(self):
        """The changes of the ledger when the upload ends."""
        return {('upload', self.id): None, **{('part', number): None for number in self.parts()}}

    def parts(self):
        return {key[1]: data for key, data in self.ledger.kept.items() if key[0] == 'part'}

    def call(self, method, name, query='', body=None, expect=200):
        target = f'{BUCKET}/{urllib.parse.quote(name)}' + (f'?{query}' if query else '')
        status, headers, text = self.client.send(method, target, body)
        if status != expect:
            raise Refused(f'{method} {target}: {status} {text[:300]!r}')
        return status, headers, text

    @staticmethod
    def text(answer, field):
        return ElementTree.fromstring(answer[2]).findtext('{*}' + field)

    def read(self, key):
        """The present value of a key of the ledger; of a part its tag and its size."""
        kind, name = key
        if kind == 'object':
            status, _, data = self.client.send('GET', f'{BUCKET}/{urllib.parse.quote(name)}')
            if status not in (200, 404):
                raise Refused(f'{name}: {status} {data[:300]!r}')
            return data if status == 200 else None
        if kind == 'upload':
            return self.uploads().get(name)
        return self.stored_parts().get(name)

    def uploads(self):
        """The names of the unfinished uploads below the prefix, by their ids."""
        status, _, text = self.client.send('GET', f'{BUCKET}?uploads&prefix={self.prefix}/')
        if status != 200:
            raise Refused(f'multipart uploads: {status} {text[:300]!r}')
        return {upload.findtext('{*}UploadId'): upload.findtext('{*}Key')
                for upload in ElementTree.fromstring(text).iterfind('{*}Upload')}

    def stored_parts(self):
        """{number: its bytes}, or what is known of other bytes."""
        status, _, text = self.client.send('GET', f'{BUCKET}/{urllib.parse.quote(self.name)}?uploadId={self.id}')
        if status == 404:
            return {}
        if status != 200:
            raise Refused(f'{self.name}: {status} {text[:300]!r}')
        known = {}
        for values in (self.ledger.kept, *self.ledger.open):
            known.update({(key[1], tag(data), len(data)): data for key, data in values.items()
                          if key[0] == 'part' and data is not None})
        found = {}
        for part in ElementTree.fromstring(text).iterfind('{*}Part'):
            number, etag, size = (part.findtext('{*}' + field) for field in ('PartNumber', 'ETag', 'Size'))
            facts = int(number), etag, int(size)
            found[int(number)] = known.get(facts, facts)
        return found

    def verify(self):
        self.settle()
        uploads = self.uploads()
        mine = {key[1]: name for key, name in self.ledger.kept.items() if key[0] == 'upload'}
        if uploads != mine:
            raise Lost(f'multipart uploads: {uploads} instead of {mine}')
        if self.id and self.stored_parts() != self.parts():
            raise Lost(f'{self.name} has other parts than acknowledged: {sorted(self.stored_parts())}')
        for key in list(self.ledger.kept):
            if key[0] == 'object':
                self.ledger.compare(key, self.read(key))

    def settle(self):
        if self.beginning:  # its id is unknown: at most one such upload may exist
            self.id = None
            for one, name in self.uploads().items():
                if name != self.beginning:
                    raise Lost(f'an unknown multipart upload of {name}')
                self.call('DELETE', name, f'uploadId={one}', expect=204)
            self.beginning = None
        elif self.ledger.open:
            steps = self.ledger.open
            self.ledger.settle(self.read)
            is_made = len(steps) == 3 and all(self.ledger.kept.get(key) == value for key, value in steps[1].items())
            if is_made and ('upload', self.id) in self.ledger.kept:  # the object is made: the client tries again
                self.complete()
            if ('upload', self.id) not in self.ledger.kept:
                self.id = None

    def clear(self):
        if self.id:
            self.abort()
        for key in [key for key in self.ledger.kept if key[0] == 'object']:
            with self.ledger.changing({key: None}):
                self.call('DELETE', key[1], expect=204)


def tag(data):
    return '"' + hashlib.md5(data, usedforsecurity=False).hexdigest() + '"'
