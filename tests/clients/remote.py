"""Clients that the kernel does not know as the emulator's user: another user of this host, with the
variables of `caip env --remote`, like clients in containers and on other hosts."""

import os
import shutil
import stat
import tempfile
import textwrap
import unittest
from pathlib import Path

import support

STRANGER = 65534  # nobody
MIB = 1 << 20

PYTHON_CLIENT = textwrap.dedent('''
    import os
    from google.cloud import storage
    client = storage.Client(project='demo-project')
    import concurrent.futures, email.mime.multipart, encodings.idna
    os.setresgid({user}, {user}, {user})
    os.setresuid({user}, {user}, {user})
    bucket = client.bucket('remote-bucket')
    bucket.blob('small').upload_from_string(b'x' * 9000)
    large = bucket.blob('large', chunk_size={mib})
    large.upload_from_string(os.urandom(3 * {mib}))
    assert large.size == 3 * {mib}, large.size
    assert len(large.download_as_bytes()) == 3 * {mib}
    print(sorted(blob.name for blob in client.list_blobs('remote-bucket')))
''')


class Remote(support.EmulatorTest):
    """One bucket, and a home directory of the stranger."""

    @classmethod
    def setUpClass(cls):
        support.need('setpriv', 'curl')
        if os.geteuid() != 0:
            raise unittest.SkipTest('only root can start clients of another user')
        super().setUpClass()
        cls.emulator.bucket('remote-bucket')
        shown = cls.emulator.caip('env', '--remote', 'localhost', '--format', 'dotenv').stdout
        cls.variables = dict(line.split('=', 1) for line in shown.splitlines())

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        os.chown(self.home, STRANGER, STRANGER)
        self.env = {**support.clean_environment(), 'HOME': str(self.home),
                    'CLOUDSDK_CONFIG': str(self.home / 'gcloud'), **self.variables}

    def as_stranger(self, *words, check=True, stdin=None):
        return support.run(['setpriv', '--reuid', STRANGER, '--regid', STRANGER, '--clear-groups',
                            *words], env=self.env, check=check, cwd=self.home, stdin=stdin)

    def test_curl_needs_the_token(self):
        target = '/storage/v1/b?project=demo-project'
        status = ('curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}')
        without = self.as_stranger(*status, self.emulator.url + target).stdout
        self.assertEqual(without, '403')
        with_it = self.variables['STORAGE_EMULATOR_HOST'] + target
        self.assertEqual(self.as_stranger(*status, with_it).stdout, '200')
        self.assertEqual(self.as_stranger(*status, with_it.replace('@', '0@')).stdout, '401')

    def test_the_state_directory_is_closed(self):
        self.assertEqual(stat.S_IMODE(self.emulator.state.stat().st_mode), 0o700)
        read = self.as_stranger('cat', self.emulator.state / 'keys/client-token', check=False)
        self.assertNotEqual(read.returncode, 0)

    def test_caip_uses_the_emulator_elsewhere(self):
        caip = shutil.copy(support.caip_binary(), self.home / 'caip')
        listed = self.as_stranger(caip, 'jobs', 'list')
        self.assertIn('Listed 0 items', listed.stderr)
        missing = self.as_stranger(caip, 'jobs', 'describe', 'none', check=False)
        self.assertIn('NOT_FOUND', missing.stderr)
        self.assertFalse((self.home / '.local').exists(), 'it must not start an emulator of its own')

    def test_caip_predicts_with_a_model_elsewhere(self):
        """The program that predicts has no token: it gets a copy of the model. Here it prints the model."""
        caip = shutil.copy(support.caip_binary(), self.home / 'caip')
        python = self.home / 'python'
        python.write_text('#!/bin/sh\nmodel=$(cat "${3#--model-dir=}/model.bst")\n'
                          'echo "{\\"predictions\\": [{\\"predictions\\": \\"$model\\"}]}"\n')
        python.chmod(0o755)
        self.as_stranger(caip, 'cp', '-', 'gs://remote-bucket/job/model/model.bst', stdin='trees')
        found = self.as_stranger(caip, 'local', 'predict', '--model-dir', 'gs://remote-bucket/job/model', '--python', python,
                                 '--json-instances', '-')
        self.assertEqual(found.stdout, 'PREDICTIONS\ntrees\n', found.stderr)

    def test_gcloud_copies_both_ways(self):
        support.need('gcloud')
        (self.home / 'data').write_bytes(os.urandom(9 * MIB))
        self.as_stranger('gcloud', 'storage', 'cp', 'data', 'gs://remote-bucket/dir/data')
        self.as_stranger('gcloud', 'storage', 'cp', 'gs://remote-bucket/dir/data', 'back')
        self.assertEqual((self.home / 'back').read_bytes(), (self.home / 'data').read_bytes())
        jobs = self.as_stranger('gcloud', 'ai-platform', 'jobs', 'list', '--format', 'value(jobId)')
        self.assertEqual(jobs.stdout, '')

    def test_the_python_library_uploads_in_pieces(self):
        python = support.virtualenv('google_cloud_storage_current',
                                    'google-cloud-storage>=3,<4', 'cryptography')
        text = PYTHON_CLIENT.format(user=STRANGER, mib=MIB)
        done = support.run([python, '-c', text], env=self.env, cwd=self.home)
        self.assertIn("'large', 'small'", done.stdout)


if __name__ == '__main__':
    support.main()
