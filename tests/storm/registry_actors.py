"""An actor that uses the container registry: blobs, manifests, tags."""

import hashlib
import json

from ledger import Ledger
from world import Lost, PROJECT, Refused

MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
CONFIG = 'application/vnd.oci.image.config.v1+json'
LAYER = 'application/vnd.oci.image.layer.v1.tar'
TAGS = ('v1', 'v2', 'v3', 'latest')
MANIFESTS_MAX = 6
BLOBS_MAX = 12


def digest_of(data):
    return 'sha256:' + hashlib.sha256(data).hexdigest()


class Images:
    """Pushes blobs, whole and in pieces, manifests and tags, and deletes some. Reads all by digest.

    The ledger has {('blobs', digest): bytes}, {('manifests', digest): bytes} and {('tags', tag): digest}.
    """

    def __init__(self, client, chance, prefix):
        self.client, self.chance = client, chance
        self.base = f'/v2/{PROJECT}/{prefix}'
        self.ledger = Ledger()
        self.count, self.upload = 0, None
        self.power_cuts = False  # a power cut may take an upload that has not ended

    def act(self):
        if self.upload and self.chance.random() < 0.7:
            self.upload_on()
            return
        choices = [self.push_blob] * 2 + [self.push_manifest] * 3 + [self.begin_upload]
        if len(self.of('manifests')) > MANIFESTS_MAX:
            choices = [self.delete_manifest]
        elif len(self.of('blobs')) > BLOBS_MAX:
            choices = [self.push_manifest, self.delete_blob, self.delete_blob]
        elif self.of('tags'):
            choices.append(self.delete_tag)
        self.chance.choice(choices)()

    def of(self, kind):
        return {key[1]: value for key, value in self.ledger.kept.items() if key[0] == kind}

    def call(self, method, target, body=None, expect=200, headers=None):
        status, fields, text = self.client.send(method, target, body, headers)
        if status != expect:
            raise Refused(f'{method} {target}: {status} {text[:300]!r}')
        return fields

    def new_blob(self):
        self.count += 1
        return f'{self.base} {self.count}\n'.encode() * self.chance.choice([1, 50, 5_000])

    def push_blob(self):
        data = self.new_blob()
        with self.ledger.changing({('blobs', digest_of(data)): data}):
            self.call('POST', f'{self.base}/blobs/uploads/?digest={digest_of(data)}', data, 201)

    def cancel_upload(self):
        self.upload.cancelling = True
        self.call('DELETE', self.upload.location, expect=204)
        self.upload = None

    def begin_upload(self):
        if self.upload:
            self.cancel_upload()
        location = self.call('POST', f'{self.base}/blobs/uploads/', expect=202)['Location']
        self.upload = Upload(location, self.new_blob())

    def upload_on(self):
        upload = self.upload
        begin = upload.acknowledged
        piece = upload.data[begin:begin + max(2, len(upload.data) // 3)]
        fields = {'Content-Type': 'application/octet-stream'}
        if piece:
            fields['Content-Range'] = f'{begin}-{begin + len(piece) - 1}'
        if begin + len(piece) < len(upload.data):
            received = self.call('PATCH', upload.location, piece, 202, fields)['Range']
            upload.take(received, begin + len(piece))
            return
        digest = digest_of(upload.data)
        upload.finishing = True
        with self.ledger.changing({('blobs', digest): upload.data}):
            self.call('PUT', f'{upload.location}?digest={digest}', piece, 201, fields)
        self.upload = None

    def push_manifest(self):
        blobs = self.of('blobs')
        if not blobs:
            return
        self.count += 1
        config, layer = self.chance.choice(sorted(blobs)), self.chance.choice(sorted(blobs))
        data = json.dumps({
            'schemaVersion': 2, 'mediaType': MANIFEST, 'annotations': {'count': str(self.count)},
            'config': {'mediaType': CONFIG, 'digest': config, 'size': len(blobs[config])},
            'layers': [{'mediaType': LAYER, 'digest': layer, 'size': len(blobs[layer])}]}).encode()
        digest, tag = digest_of(data), self.chance.choice((*TAGS, None))
        with self.ledger.changing({('manifests', digest): data}, {('tags', tag): digest} if tag else {}):
            self.call('PUT', f'{self.base}/manifests/{tag or digest}', data, 201, {'Content-Type': MANIFEST})

    def delete_manifest(self):
        digest = self.chance.choice(sorted(self.of('manifests')))
        changes = {('tags', tag): None for tag, at in self.of('tags').items() if at == digest}
        with self.ledger.changing({('manifests', digest): None, **changes}):
            self.call('DELETE', f'{self.base}/manifests/{digest}', expect=202)

    def delete_tag(self):
        tag = self.chance.choice(sorted(self.of('tags')))
        with self.ledger.changing({('tags', tag): None}):
            self.call('DELETE', f'{self.base}/manifests/{tag}', expect=202)

    def delete_blob(self):
        used = b''.join(self.of('manifests').values()).decode()
        free = sorted(digest for digest in self.of('blobs') if digest not in used)
        if free:
            digest = self.chance.choice(free)
            with self.ledger.changing({('blobs', digest): None}):
                self.call('DELETE', f'{self.base}/blobs/{digest}', expect=202)

    def read(self, key):
        kind, name = key
        method, folder = ('HEAD', 'manifests') if kind == 'tags' else ('GET', kind)
        status, fields, data = self.client.send(method, f'{self.base}/{folder}/{name}', None, {'Accept': MANIFEST})
        if status == 404:
            return None
        if status != 200:
            raise Refused(f'{key}: {status} {data[:300]!r}')
        return fields['Docker-Content-Digest'] if kind == 'tags' else data

    def verify(self):
        self.ledger.settle(self.read)
        if self.upload:
            self.find_upload()
        status, _, text = self.client.send('GET', f'{self.base}/tags/list')
        if status not in (200, 404) or (status == 404 and self.of('tags')):
            raise Refused(f'tags: {status} {text[:300]!r}')
        tags = set(json.loads(text).get('tags') or []) if status == 200 else set()
        if tags != set(self.of('tags')):
            raise Lost(f'tags of {self.base}: {sorted(tags)} instead of {sorted(self.of("tags"))}')
        for key in list(self.ledger.kept):
            self.ledger.compare(key, self.read(key))

    def find_upload(self):
        """Continues the upload where the emulator says, or forgets it."""
        upload = self.upload
        digest = digest_of(upload.data)
        status, fields, text = self.client.send('GET', upload.location)
        if status >= 500:
            raise Refused(f'{upload.location}: {status} {text[:300]!r}')
        if self.power_cuts or digest in self.of('blobs') or (upload.cancelling and status in (204, 404)):
            self.forget_upload()
        elif status == 204:
            upload.take(fields['Range'], len(upload.data))
        elif status == 404 and upload.finishing:
            self.upload = None  # the kill came between the two steps of its completion
        else:
            raise Lost(f'the upload {upload.location} with {upload.acknowledged} bytes: {status}')

    def forget_upload(self):
        """Cancels the upload, which may be gone."""
        status, _, text = self.client.send('DELETE', self.upload.location)
        if status not in (204, 404):
            raise Refused(f'{self.upload.location} cannot be cancelled: {status} {text[:300]!r}')
        self.upload = None

    def clear(self):
        if self.upload:
            self.cancel_upload()
        while self.of('manifests'):
            self.delete_manifest()
        while self.of('blobs'):
            self.delete_blob()


class Upload:
    """A blob that is uploaded in pieces."""

    def __init__(self, location, data):
        self.location, self.data, self.acknowledged = location, data, 0
        self.finishing = False  # the last piece was sent
        self.cancelling = False  # the cancellation has no answer

    def take(self, received, most):
        """Reads the field Range of an answer: 0-N, also if there is no byte."""
        last = int(received.split('-')[1])
        size = last + 1 if last else 0
        if not self.acknowledged <= size <= most:
            raise Lost(f'{self.location} has {size} bytes, not {self.acknowledged} to {most}')
        self.acknowledged = size
