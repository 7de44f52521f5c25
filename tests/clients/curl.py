"""curl, and so every tool that speaks HTTP: TLS, HEAD, ranges, gzip, Expect, signed URLs."""

import base64
import datetime
import gzip
import hashlib
import json
import tempfile
import urllib.parse
from pathlib import Path

import support

ACCOUNT = 'trainer@demo-project.iam.gserviceaccount.com'


class Curl(support.EmulatorTest):
    """One bucket, with an object `a b.txt` of ten digits."""

    @classmethod
    def setUpClass(cls):
        support.need('curl')
        super().setUpClass()
        cls.emulator.bucket('bkt')
        cls.authority = cls.emulator.state / 'ca/ca.pem'

    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.work / 'digits').write_text('0123456789')
        self.curl('-T', 'digits', self.at('/bkt/a%20b.txt'), '-H', 'Content-Type: text/plain')

    def at(self, target):
        return self.emulator.url + target

    def curl(self, *words, check=True):
        """The output. curl prints the status on a last line, which goes to `self.status`."""
        done = support.run(['curl', '-sS', '-w', '\n%{http_code}', *words], cwd=self.work,
                           env=self.emulator.env, check=check)
        body, _, status = done.stdout.rpartition('\n')
        self.status = int(status or 0)
        return body

    def head(self, *words):
        lines = self.curl('-I', *words).splitlines()
        return {name.lower(): value for name, _, value in (l.partition(': ') for l in lines)}

    def test_head_and_ranges(self):
        told = self.head(self.at('/bkt/a%20b.txt'))
        self.assertEqual((self.status, told['content-length'], told['content-type']),
                         (200, '10', 'text/plain'))
        md5 = base64.b64encode(hashlib.md5(b'0123456789').digest()).decode()
        self.assertIn(f'md5={md5}', told['x-goog-hash'])
        media = '/download/storage/v1/b/bkt/o/a%20b.txt?alt=media'
        for target in ('/bkt/a%20b.txt', media):
            for asked, got in (('2-4', '234'), ('7-', '789'), ('-3', '789'), ('8-99', '89')):
                with self.subTest(target=target, asked=asked):
                    self.assertEqual(self.curl('-r', asked, self.at(target)), got)
                    self.assertEqual(self.status, 206)
            self.curl('-r', '10-12', self.at(target))
            self.assertEqual(self.status, 416)
        self.head(self.at('/bkt/none'))
        self.assertEqual(self.status, 404)
        told = self.head(self.at('/bkt/a%20b.txt'))
        self.curl(self.at('/bkt/a%20b.txt'), '-H', 'If-None-Match: ' + told['etag'])
        self.assertEqual(self.status, 304)

    def test_downloads_are_resumed(self):
        (self.work / 'part').write_text('0123')
        self.curl('-C', '-', '-o', 'part', self.at('/bkt/a%20b.txt'))
        self.assertEqual((self.work / 'part').read_text(), '0123456789')

    def test_gzip_is_unpacked_for_clients_that_do_not_accept_it(self):
        stored = gzip.compress(b'plain text ' * 100)
        (self.work / 'z').write_bytes(stored)
        self.curl('-T', 'z', self.at('/bkt/z'), '-H', 'Content-Encoding: gzip',
                  '-H', 'Content-Type: text/plain')
        self.assertEqual(self.curl(self.at('/bkt/z')), 'plain text ' * 100)
        self.curl('-H', 'Accept-Encoding: gzip', '-o', 'raw', self.at('/bkt/z'))
        self.assertEqual((self.work / 'raw').read_bytes(), stored)
        self.assertEqual(self.curl('--compressed', self.at('/bkt/z')), 'plain text ' * 100)
        told = self.curl('-D', '-', '-o', '/dev/null', self.at('/bkt/z'))
        self.assertIn('x-goog-stored-content-encoding: gzip', told.lower())
        self.assertIn('warning: 214', told.lower())

    def test_expect_and_chunks(self):
        (self.work / 'big').write_bytes(bytes(3_000_000))
        upload = '/upload/storage/v1/b/bkt/o?uploadType=media&name='
        log = self.curl('-v', '--stderr', '-', '-H', 'Expect: 100-continue', '-X', 'POST',
                        '--data-binary', '@big', self.at(upload + 'expect'))
        self.assertIn('HTTP/1.1 100', log)
        self.assertIn('"size":"3000000"', log)
        log = self.curl('-v', '--stderr', '-', '-H', 'Expect: 100-continue', '-X', 'POST',
                        '--data-binary', '@big', self.at(upload.replace('/bkt/', '/none/') + 'x'))
        self.assertEqual(self.status, 404)
        told = json.loads(self.curl('-H', 'Transfer-Encoding: chunked', '-X', 'POST',
                                    '--data-binary', '@big', self.at(upload + 'chunked')))
        self.assertEqual(told['size'], '3000000')

    def test_tls_with_the_authority_of_the_state_directory(self):
        secure = self.emulator.url.replace('http:', 'https:')
        done = support.run(['curl', '-sS', secure + '/bkt/a%20b.txt'], check=False,
                           env=self.emulator.env)
        self.assertEqual(done.returncode, 60)  # an unknown authority
        self.assertEqual(self.curl('--cacert', self.authority, secure + '/bkt/a%20b.txt'),
                         '0123456789')
        told = json.loads(self.curl('--cacert', self.authority,
                                    secure + '/storage/v1/b/bkt/o/a%20b.txt'))
        self.assertTrue(told['mediaLink'].startswith(secure + '/'), told['mediaLink'])
        for name in ('storage.googleapis.com', 'bkt.storage.googleapis.com'):
            there = ['--cacert', self.authority, '--connect-to', f'::127.0.0.1:{self.emulator.port}']
            path = '/a%20b.txt' if name.startswith('bkt') else '/bkt/a%20b.txt'
            with self.subTest(name=name):
                self.assertEqual(self.curl(*there, f'https://{name}{path}'), '0123456789')
                self.assertEqual(self.curl('--cacert', self.authority, '-x', self.emulator.url,
                                           f'https://{name}{path}'), '0123456789')

    def signed(self, method, path, seconds=60, headers=None, age=0):
        """A V4 signed URL, made with openssl and a key that is registered with the emulator."""
        support.need('openssl')
        key = self.work / 'key.pem'
        if not key.exists():
            support.run(['openssl', 'genrsa', '-out', key, '2048'])
            public = support.run(['openssl', 'rsa', '-in', key, '-pubout']).stdout
            self.curl('-X', 'PUT', '--json', json.dumps({'publicKey': public}),
                      self.at(f'/emulator/v1/serviceAccounts/{ACCOUNT}/publicKeys'))
            self.assertEqual(self.status, 200)
        host = self.emulator.url.partition('//')[2]
        headers = {'host': host, **(headers or {})}
        now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age)
        date = now.strftime('%Y%m%dT%H%M%SZ')
        scope = f'{date[:8]}/auto/storage/goog4_request'
        query = urllib.parse.urlencode(sorted({
            'X-Goog-Algorithm': 'GOOG4-RSA-SHA256', 'X-Goog-Credential': f'{ACCOUNT}/{scope}',
            'X-Goog-Date': date, 'X-Goog-Expires': seconds,
            'X-Goog-SignedHeaders': ';'.join(sorted(headers))}.items()),
            quote_via=urllib.parse.quote, safe='~')
        request = '\n'.join([method, path, query, *(f'{n}:{headers[n]}' for n in sorted(headers)),
                             '', ';'.join(sorted(headers)), 'UNSIGNED-PAYLOAD'])
        text = '\n'.join(['GOOG4-RSA-SHA256', date, scope,
                          hashlib.sha256(request.encode()).hexdigest()])
        (self.work / 'text').write_text(text)
        support.run(['openssl', 'dgst', '-sha256', '-sign', key, '-out', self.work / 'signature',
                     self.work / 'text'])
        signature = (self.work / 'signature').read_bytes().hex()
        return self.at(f'{path}?{query}&X-Goog-Signature={signature}')

    def test_signed_urls(self):
        self.assertEqual(self.curl(self.signed('GET', '/bkt/a%20b.txt')), '0123456789')
        url = self.signed('PUT', '/bkt/signed', headers={'content-type': 'text/csv'})
        self.curl('-T', 'digits', '-H', 'Content-Type: text/csv', url)
        self.assertEqual(self.status, 200)
        self.assertEqual(self.curl(self.signed('GET', '/bkt/signed')), '0123456789')
        self.curl('-T', 'digits', '-H', 'Content-Type: text/plain', url)
        self.assertEqual(self.status, 403)
        wrong = self.signed('GET', '/bkt/signed')
        self.curl(wrong.replace('/bkt/signed', '/bkt/a%20b.txt'))
        self.assertEqual(self.status, 403)
        self.curl('-X', 'DELETE', wrong)
        self.assertEqual(self.status, 403)
        self.assertIn('ExpiredToken', self.curl(self.signed('GET', '/bkt/signed', age=120)))
        self.assertEqual(self.status, 400)


if __name__ == '__main__':
    support.main()
