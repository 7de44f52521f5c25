"""google-cloud-logging for Python over HTTP and gRPC."""

import json

import support

SCRIPT = '''
import datetime, json, logging, sys
from google.auth.credentials import AnonymousCredentials
from google.cloud import logging as cloud_logging
from google.cloud.logging_v2.resource import Resource

url = sys.argv[1]
client = cloud_logging.Client(project='demo-project', credentials=AnonymousCredentials(), %s)

def is_librarys_own(entry):  # its version, written before the first entry of a process
    return isinstance(entry.payload, dict) and 'logging.googleapis.com/diagnostic' in entry.payload
'''


class GoogleCloudLogging(support.EmulatorTest):
    """The library as its guide uses it."""

    setting = "_use_grpc=False, client_options={'api_endpoint': url}"

    @classmethod
    def setUpClass(cls):
        cls.python = support.virtualenv('google-cloud-logging', 'google-cloud-logging')
        super().setUpClass()

    def run_script(self, body):
        """Runs SCRIPT and `body`; returns the lines of JSON that it prints."""
        done = support.run([self.python, '-c', SCRIPT % self.setting + body, self.emulator.url],
                           env=self.emulator.env)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_entries_of_all_kinds_are_written_and_read_back(self):
        seen = self.run_script("""
logger = client.logger('kinds')
logger.log_text('a text', severity='ERROR', labels={'tier': 'gold'}, insert_id='one',
                timestamp=datetime.datetime(2026, 2, 9, 12, 0, 0, 250000, datetime.timezone.utc))
logger.log_struct({'message': 'a struct', 'n': 42, 'list': [1, 'two'], 'deep': {'er': True}},
                  severity='WARNING', trace='projects/demo-project/traces/abc', span_id='00f067aa0ba902b7',
                  source_location={'file': 'a.py', 'line': 7, 'function': 'f'},
                  http_request={'requestMethod': 'GET', 'status': 404, 'requestUrl': '/x'},
                  resource=Resource(type='generic_task', labels={'job': 'j', 'task_id': 't'}))
logger.log_empty(severity='INFO')
for entry in client.list_entries(filter_='logName="projects/demo-project/logs/kinds" timestamp>="2026-01-01"', order_by=cloud_logging.ASCENDING):
    if is_librarys_own(entry): continue
    print(json.dumps({'kind': type(entry).__name__, 'payload': entry.payload, 'severity': entry.severity,
        'labels': entry.labels, 'resource': entry.resource.type, 'trace': entry.trace, 'span': entry.span_id,
        'source': entry.source_location, 'http': entry.http_request, 'insert_id': entry.insert_id,
        'timestamp': entry.timestamp.isoformat(), 'received': entry.received_timestamp is not None}))
""")
        text, struct, empty = seen
        self.assertEqual(text['kind'], 'TextEntry')
        self.assertEqual((text['payload'], text['severity'], text['labels'], text['insert_id']),
                         ('a text', 'ERROR', {'tier': 'gold'}, 'one'))
        self.assertEqual(text['timestamp'], '2026-02-09T12:00:00.250000+00:00')
        self.assertEqual(text['resource'], 'global')
        self.assertTrue(text['received'])
        self.assertEqual(struct['kind'], 'StructEntry')
        self.assertEqual(struct['payload'], {'message': 'a struct', 'n': 42, 'list': [1, 'two'],
                                             'deep': {'er': True}})
        self.assertEqual(struct['trace'], 'projects/demo-project/traces/abc')
        self.assertEqual(struct['span'], '00f067aa0ba902b7')
        self.assertEqual((struct['source']['file'], int(struct['source']['line'])), ('a.py', 7))
        self.assertEqual((struct['http']['status'], struct['http']['requestUrl']), (404, '/x'))
        self.assertEqual(struct['resource'], 'generic_task')
        self.assertEqual((empty['kind'], empty['payload']), ('LogEntry', None))

    def test_a_listing_of_many_pages_has_each_entry_once_and_in_order(self):
        seen = self.run_script("""
with client.logger('pages').batch() as batch:
    for i in range(250):
        batch.log_struct({'i': i}, severity='ERROR' if i % 10 == 0 else 'INFO')
filter_ = 'log_id("pages")'
for order in (cloud_logging.ASCENDING, cloud_logging.DESCENDING):
    entries = client.list_entries(filter_=filter_, order_by=order, page_size=40)
    print(json.dumps([e.payload['i'] for e in entries]))
print(json.dumps([e.payload['i'] for e in client.list_entries(filter_=filter_ + ' severity>=ERROR', max_results=5)]))
""")
        ascending, descending, errors = seen
        self.assertEqual(sorted(ascending), list(range(250)))
        self.assertEqual(descending, ascending[::-1])
        self.assertEqual(len(errors), 5)
        self.assertTrue(all(i % 10 == 0 for i in errors))

    def test_pythons_logging_goes_through_the_handler(self):
        seen = self.run_script("""
from google.cloud.logging.handlers import CloudLoggingHandler
handler = CloudLoggingHandler(client, name='handler')
log = logging.getLogger('mine'); log.addHandler(handler); log.setLevel(logging.INFO)
log.warning('careful: %d', 7)
log.error('broken', extra={'json_fields': {'code': 13}})
handler.close() if hasattr(handler, 'close') else None
handler.transport.flush() if hasattr(handler.transport, 'flush') else None
for e in client.list_entries(filter_='log_id("handler")'):
    print(json.dumps([e.payload, e.severity, e.labels.get('python_logger')]))
""")
        self.assertEqual(len(seen), 2, seen)
        by_severity = {severity: (payload, logger) for payload, severity, logger in seen}
        self.assertIn('careful: 7', json.dumps(by_severity['WARNING']))
        self.assertEqual(by_severity['ERROR'][0]['code'], 13)
        self.assertEqual(by_severity['ERROR'][1], 'mine')

    def test_the_entries_of_a_job_are_read(self):
        self.emulator.bucket('bkt')
        package = support.write_package(self.emulator.directory / 'code', 'print("from the job")')
        self.emulator.caip('jobs', 'submit', 'training', 'lib_job', '--package-path', package,
                           '--module-name', 'trainer.task', '--staging-bucket', 'gs://bkt',
                           '--region', 'europe-west1', '--runtime-version', '2.11',
                           '--python-version', '3.7', '--project', 'demo-project',
                           '--stream-logs')
        seen = self.run_script("""
for e in client.list_entries(filter_='resource.labels.job_id="lib_job"', order_by=cloud_logging.ASCENDING):
    print(json.dumps([e.payload if isinstance(e.payload, str) else e.payload['message'], e.log_name, e.resource.labels['task_name'], e.insert_id]))
""")
        self.assertIn('from the job', [message for message, *_ in seen])
        self.assertEqual(seen[-1][0], 'Job completed successfully.')
        self.assertEqual(seen[-1][1], 'projects/demo-project/logs/ml.googleapis.com%2Flib_job')
        self.assertEqual([entry[3] for entry in seen], sorted(entry[3] for entry in seen))

    def test_a_log_is_deleted(self):
        seen = self.run_script("""
logger = client.logger('to%2Fdelete')
logger.log_text('x')
print(json.dumps([e.payload for e in logger.list_entries() if not is_librarys_own(e)]))
logger.delete()
print(json.dumps(len(list(logger.list_entries()))))
from google.cloud.exceptions import NotFound
try:
    logger.delete()
except NotFound as error:
    print(json.dumps(str(error)))
""")
        self.assertEqual(seen[:2], [['x'], 0])
        self.assertIn('to/delete', seen[2])

    def test_sinks_and_metrics_are_kept(self):
        seen = self.run_script("""
sink = client.sink('errors', filter_='severity>=ERROR', destination='storage.googleapis.com/bkt')
print(json.dumps(sink.exists())); sink.create(); print(json.dumps(sink.exists()))
sink.filter_ = 'severity>=CRITICAL'; sink.update(); sink.reload(); print(json.dumps(sink.filter_))
print(json.dumps([s.name for s in client.list_sinks()]))
sink.delete(); print(json.dumps([s.name for s in client.list_sinks()]))
metric = client.metric('m', filter_='textPayload:x', description='d')
metric.create(); print(json.dumps([(m.name, m.filter_, m.description) for m in client.list_metrics()]))
metric.delete(); print(json.dumps(metric.exists()))
""")
        self.assertEqual(seen, [False, True, 'severity>=CRITICAL', ['errors'], [],
                                [['m', 'textPayload:x', 'd']], False])

    def test_an_invalid_filter_is_a_bad_request_with_the_position(self):
        seen = self.run_script("""
from google.cloud.exceptions import BadRequest
try:
    list(client.list_entries(filter_='severity="ERROR'))
except BadRequest as error:
    print(json.dumps(str(error)))
""")
        self.assertIn('Unparseable filter', seen[0])
        self.assertIn('column', seen[0])


class GoogleCloudLoggingOverGrpc(GoogleCloudLogging):
    """The same with the library's default transport, and the variables of `caip env` alone."""

    setting = '_use_grpc=None'

    def test_entries_are_tailed(self):
        seen = self.run_script("""
import threading
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.types import TailLogEntriesRequest

tailing = LoggingServiceV2Client(credentials=AnonymousCredentials())
asked = TailLogEntriesRequest(resource_names=['projects/demo-project'], filter='log_id("tail")')
asked.buffer_window = datetime.timedelta(0)
ended = threading.Event()
def write():
    while not ended.wait(0.2):
        client.logger('tail').log_text('news')
threading.Thread(target=write, daemon=True).start()  # the library waits for the first answer
answers = tailing.tail_log_entries(requests=iter([asked]), timeout=60)
entries = (entry for answer in answers for entry in answer.entries)
print(json.dumps(next(entry.text_payload for entry in entries if not entry.json_payload)))
ended.set()
answers.cancel()
""")
        self.assertEqual(seen, ['news'])
        log = self.emulator.state / 'access.log'
        support.wait_for(lambda: 'entries:tail' in log.read_text(), 'the tail to end with its client')


if __name__ == '__main__':
    support.main()
