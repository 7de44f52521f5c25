#!/usr/bin/env python3
"""Jobs from images that were pushed to the emulator's own registry, as the service's documentation shows: build, push to
gcr.io/PROJECT/IMAGE, submit. Each tool that a host may have does so, and a client of the wire that needs none."""

import contextlib
import hashlib
import http.client
import io
import json
import ssl
import sys
import tarfile
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import container_tools  # noqa: E402
import support  # noqa: E402

BUSYBOX = Path('/bin/busybox')
PROGRAM = '#!/bin/sh\necho "trained by $0 with $*"\n'
CONTAINERFILE = 'FROM scratch\nADD rootfs.tar /\nENTRYPOINT ["/train"]\n'
KIND = 'application/vnd.oci.image.'


def write_rootfs(file):
    """Writes an archive with a shell and the program of the jobs."""
    with tarfile.open(file, 'w') as archive:
        for name, content in (('bin/sh', BUSYBOX.read_bytes()), ('train', PROGRAM.encode())):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))


class Pushed:
    """An image, the requests of `docker push` without any tool, and the job that runs from what was pushed."""

    @classmethod
    def setUpClass(cls):
        if not BUSYBOX.exists():
            raise unittest.SkipTest('busybox is not in /bin')
        support.need_isolation()
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.context = self.work / 'context'
        self.context.mkdir()
        write_rootfs(self.context / 'rootfs.tar')
        (self.context / 'Dockerfile').write_text(CONTAINERFILE)
        self.name = type(self).__name__.lower()
        self.image = f'gcr.io/{self.emulator.project}/{self.name}:v1'

    def connection(self, host):
        """To gcr.io through the https proxy of the emulator, or to its own address."""
        name, port = self.address.split(':')
        if host == self.address:
            return contextlib.closing(http.client.HTTPConnection(name, int(port), timeout=60))
        trust = ssl.create_default_context(cafile=self.env['SSL_CERT_FILE'])
        connection = http.client.HTTPSConnection(name, int(port), timeout=60, context=trust)
        connection.set_tunnel(host, 443)
        return contextlib.closing(connection)

    def push(self, host, path, tag, layers=1):
        """Pushes the image, with its layer so many times, and returns the digest of its manifest."""
        with self.connection(host) as connection:
            def call(method, target, status, body=b'', **fields):
                connection.request(method, target, body, {name.replace('_', '-'): text for name, text in fields.items()})
                answer = connection.getresponse()
                said = answer.read()
                self.assertEqual(answer.status, status, said)
                return answer.headers

            def put(content, kind):
                digest = 'sha256:' + hashlib.sha256(content).hexdigest()
                place = call('POST', f'/v2/{path}/blobs/uploads/', 202)['Location']
                place = place if place.startswith('/') else '/' + place.split('/', 3)[3]
                call('PUT', f'{place}{"&" if "?" in place else "?"}digest={digest}', 201, content)
                return {'mediaType': kind, 'digest': digest, 'size': len(content)}

            layer = put((self.context / 'rootfs.tar').read_bytes(), KIND + 'layer.v1.tar')
            machine = 'arm64' if support.run(['uname', '-m']).stdout.strip() == 'aarch64' else 'amd64'
            config = put(json.dumps({'architecture': machine, 'os': 'linux', 'config': {'Entrypoint': ['/train']},
                                     'rootfs': {'type': 'layers', 'diff_ids': [layer['digest']] * layers}}).encode(),
                         KIND + 'config.v1+json')
            manifest = json.dumps({'schemaVersion': 2, 'mediaType': KIND + 'manifest.v1+json', 'config': config,
                                   'layers': [layer] * layers}).encode()
            call('PUT', f'/v2/{path}/manifests/{tag}', 201, manifest, Content_Type=KIND + 'manifest.v1+json')
            return 'sha256:' + hashlib.sha256(manifest).hexdigest()

    def expect_success(self, image, job):
        """Submits a job with the image, and expects its state and its line in the log."""
        self.emulator.caip('jobs', 'submit', 'training', job, '--project', self.emulator.project, '--region',
                           'us-central1', '--master-image-uri', image, '--stream-logs', '--', '--epochs', '2')
        told = self.emulator.caip('jobs', 'describe', job, '--project', self.emulator.project, '--format', 'json')
        self.assertEqual(json.loads(told.stdout)['state'], 'SUCCEEDED')
        query = {'resourceNames': [f'projects/{self.emulator.project}'],
                 'filter': f'resource.labels.job_id="{job}" resource.labels.task_name="master-replica-0"'}
        request = urllib.request.Request(f'{self.emulator.url}/v2/entries:list', json.dumps(query).encode(),
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            entries = json.load(answer).get('entries', [])
        self.assertIn('trained by /train with --epochs 2', [entry['jsonPayload']['message'] for entry in entries])


class Wire(Pushed, container_tools.RegistryTest):
    """A client that every host has."""

    def test_at_the_emulators_own_address(self):
        path = f'{self.emulator.project}/{self.name}'
        digest = self.push(self.address, path, 'v1')
        self.expect_success(self.image, 'own_address')
        self.expect_success(f'gcr.io/{path}@{digest}', 'by_digest')

    def test_at_gcr_io_and_pkg_dev(self):
        self.push('gcr.io', f'{self.emulator.project}/proxied', 'v2')
        self.expect_success(f'gcr.io/{self.emulator.project}/proxied:v2', 'by_gcr')
        self.push('europe-docker.pkg.dev', f'{self.emulator.project}/images/{self.name}', 'v1')
        self.expect_success(f'europe-docker.pkg.dev/{self.emulator.project}/images/{self.name}:v1', 'by_pkg')


    def test_with_ten_thousand_layers_is_kept_but_not_run(self):
        digest = self.push(self.address, f'{self.emulator.project}/many', 'v1', layers=10_000)
        url = f'{self.emulator.url}/v2/{self.emulator.project}/many/manifests/{digest}'
        with urllib.request.urlopen(url, timeout=60) as answer:
            self.assertEqual(len(json.load(answer)['layers']), 10_000)
        self.emulator.caip('jobs', 'submit', 'training', 'many_layers', '--project', self.emulator.project, '--region',
                           'us-central1', '--master-image-uri', f'gcr.io/{self.emulator.project}/many:v1', '--stream-logs',
                           check=False)
        told = self.emulator.caip('jobs', 'describe', 'many_layers', '--project', self.emulator.project, '--format', 'json')
        job = json.loads(told.stdout)
        self.assertEqual(job['state'], 'FAILED')
        self.assertIn('The image has 10000 layers. At most 127 are supported.', job['errorMessage'])


class Docker(Pushed, container_tools.Docker):

    def test_builds_and_pushes(self):
        self.docker('build', '-t', self.image, self.context)
        self.docker('push', self.image)
        self.expect_success(self.image, 'docker')


class Podman(Pushed, container_tools.Podman):

    def test_builds_and_pushes(self):
        self.podman('build', *self.policy, '--isolation', 'chroot', '-t', self.image, self.context)
        self.podman('push', *self.policy, self.image)
        self.expect_success(self.image, 'podman')


class Buildah(Pushed, container_tools.Buildah):

    def test_builds_and_pushes(self):
        self.buildah('bud', *self.policy, '--isolation', 'chroot', '-t', self.image, self.context)
        self.buildah('push', *self.policy, self.image)
        self.expect_success(self.image, 'buildah')


class Skopeo(Pushed, container_tools.Skopeo):

    def test_copies_what_the_registry_has_to_another_name(self):
        self.push(self.address, f'{self.emulator.project}/source', 'v1')
        self.skopeo('copy', '--src-tls-verify=false', f'docker://{self.address}/{self.emulator.project}/source:v1',
                    f'docker://{self.image}')
        self.expect_success(self.image, 'skopeo')


class Report(unittest.TestCase):
    """What ctest sees of a script like this one, most of whose classes are skipped where their tools are missing."""

    def code_of(self, *tests):
        script = ('import sys, unittest\nsys.path.insert(0, sys.argv.pop())\nimport support\n'
                  'class Base(unittest.TestCase):\n'
                  '    @classmethod\n    def setUpClass(cls): raise unittest.SkipTest("its tool is missing")\n'
                  '    def test(self): pass\n' + '\n'.join(tests) + '\nsupport.main()\n')
        return support.run([sys.executable, '-c', script, ROOT / 'tests/clients'], check=False)

    def test_a_script_whose_other_tests_ran_is_not_skipped(self):
        done = self.code_of('class Tool(Base): pass', 'class Other(unittest.TestCase):\n    def test(self): pass')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('SKIPPED setUpClass (__main__.Tool): its tool is missing', done.stdout)
        self.assertEqual(self.code_of('class Tool(Base): pass').returncode, support.SKIPPED)


if __name__ == '__main__':
    support.main()
