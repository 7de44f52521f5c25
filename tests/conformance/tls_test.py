"""The judge and certificates: which it believes, and what it says of the others."""

import os
import ssl
import subprocess
import tempfile
import unittest

from peers import Peer, judge

CONFIG = '''
[ca]
default_ca = mine
[mine]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
'''
GOOD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'


class Authority:
    """A certificate authority in a folder, by the openssl command."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (('config', CONFIG), ('index', ''), ('serial', '01')):
            with open(os.path.join(folder, name), 'w') as file:
                file.write(text)
        self.self_signed('ca', 'the test authority')

    def openssl(self, *words):
        subprocess.run(['openssl'] + list(words), cwd=self.folder, check=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)

    def self_signed(self, name, subject, *more):
        self.openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', name + '.key', '-out',
                     name + '.pem', '-days', '2', '-subj', '/CN=' + subject, *more)

    def signed(self, name, alternatives, start='20200101000000Z', end='20990101000000Z'):
        self.openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', name + '.key', '-out', name + '.csr',
                     '-subj', '/CN=x', '-addext', 'subjectAltName=' + alternatives)
        self.openssl('ca', '-batch', '-config', 'config', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-in',
                     name + '.csr', '-out', name + '.pem', '-startdate', start, '-enddate', end, '-notext')

    def path(self, name):
        return os.path.join(self.folder, name)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.authority = Authority(cls.temporary.name)
        cls.authority.signed('good', 'DNS:localhost,IP:127.0.0.1')

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def judged(self, certificate, *words, host='localhost'):
        """What the judge says of a server with this certificate, which answers {} to everything."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority.path(certificate + '.pem'), self.authority.path(certificate + '.key'))

        def treat(connection):
            with context.wrap_socket(connection, server_side=True) as secure:
                while secure.recv(65536):
                    secure.sendall(GOOD)
        with Peer(treat) as url:
            return judge('--endpoint', url.replace('http://127.0.0.1', 'https://' + host), '--timeout', '5',
                         '--filter', 'methods/page-size-of-1', *words)

    def refused(self, why, certificate, *words, **more):
        code, out, err = self.judged(certificate, *words, **more)
        self.assertEqual(code, 3, out + err)
        self.assertIn(why, err)

    def believed(self, certificate, *words, **more):
        code, out, err = self.judged(certificate, *words, **more)
        self.assertEqual(code, 0, out + err)
        self.assertIn('1 case against endpoint: 1 passed', out)

    def authorities(self):
        return '--ca-file', self.authority.path('ca.pem')

    def test_a_good_one_is_believed(self):
        self.believed('good', *self.authorities())

    def test_an_address_may_be_certified(self):
        self.believed('good', *self.authorities(), host='127.0.0.1')

    def test_one_that_expired(self):
        self.authority.signed('expired', 'DNS:localhost', end='20200201000000Z')
        self.refused('certificate of localhost is not trusted: certificate has expired', 'expired',
                     *self.authorities())

    def test_one_of_tomorrow(self):
        self.authority.signed('tomorrow', 'DNS:localhost', start='20980101000000Z')
        self.refused('certificate is not yet valid', 'tomorrow', *self.authorities())

    def test_one_for_another_name(self):
        self.authority.signed('other', 'DNS:elsewhere.example.com')
        self.refused('ostname mismatch', 'other', *self.authorities())

    def test_one_for_another_address(self):
        self.authority.signed('address', 'IP:192.0.2.1')
        self.refused('IP address mismatch', 'address', *self.authorities(), host='127.0.0.1')

    def test_one_that_signed_itself(self):
        self.authority.self_signed('alone', 'localhost', '-addext', 'subjectAltName=DNS:localhost')
        self.refused('self-signed certificate', 'alone', *self.authorities())

    def test_one_of_an_authority_that_nobody_knows(self):
        self.refused('unable to get local issuer certificate', 'good')

    def test_insecure_believes_any(self):
        self.authority.signed('old', 'DNS:elsewhere.example.com', end='20200201000000Z')
        self.believed('old', '--insecure')

    def test_authorities_that_are_none(self):
        with open(self.authority.path('none.pem'), 'w') as file:
            file.write('no certificate')
        self.refused('cannot be read', 'good', '--ca-file', self.authority.path('none.pem'))

    def test_tls_where_plain_is_wanted(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority.path('good.pem'), self.authority.path('good.key'))
        with Peer(lambda connection: context.wrap_socket(connection, server_side=True)) as url:
            code, out, err = judge('--endpoint', url, '--timeout', '5')
            self.assertEqual(code, 3, out + err)
            self.assertIn('the answer', err)


if __name__ == '__main__':
    unittest.main()
