"""gcloud logging: read, write, logs, sinks, metrics, buckets."""

import json
import signal
import subprocess
import threading
import urllib.request

import support


class GcloudLogging(support.EmulatorTest):
    """The commands, unmodified."""

    @classmethod
    def setUpClass(cls):
        support.need('gcloud')
        super().setUpClass()

    def gcloud(self, *words, check=True):
        return support.run(['gcloud', 'logging', *words], env=self.emulator.env, check=check)

    def read(self, *words):
        return json.loads(self.gcloud('read', *words, '--format', 'json').stdout)

    def test_written_entries_are_read_back(self):
        self.gcloud('write', 'my/log', 'a text', '--severity', 'ERROR')
        self.gcloud('write', 'my/log', '{"message": "a struct", "n": 42}', '--payload-type', 'json',
                    '--severity', 'WARNING')
        struct, text = self.read('logName="projects/demo-project/logs/my%2Flog"')
        self.assertEqual((text['textPayload'], text['severity'], text['resource']['type']),
                         ('a text', 'ERROR', 'global'))
        self.assertEqual((struct['jsonPayload'], struct['severity']),
                         ({'message': 'a struct', 'n': 42}, 'WARNING'))
        self.assertEqual(text['logName'], 'projects/demo-project/logs/my%2Flog')
        only = self.read('log_id("my/log") severity>=ERROR', '--limit', '5', '--order', 'asc')
        self.assertEqual([entry['textPayload'] for entry in only], ['a text'])

    def test_logs_are_listed_and_deleted(self):
        self.gcloud('write', 'goes', 'x')
        self.gcloud('write', 'stays', 'x')
        names = self.gcloud('logs', 'list', '--format', 'value(NAME)').stdout.split()
        self.assertIn('projects/demo-project/logs/goes', names)
        self.gcloud('logs', 'delete', 'goes', '--quiet')
        names = self.gcloud('logs', 'list', '--format', 'value(NAME)').stdout.split()
        self.assertNotIn('projects/demo-project/logs/goes', names)
        self.assertIn('projects/demo-project/logs/stays', names)
        self.assertEqual(self.read('log_id(goes)'), [])
        self.assertNotEqual(self.gcloud('logs', 'delete', 'goes', '--quiet', check=False).returncode,
                            0)

    def write(self, text):
        """Writes an entry by a plain request, which is faster than the command."""
        entries = {'logName': 'projects/demo-project/logs/tail', 'resource': {'type': 'global'},
                   'entries': [{'textPayload': text}]}
        request = urllib.request.Request(f'{self.emulator.url}/v2/entries:write', json.dumps(entries).encode(),
                                         {'Content-Type': 'application/json'})
        urllib.request.urlopen(request).close()

    def test_new_entries_are_tailed(self):
        """Over gRPC with TLS, for which gcloud wants a token and the certificate authority."""
        token = self.emulator.directory / 'token'
        token.write_text('any')
        env = {**self.emulator.env, 'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE': str(token), 'PYTHONUNBUFFERED': '1',
               'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE': self.emulator.env['GRPC_DEFAULT_SSL_ROOTS_FILE_PATH']}
        del env['CLOUDSDK_AUTH_DISABLE_CREDENTIALS']
        words = ['gcloud', 'beta', 'logging', 'tail', 'log_id("tail")', '--format', 'value(text_payload)']
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tail:
            limit = threading.Timer(120, tail.kill)
            limit.start()
            seen = threading.Event()

            def write_until_seen():
                while not seen.wait(0.5):
                    self.write('news')
            writer = threading.Thread(target=write_until_seen)
            writer.start()
            line = tail.stdout.readline()
            seen.set()
            writer.join()
            limit.cancel()
            tail.send_signal(signal.SIGINT)
            errors = tail.communicate()[1]
        self.assertEqual(line, 'news\n', errors)

    def test_an_invalid_filter_is_refused_with_the_position(self):
        done = self.gcloud('read', 'severity="ERROR', check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('INVALID_ARGUMENT', done.stderr)
        self.assertIn('column', done.stderr)

    def test_sinks_and_metrics_are_kept(self):
        self.gcloud('sinks', 'create', 's', 'storage.googleapis.com/bkt', '--log-filter',
                    'severity>=ERROR')
        self.gcloud('sinks', 'update', 's', '--log-filter', 'severity>=ALERT')
        sinks = json.loads(self.gcloud('sinks', 'list', '--format', 'json').stdout)
        self.assertEqual([(sink['name'], sink['filter'], sink['destination']) for sink in sinks],
                         [('s', 'severity>=ALERT', 'storage.googleapis.com/bkt')])
        self.gcloud('sinks', 'delete', 's', '--quiet')
        self.gcloud('metrics', 'create', 'm', '--description', 'd', '--log-filter', 'textPayload:x')
        metric = json.loads(self.gcloud('metrics', 'describe', 'm', '--format', 'json').stdout)
        self.assertEqual((metric['filter'], metric['description']), ('textPayload:x', 'd'))
        self.gcloud('metrics', 'delete', 'm', '--quiet')
        self.assertEqual(json.loads(self.gcloud('metrics', 'list', '--format', 'json').stdout), [])

    def test_every_project_has_the_default_buckets_and_views(self):
        buckets = json.loads(self.gcloud('buckets', 'list', '--format', 'json').stdout)
        self.assertEqual([bucket['name'].rsplit('/', 1)[1] for bucket in buckets],
                         ['_Default', '_Required'])
        views = json.loads(self.gcloud('views', 'list', '--bucket', '_Default', '--location',
                                       'global', '--format', 'json').stdout)
        self.assertEqual([view['name'].rsplit('/', 1)[1] for view in views],
                         ['_AllLogs', '_Default'])
        self.gcloud('write', 'viewed', 'through a view')
        entries = self.read('log_id(viewed)', '--bucket', '_Default', '--location', 'global',
                            '--view', '_AllLogs')
        self.assertEqual([entry['textPayload'] for entry in entries], ['through a view'])
        types = self.gcloud('resource-descriptors', 'list', '--format', 'value(type)').stdout
        self.assertIn('ml_job', types.split())


if __name__ == '__main__':
    support.main()
