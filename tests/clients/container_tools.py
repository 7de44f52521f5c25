"""The clients of container registries as tests run them: skopeo, crane, podman, buildah and docker, each with an emulator, a
folder, and a home folder without settings of the user. A client that is not on this host is skipped, by name.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
import toolchains

POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'
# Hosts on which limits cannot be raised need lower ones.
CONTAINERS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'


class RegistryTest(support.EmulatorTest):
    """A client with an emulator, a folder, and a home folder without settings of the user."""

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, text in (('policy.json', POLICY), ('containers.conf', CONTAINERS), ('registries.conf', ''),
                           ('auth.json', '{}')):
            (self.work / name).write_text(text)
        (self.work / '.config/containers').mkdir(parents=True)
        (self.work / '.config/containers/policy.json').write_text(POLICY)  # podman push reads no other
        self.address = self.emulator.url.removeprefix('http://')
        variables = json.loads(self.emulator.caip('env', '--tls', '--format', 'json').stdout)
        self.env = {**support.clean_environment(), **variables, 'HOME': str(self.work),
                    'XDG_RUNTIME_DIR': str(self.work), 'XDG_DATA_HOME': str(self.work / 'data'),
                    'REGISTRY_AUTH_FILE': str(self.work / 'auth.json'),
                    'DOCKER_CONFIG': str(self.work),
                    'CONTAINERS_CONF': str(self.work / 'containers.conf'),
                    'CONTAINERS_REGISTRIES_CONF': str(self.work / 'registries.conf')}

        self.policy = ['--signature-policy', self.work / 'policy.json']  # for podman and buildah

    def run_client(self, *words, check=True):
        return support.run(words, env=self.env, cwd=self.work, check=check)

    def tags(self, name):
        """The tags that the registry lists, as curl sees them."""
        done = support.run(['curl', '-sf', f'{self.emulator.url}/v2/{name}/tags/list'])
        return json.loads(done.stdout)['tags']


class Skopeo(RegistryTest):

    @classmethod
    def setUpClass(cls):
        support.need('skopeo', 'curl')
        super().setUpClass()

    def skopeo(self, *words, check=True):
        return self.run_client('skopeo', '--policy', 'policy.json', *words, check=check)


class Crane(RegistryTest):
    SOURCE = '''package main

import (
    "os"

    "github.com/google/go-containerregistry/cmd/crane/cmd"
)

func main() {
    if err := cmd.Root.Execute(); err != nil {
        os.Exit(1)
    }
}
'''

    @classmethod
    def setUpClass(cls):
        support.need('curl')
        cls.program = shutil.which('crane') or toolchains.go_program(
            'crane', cls.SOURCE, 'github.com/google/go-containerregistry@v0.22.1')
        super().setUpClass()

    def crane(self, *words, check=True):
        return self.run_client(self.program, *words, check=check)


class Podman(RegistryTest):

    @classmethod
    def setUpClass(cls):
        support.need('podman', 'curl')
        super().setUpClass()

    def podman(self, *words, check=True):
        return self.run_client('podman', '--root', self.work / 'root', '--runroot', self.work / 'run',
                               '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs', '--events-backend', 'none',
                               *words, check=check)


class Buildah(RegistryTest):

    @classmethod
    def setUpClass(cls):
        support.need('buildah', 'curl')
        super().setUpClass()

    def buildah(self, *words):
        return self.run_client('buildah', '--root', self.work / 'root', '--runroot', self.work / 'run',
                               '--storage-driver', 'vfs', *words)


class Docker(RegistryTest):
    """A daemon of its own, to which the proxy and the certificates of the emulator are given."""

    @classmethod
    def setUpClass(cls):
        support.need('docker', 'dockerd', 'curl')
        if os.geteuid() != 0:
            raise unittest.SkipTest('only root can start dockerd')
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.socket = f'unix://{self.work}/docker.sock'
        self.log = self.enterContext(open(self.work / 'dockerd.log', 'wb'))
        (self.work / 'daemon.json').write_text('{}')
        self.daemon = subprocess.Popen(
            ['dockerd', '--config-file', self.work / 'daemon.json', '--data-root', self.work / 'd', '--exec-root',
             self.work / 'e', '-p', self.work / 'pid', '-H', self.socket, '--storage-driver', 'vfs',
             '--iptables=false', '--ip6tables=false', '--bridge=none', '--default-ulimit', 'nofile=1024:1024'],
            env={**self.env, 'TMPDIR': str(self.work)}, stdout=self.log, stderr=self.log)  # containerd leaves logs there
        self.addCleanup(self.end)
        try:
            support.wait_for(self.answers, 'an answer of dockerd', 30)
        except AssertionError:
            raise unittest.SkipTest('dockerd does not start here') from None

    def answers(self):
        if self.daemon.poll() is not None:
            raise unittest.SkipTest('dockerd does not start here')
        return self.docker('version', check=False).returncode == 0

    def end(self):
        self.daemon.terminate()
        self.daemon.wait(30)
        for line in Path('/proc/self/mounts').read_text().splitlines():  # dockerd leaves some
            if line.split()[1].startswith(str(self.work)):
                subprocess.run(['umount', line.split()[1]], check=False)

    def docker(self, *words, check=True):
        return self.run_client('docker', '-H', self.socket, *words, check=check)
