#!/usr/bin/env python3
"""An emulator that may write no large files (`ulimit -f`)."""

import json
import sys
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/clients'))

import support  # noqa: E402

SIGXFSZ = 25
IMAGE = 'gcr.io/demo/shell:v1'


class LimitedFiles(unittest.TestCase):
    def setUp(self):
        self.emulator = support.Emulator(prefix=('prlimit', f'--fsize={20 << 20}'),
                                        config=f'images: {{"{IMAGE}": [sh]}}\n')
        self.addCleanup(self.emulator.close)
        self.emulator.start()
        self.emulator.bucket('bkt')

    def upload(self, size):
        request = urllib.request.Request(
            self.emulator.url + '/upload/storage/v1/b/bkt/o?uploadType=media&name=large', bytes(size), method='POST',
            headers={'Content-Type': 'application/octet-stream'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def test_an_object_beyond_the_limit_is_refused_as_by_a_full_disk(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.upload(30 << 20)
        with refused.exception as error:
            text = error.read()
        self.assertEqual(error.code, 403)
        self.assertEqual(json.loads(text)['error']['errors'][0]['reason'], 'quotaExceeded')
        self.assertEqual(self.upload(1 << 20)['size'], str(1 << 20))

    def test_trainers_get_the_signal(self):
        done = self.emulator.caip('jobs', 'submit', 'training', 'signals', '--region', 'us-central1', '--master-image-uri', IMAGE,
                                  '--project', self.emulator.project, '--stream-logs', '--', '-c', 'grep ^SigIgn /proc/self/status')
        ignored = int((done.stdout + done.stderr).split('SigIgn:')[1].split()[0], 16)
        self.assertEqual(ignored >> (SIGXFSZ - 1) & 1, 0)


if __name__ == '__main__':
    support.main()
