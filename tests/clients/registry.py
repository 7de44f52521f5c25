"""Clients of container registries: skopeo, crane, podman, buildah and docker push to and pull from the emulator.

Each client uses the emulator's own address, and gcr.io and pkg.dev through its https proxy, with its certificates. A client
of the wire checks what is left after the emulator was killed.
"""

import contextlib
import hashlib
import http.client
import io
import json
import os
import random
import socket
import tarfile
import threading
import unittest
from pathlib import Path

import container_tools
import support


def write_rootfs(file, size=1000):
    """Writes an archive with one file of random bytes, and returns them."""
    content = random.Random(size).randbytes(size)
    with tarfile.open(file, 'w') as archive:
        entry = tarfile.TarInfo('data/file')
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return content


def file_in_archive(archive_of_image, name='data/file'):
    """The bytes of a file in the only layer of an image archive (docker save)."""
    with tarfile.open(archive_of_image) as image:
        manifest = json.load(image.extractfile('manifest.json'))
        layer = image.extractfile(manifest[0]['Layers'][-1]).read()
    with tarfile.open(fileobj=io.BytesIO(layer)) as files:
        return files.extractfile(name).read()


class KilledEmulator(container_tools.RegistryTest):
    """A client of the wire, whose emulator is killed in the middle of its requests."""

    SIZE = 8_000_000

    def call(self, method, path, body=b'', headers=None):
        """The status and the fields of an answer."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers

    def send_part(self, location, piece):
        """Sends the beginning of a longer piece, and waits until the upload has all of it."""
        before = self.offset(location)
        peer = self.enterContext(socket.create_connection(self.address.split(':')))
        peer.sendall(f'PATCH {location} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 * self.SIZE}\r\n\r\n'.encode())
        peer.sendall(piece)
        support.wait_for(lambda: self.offset(location) == before + len(piece), 'the bytes of the piece')

    def offset(self, location):
        status, fields = self.call('GET', location)
        self.assertEqual(status, 204)
        last = int(fields['Range'].removeprefix('0-'))
        return last + 1 if last else 0

    def restart(self):
        self.emulator.restart(kill=True)
        self.address = self.emulator.url.removeprefix('http://')

    def test_an_upload_continues_after_each_kill(self):
        content = random.Random(16).randbytes(self.SIZE)
        digest = 'sha256:' + hashlib.sha256(content).hexdigest()
        location = self.call('POST', '/v2/p/killed/blobs/uploads/')[1]['Location']
        for end in (1_000_000, 1_000_007, 4_000_000, self.SIZE):
            self.send_part(location, content[self.offset(location):end])
            self.restart()
            self.assertEqual(self.offset(location), end)
        self.assertEqual(self.call('PUT', f'{location}?digest={digest}')[0], 201)
        self.restart()
        self.assertEqual(self.call('HEAD', f'/v2/p/killed/blobs/{digest}')[1]['Content-Length'], str(self.SIZE))
        self.assertEqual(self.call('GET', location)[0], 404)

    def test_what_was_acknowledged_is_there_after_kills_at_random_times(self):
        stored = []
        chance = random.Random(17)
        for turn in range(5):
            writer = threading.Thread(target=self.push_until_killed, args=(turn, stored))
            writer.start()
            aim = len(stored) + chance.randrange(1, 6)
            support.wait_for(lambda: len(stored) >= aim, f'{aim} blobs')
            self.restart()
            writer.join()
            for digest in stored:
                self.assertEqual(self.call('HEAD', f'/v2/p/storm/blobs/{digest}')[0], 200)
        for upload in os.listdir(self.emulator.state / 'images/uploads'):
            location = f'/v2/p/storm/blobs/uploads/{upload}'
            self.assertEqual(self.call('DELETE', location)[0], 204)

    def push_until_killed(self, turn, stored):
        chance = random.Random(turn)
        try:
            while True:
                content = chance.randbytes(chance.randrange(200_000))
                digest = 'sha256:' + hashlib.sha256(content).hexdigest()
                location = self.call('POST', '/v2/p/storm/blobs/uploads/')[1]['Location']
                half = len(content) // 2
                self.call('PATCH', location, content[:half])
                if self.call('PUT', f'{location}?digest={digest}', content[half:])[0] == 201:
                    stored.append(digest)
        except (OSError, http.client.HTTPException):
            return  # the kill


class Skopeo(container_tools.Skopeo):

    def layout(self, name, size=1000):
        """An OCI layout with an image of one layer, made without any client."""
        blobs = self.work / name / 'blobs/sha256'
        blobs.mkdir(parents=True)

        def put(content):
            digest = hashlib.sha256(content).hexdigest()
            (blobs / digest).write_bytes(content)
            return {'digest': 'sha256:' + digest, 'size': len(content)}

        write_rootfs(self.work / 'layer.tar', size)
        layer = put((self.work / 'layer.tar').read_bytes())
        config = put(json.dumps({'architecture': 'amd64', 'os': 'linux', 'rootfs': {
            'type': 'layers', 'diff_ids': [layer['digest']]}}).encode())
        kind = 'application/vnd.oci.image.'
        manifest = put(json.dumps({
            'schemaVersion': 2, 'mediaType': kind + 'manifest.v1+json',
            'config': {'mediaType': kind + 'config.v1+json', **config},
            'layers': [{'mediaType': kind + 'layer.v1.tar', **layer}]}).encode())
        (self.work / name / 'index.json').write_text(json.dumps({'schemaVersion': 2, 'manifests': [{
            'mediaType': kind + 'manifest.v1+json', **manifest,
            'annotations': {'org.opencontainers.image.ref.name': '1'}}]}))
        (self.work / name / 'oci-layout').write_text('{"imageLayoutVersion": "1.0.0"}')
        return f'oci:{name}:1'

    def test_copies_an_image_to_each_name_and_back(self):
        image = self.layout('there')
        for target, insecure in ((f'{self.address}/p/plain:v1', True), ('gcr.io/p/tls:v1', False),
                                 ('eu.gcr.io/p/eu:v1', False), ('us-docker.pkg.dev/p/r/i:v1', False)):
            with self.subTest(target):
                flags = [['--dest-tls-verify=false'], ['--src-tls-verify=false']] if insecure else [[], []]
                self.skopeo('copy', '--preserve-digests', *flags[0], image, f'docker://{target}')
                back = 'oci:' + target.replace('/', '_').replace(':', '_') + ':1'
                self.skopeo('copy', '--preserve-digests', *flags[1], f'docker://{target}', back)
                blobs = self.work / back.split(':')[1] / 'blobs/sha256'
                self.assertEqual(sorted(os.listdir(blobs)), sorted(os.listdir(self.work / 'there/blobs/sha256')))
        self.assertEqual(self.tags('p/plain'), ['v1'])
        self.assertEqual(self.tags('p/tls'), ['v1'])
        self.assertEqual(self.tags('us-docker.pkg.dev/p/r/i'), ['v1'])

    def test_sends_a_large_layer_and_skips_it_the_next_time(self):
        image = self.layout('large', 30_000_000)
        self.skopeo('copy', image, 'docker://gcr.io/p/large:1')
        before = self.emulator.state / 'access.log'
        size = before.stat().st_size
        self.skopeo('copy', image, 'docker://gcr.io/p/large:2')
        later = before.read_text()[size:]
        self.assertNotIn('PATCH', later)
        self.assertIn('PUT /v2/p/large/manifests/2 201', later)

    def test_converts_lists_and_deletes(self):
        self.skopeo('copy', '--format', 'v2s2', self.layout('there'), 'docker://gcr.io/p/docker:1')
        seen = json.loads(self.skopeo('inspect', '--raw', 'docker://gcr.io/p/docker:1').stdout)
        self.assertEqual(seen['mediaType'], 'application/vnd.docker.distribution.manifest.v2+json')
        listed = json.loads(self.skopeo('list-tags', 'docker://gcr.io/p/docker').stdout)
        self.assertEqual(listed['Tags'], ['1'])
        self.skopeo('delete', 'docker://gcr.io/p/docker:1')
        self.assertNotEqual(self.skopeo('inspect', 'docker://gcr.io/p/docker:1', check=False).returncode, 0)
        self.assertEqual(self.tags('p/docker'), [])

    def test_logs_in_as_the_documentation_of_google_says(self):
        self.skopeo('login', '-u', 'oauth2accesstoken', '-p', 'ya29.anything', 'gcr.io')
        self.skopeo('copy', self.layout('there'), 'docker://gcr.io/p/login:1')
        self.skopeo('logout', 'gcr.io')

    def test_admits_another_user_with_the_token(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest('only root can run a client as another user')
        support.need('setpriv')
        self.skopeo('copy', self.layout('there'), 'docker://gcr.io/p/private:1')
        token = (self.emulator.state / 'keys/client-token').read_text().strip()
        env = {**support.clean_environment(), 'HOME': '/nonexistent', 'REGISTRY_AUTH_FILE': '/nonexistent/auth.json'}
        words = ['setpriv', '--reuid=65534', '--clear-groups', 'skopeo', 'inspect', '--tls-verify=false']
        image = f'docker://{self.address}/p/private:1'
        for creds, works in ((['--creds', f'caip:{token}'], True), (['--creds', 'caip:wrong'], False),
                             (['--no-creds'], False)):
            done = support.run([*words, *creds, image], env=env, check=False)
            self.assertEqual(done.returncode == 0, works, done.stderr)
            self.assertEqual('unauthorized' in done.stderr, not works, done.stderr)

    def test_reads_gcr_io_at_the_emulators_own_address(self):
        self.skopeo('copy', self.layout('there'), 'docker://gcr.io/p/mirrored:1')
        (self.work / 'registries.conf').write_text(
            f'[[registry]]\nprefix = "gcr.io"\nlocation = "{self.address}"\ninsecure = true\n')
        for name in ('https_proxy', 'HTTPS_PROXY', 'SSL_CERT_FILE'):
            self.env.pop(name)
        self.skopeo('--registries-conf', 'registries.conf', 'copy', 'docker://gcr.io/p/mirrored:1', 'oci:back:1')


class Crane(container_tools.Crane):

    def test_appends_copies_and_mounts(self):
        content = write_rootfs(self.work / 'layer.tar', 100_000)
        self.crane('append', '-f', 'layer.tar', '-t', 'gcr.io/p/a:1')
        self.crane('copy', 'gcr.io/p/a:1', 'gcr.io/p/b:2')
        self.crane('tag', 'gcr.io/p/b:2', 'latest')
        self.assertEqual(self.crane('ls', 'gcr.io/p/b').stdout.split(), ['2', 'latest'])
        self.assertEqual(self.crane('digest', 'gcr.io/p/a:1').stdout, self.crane('digest', 'gcr.io/p/b').stdout)
        self.crane('validate', '--remote', 'gcr.io/p/b:latest')
        self.crane('pull', 'gcr.io/p/b:latest', 'image.tar')
        with tarfile.open(self.work / 'image.tar') as image:
            names = image.getnames()
        self.assertTrue(any(name.endswith('.tar.gz') for name in names), names)
        self.crane('export', 'gcr.io/p/b:latest', 'files.tar')
        with tarfile.open(self.work / 'files.tar') as files:
            self.assertEqual(files.extractfile('data/file').read(), content)
        self.assertIn('p/b', self.crane('catalog', 'gcr.io').stdout.split())

    def test_makes_an_index_and_deletes_it(self):
        write_rootfs(self.work / 'layer.tar')
        self.crane('append', '-f', 'layer.tar', '-t', f'{self.address}/p/part:1')
        self.crane('index', 'append', '-m', f'{self.address}/p/part:1', '-t', f'{self.address}/p/part:all')
        index = json.loads(self.crane('manifest', f'{self.address}/p/part:all').stdout)
        self.assertEqual(len(index['manifests']), 1)
        digest = self.crane('digest', f'{self.address}/p/part:all').stdout.strip()
        self.crane('delete', f'{self.address}/p/part@{digest}')
        self.assertEqual(self.tags('p/part'), ['1'])


class Podman(container_tools.Podman):

    def test_pushes_and_pulls(self):
        content = write_rootfs(self.work / 'rootfs.tar', 3_000_000)
        self.podman('import', 'rootfs.tar', 'localhost/image:1')
        for target, flags in ((f'{self.address}/p/podman:1', ['--tls-verify=false']), ('gcr.io/p/podman-tls:1', [])):
            with self.subTest(target):
                self.podman('push', *self.policy, *flags, 'localhost/image:1', target)
                self.podman('pull', *self.policy, *flags, target)
                self.podman('save', '-o', 'saved.tar', target)
                self.assertEqual(file_in_archive(self.work / 'saved.tar'), content)
                (self.work / 'saved.tar').unlink()
                self.podman('rmi', target)
        self.podman('rmi', '-a')
        self.podman('pull', *self.policy, 'gcr.io/p/podman-tls:1')

    def test_logs_in(self):
        self.podman('login', '-u', 'oauth2accesstoken', '-p', 'ya29.anything', 'gcr.io')
        self.podman('login', '-u', '_json_key', '-p', '{}', '--tls-verify=false', self.address)


class Buildah(container_tools.Buildah):

    def test_builds_and_pushes(self):
        content = write_rootfs(self.work / 'rootfs.tar')
        (self.work / 'Containerfile').write_text('FROM scratch\nADD rootfs.tar /\nENTRYPOINT ["/data/file"]\n')
        self.buildah('bud', *self.policy, '--isolation', 'chroot', '-t', 'gcr.io/p/built:1', '.')
        self.buildah('push', *self.policy, 'gcr.io/p/built:1')
        self.buildah('rmi', '-a')
        self.buildah('pull', *self.policy, 'gcr.io/p/built:1')
        made = self.buildah('from', *self.policy, 'gcr.io/p/built:1').stdout.strip()
        place = self.buildah('mount', made).stdout.strip()
        self.assertEqual((Path(place) / 'data/file').read_bytes(), content)
        self.buildah('rm', '-a')
        self.assertEqual(self.tags('p/built'), ['1'])


class Docker(container_tools.Docker):

    def test_pushes_and_pulls_as_the_documentation_of_google_says(self):
        content = write_rootfs(self.work / 'rootfs.tar', 6_000_000)
        self.docker('import', 'rootfs.tar', 'gcr.io/p/docker:1')
        self.docker('login', '-u', 'oauth2accesstoken', '-p', 'ya29.anything', 'https://gcr.io')
        self.docker('push', 'gcr.io/p/docker:1')
        self.docker('tag', 'gcr.io/p/docker:1', f'{self.address}/p/plain:1')
        self.docker('push', f'{self.address}/p/plain:1')
        self.docker('rmi', 'gcr.io/p/docker:1', f'{self.address}/p/plain:1')
        for name in ('gcr.io/p/docker:1', f'{self.address}/p/plain:1'):
            self.docker('pull', name)
            self.docker('save', '-o', 'saved.tar', name)
            self.assertEqual(file_in_archive(self.work / 'saved.tar'), content)
        self.docker('manifest', 'inspect', 'gcr.io/p/docker:1')


if __name__ == '__main__':
    support.main()
