"""gsutil 5 with prefer_api = xml, with an unknown key and with an HMAC key of the emulator."""

import json
import os
import random
import tempfile
import urllib.request
from pathlib import Path

import support

# boto's downloads fail if gs_port is set, so the emulator is gsutil's proxy.
BOTO = '''[Credentials]
gs_access_key_id = {access}
gs_secret_access_key = {secret}
[Boto]
is_secure = False
proxy = 127.0.0.1
proxy_port = {port}
[GSUtil]
prefer_api = xml
default_project_id = demo-project
state_dir = {state}
software_update_check_period = 0
disable_analytics_prompt = True
'''


class DummyKey(support.EmulatorTest):
    """An unknown key: its signatures are not checked."""

    @classmethod
    def setUpClass(cls):
        support.need('gsutil')
        super().setUpClass()
        access, secret = cls.key()
        cls.boto = cls.emulator.directory / 'boto'
        cls.boto.write_text(BOTO.format(access=access, secret=secret, port=cls.emulator.port,
                                        state=cls.emulator.directory / 'gsutil'))

    @classmethod
    def key(cls):
        return 'dummy', 'dummy'

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bucket = f'gs://b{random.randrange(10**9)}'
        self.gsutil('mb', self.bucket)

    def gsutil(self, *words, check=True):
        return support.run(['gsutil', *words], check=check, cwd=self.work,
                           env={**self.emulator.env, 'BOTO_CONFIG': str(self.boto)})

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_every_command(self):
        b = self.bucket
        self.write('a', 'abc')
        self.write('d/b c+#%ü', 'x')
        self.gsutil('-h', 'x-goog-meta-k:v', 'cp', 'a', b)
        self.gsutil('cp', '-r', 'd', b)
        self.assertEqual(self.gsutil('ls', f'{b}/**').stdout.splitlines(),
                         [f'{b}/a', f'{b}/d/b c+#%ü'])
        self.assertEqual(self.gsutil('ls', b).stdout.splitlines(), [f'{b}/a', f'{b}/d/'])
        self.assertEqual(self.gsutil('cat', '-r', '1-1', f'{b}/a').stdout, 'b')
        self.gsutil('setmeta', '-h', 'Content-Type:text/csv', f'{b}/a')
        told = self.gsutil('stat', f'{b}/a').stdout
        self.assertRegex(told, r'Content-Type: +text/csv')
        self.assertRegex(told, r'k: +v')
        self.assertIn('kAFQmDzST7DWlj99KOF/cg==', told)
        self.gsutil('cp', f'{b}/a', f'{b}/e/a')
        self.gsutil('mv', f'{b}/e/a', f'{b}/e/z')
        self.gsutil('compose', f'{b}/a', f'{b}/e/z', f'{b}/whole')
        self.gsutil('cp', f'{b}/whole', 'down')
        self.assertEqual((self.work / 'down').read_text(), 'abcabc')
        self.assertEqual(self.gsutil('du', '-s', b).stdout.split(), ['13', b])
        self.assertIn('owner', self.gsutil('acl', 'get', f'{b}/a').stdout.lower())
        self.assertNotEqual(self.gsutil('rb', b, check=False).returncode, 0)
        self.gsutil('rm', '-r', b)
        self.assertNotEqual(self.gsutil('ls', b, check=False).returncode, 0)

    def test_a_second_rsync_does_nothing(self):
        for i in range(8):
            self.write(f'tree/{i % 2}/{i}', 'x' * i)
            os.utime(self.work / f'tree/{i % 2}/{i}', (10**9 + i, 10**9 + i))
        words = ['rsync', '-r', 'tree', f'{self.bucket}/t']
        self.assertEqual(self.gsutil(*words).stderr.count('Copying file:'), 8)
        self.assertEqual(self.gsutil(*words).stderr.count('Copying file:'), 0)

    def test_a_big_file_is_sent_in_a_session(self):
        data = random.Random(1).randbytes(12_000_000)
        (self.work / 'big').write_bytes(data)
        self.gsutil('cp', 'big', self.bucket)
        self.gsutil('cp', f'{self.bucket}/big', 'down')
        self.assertEqual((self.work / 'down').read_bytes(), data)


class HmacKey(DummyKey):
    """A key of the emulator: its signatures are checked."""

    @classmethod
    def key(cls):
        request = urllib.request.Request(
            cls.emulator.url + '/storage/v1/projects/demo-project/hmacKeys?serviceAccountEmail='
            'a@demo-project.iam.gserviceaccount.com', data=b'', method='POST')
        with urllib.request.urlopen(request) as response:
            told = json.load(response)
        return told['metadata']['accessId'], told['secret']

    def test_a_wrong_secret_is_refused(self):
        other = self.work / 'boto'
        text = self.boto.read_text()
        secret = next(l for l in text.splitlines() if l.startswith('gs_secret'))
        other.write_text(text.replace(secret, 'gs_secret_access_key = ' + 'A' * 40))
        done = support.run(['gsutil', 'ls', self.bucket], check=False,
                           env={**self.emulator.env, 'BOTO_CONFIG': str(other)})
        self.assertIn('403', done.stderr)


if __name__ == '__main__':
    support.main()
