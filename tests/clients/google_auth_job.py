"""google-auth inside a replica: credentials from the metadata server, with unchanged code."""

import json
import tempfile
import urllib.request

import support

ACCOUNT = 'trainer@demo-project.iam.gserviceaccount.com'

TASK = '''
import json, os, time
begin = time.monotonic()
import google.auth
import google.auth.transport.requests
from google.auth.compute_engine import _metadata
from google.oauth2 import id_token

request = google.auth.transport.requests.Request()
credentials, project = google.auth.default(scopes=['https://www.googleapis.com/auth/cloud-platform'])
credentials.refresh(request)
authed = google.auth.transport.requests.AuthorizedSession(credentials)
listing = authed.get(os.environ['STORAGE_EMULATOR_HOST'] + '/storage/v1/b?project=' + project)
token = id_token.fetch_id_token(request, 'https://me.example')
claims = id_token.verify_oauth2_token(token, request, 'https://me.example')
print('SEEN ' + json.dumps({
    'type': type(credentials).__module__, 'project': project, 'token': credentials.token,
    'email': credentials.service_account_email, 'valid': credentials.valid,
    'listing': listing.status_code, 'audience': claims['aud'], 'claimed': claims['email'],
    'zone': _metadata.get(request, 'instance/zone'),
    'seconds': time.monotonic() - begin}))
'''


class GoogleAuthJob(support.EmulatorTest):
    """google.auth.default() and its tokens."""

    @classmethod
    def setUpClass(cls):
        cls.python = support.virtualenv('google-auth', 'google-auth', 'requests')
        cls.config = f'runtimes: {{"2.11": {cls.python}}}\n'
        super().setUpClass()
        cls.emulator.bucket('bkt')
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.package = support.write_package(cls.directory.name, TASK)

    def seen_by(self, job, *flags):
        """Runs a job with TASK; returns what it printed."""
        self.emulator.caip(
            'jobs', 'submit', 'training', job, '--package-path', self.package, '--module-name',
            'trainer.task', '--staging-bucket', 'gs://bkt', '--region', 'europe-west1',
            '--runtime-version', '2.11', '--python-version', '3.7', '--project', 'demo-project',
            *flags)
        done = self.emulator.caip('jobs', 'stream-logs', job, '--project', 'demo-project',
                                  check=False)
        text = done.stdout + done.stderr
        lines = [line for line in text.splitlines() if 'SEEN {' in line]
        self.assertTrue(lines, text)
        return json.loads(lines[0].split('SEEN ', 1)[1])

    def test_the_jobs_account_gets_a_token_that_every_api_accepts(self):
        seen = self.seen_by('named', '--service-account', ACCOUNT)
        self.assertEqual(seen['type'], 'google.auth.compute_engine.credentials')
        self.assertEqual(seen['project'], 'demo-project')
        self.assertEqual(seen['email'], ACCOUNT)
        self.assertTrue(seen['token'].startswith('ya29.caip.'))
        self.assertTrue(seen['valid'])
        self.assertEqual(seen['listing'], 200)
        self.assertRegex(seen['zone'], r'projects/\d+/zones/europe-west1-b')

    def test_identity_tokens_pass_googles_check(self):
        seen = self.seen_by('identity', '--service-account', ACCOUNT)
        self.assertEqual((seen['audience'], seen['claimed']), ('https://me.example', ACCOUNT))

    def test_a_job_without_an_account_has_the_managed_one(self):
        self.assertRegex(self.seen_by('managed')['email'],
                         r'^service-\d+@cloud-ml\.google\.com\.iam\.gserviceaccount\.com$')

    def test_the_metadata_server_ends_with_the_job(self):
        self.seen_by('gone')
        log = (self.emulator.state / 'access.log').read_text()
        self.assertIn(' gone/master-replica-0 GET /computeMetadata/v1/project/project-id 200 ', log)


class InANetworkOfItsOwn(GoogleAuthJob):
    """The same without GCE_METADATA_HOST: at 169.254.169.254 and metadata.google.internal."""

    flags = ('--isolation', 'machine')

    @classmethod
    def setUpClass(cls):
        support.need_isolation()
        super().setUpClass()


class KeyFile(support.EmulatorTest):
    """Software that requires the key file of a service account."""

    def test_becomes_a_token(self):
        python = support.virtualenv('google-auth', 'google-auth', 'requests')
        with urllib.request.urlopen(self.emulator.url + '/emulator/v1/oauth2/keyFile') as answer:
            file = self.emulator.directory / 'key.json'
            file.write_bytes(answer.read())
        done = support.run([python, '-c', 'import google.auth, google.auth.transport.requests as t\n'
                            's = "https://www.googleapis.com/auth/cloud-platform"\n'
                            'c, project = google.auth.default(scopes=[s])\n'
                            'c.refresh(t.Request())\nprint(c.service_account_email, c.token)'],
                           env={**support.clean_environment(),
                                'GOOGLE_APPLICATION_CREDENTIALS': str(file)})
        email, token = done.stdout.split()
        self.assertEqual(email, json.loads(file.read_text())['client_email'])
        self.assertTrue(token.startswith('ya29.caip.'), token)


if __name__ == '__main__':
    support.main()
