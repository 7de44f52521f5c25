#!/usr/bin/env python3
"""caip contacts no other host of its own accord: no usage data, no search for a newer version.

Commands and a job run in a network namespace with a loopback device only. The kernel counts each attempt to send elsewhere.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())
SECONDS = 120
NAMESPACES = (['unshare', '--net'], ['unshare', '--user', '--map-root-user', '--net'])
# Runs in the namespace: brings the loopback device up, runs commands, prints how many attempts each made.
COUNT = r"""
import fcntl, json, pathlib, socket, struct, subprocess, sys
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as used:
    fcntl.ioctl(used, SIOCSIFFLAGS, struct.pack('16sh14x', b'lo', IFF_UP))

def attempts():
    names, values = (line.split() for line in pathlib.Path('/proc/net/snmp').read_text().splitlines() if line.startswith('Ip:'))
    six = dict(line.split() for line in pathlib.Path('/proc/net/snmp6').read_text().splitlines())
    return int(dict(zip(names, values))['OutNoRoutes']) + int(six['Ip6OutNoRoutes'])

result, before = [], attempts()
for command in json.loads(sys.argv[1]):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    now = attempts()
    result.append([done.returncode, done.stdout, now - before])
    before = now
print(json.dumps(result))
"""
CONNECT = "import socket\ntry: socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError: pass"
JOB = """trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: gcr.io/p/echo}
"""
SCENARIO = """description: A job that prints its steps.
trainer: {command: [/bin/sh, -c, "for i in 1 2 3; do echo step $i; done"]}
expect: {state: SUCCEEDED}
"""


def namespace():
    """The words that run a command in a network namespace; a skipped test where there is none."""
    for words in NAMESPACES:
        if subprocess.run([*words, 'true'], capture_output=True).returncode == 0:
            return words
    raise unittest.SkipTest('this host allows no network namespaces')


class OtherHosts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='caip-other-hosts-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attempts(self, *commands):
        """How often each command tried to send to another host. All must succeed."""
        env = {**os.environ, 'CAIP_STATE': str(self.folder / 'state'), 'HOME': str(self.folder)}
        done = subprocess.run([*namespace(), sys.executable, '-c', COUNT, json.dumps(commands)], stdout=subprocess.PIPE, text=True,
                              timeout=SECONDS, env=env, check=True)
        results = json.loads(done.stdout)
        for command, (code, said, _) in zip(commands, results):
            self.assertEqual(code, 0, f'{command}\n{said}')
        return [count for _, _, count in results]

    def test_are_contacted_by_no_command_and_no_job(self):
        job, scenario = self.folder / 'job.yaml', self.folder / 'scenario.yaml'
        job.write_text(JOB)
        scenario.write_text(SCENARIO)
        flags = ['--region', 'us-central1', '--project', 'demo', '--config', str(job), '--map-image', 'gcr.io/p/echo=/bin/echo hello']
        counts = self.attempts(
            [CAIP, 'version'], [CAIP, 'jobs', 'submit', 'training', 'a_job', *flags, '--stream-logs'],
            [CAIP, 'scenario', 'run', str(scenario)], [CAIP, 'state', 'info'], [CAIP, 'state', 'migrate'])
        self.assertEqual(counts, [0, 0, 0, 0, 0])

    def test_would_be_counted(self):
        self.assertEqual(self.attempts([sys.executable, '-c', CONNECT]), [1])


if __name__ == '__main__':
    unittest.main()
