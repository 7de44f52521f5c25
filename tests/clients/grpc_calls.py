"""gRPC for Python (grpcio) at the emulator's own address: plain and TLS, and calls that no library would make."""

import asyncio
import os
import socket
import ssl
from unittest import mock

import support
import toolchains
import vertex_jobs

if __name__ == '__main__':
    toolchains.inside(aiplatform_current=['google-cloud-aiplatform'])
    # pylint: disable=wrong-import-position
    import grpc
    from google.api_core import exceptions
    from google.api_core.client_options import ClientOptions
    from google.auth.credentials import AnonymousCredentials
    from google.cloud.aiplatform_v1.services.job_service import JobServiceClient
    from google.cloud.aiplatform_v1.services.job_service.transports import JobServiceGrpcTransport
    from google.cloud.aiplatform_v1.types import GetCustomJobRequest
    from google.cloud.aiplatform_v1beta1.services import job_service as beta
    from google.cloud.aiplatform_v1beta1.services.job_service.transports import (
        JobServiceGrpcTransport as BetaGrpcTransport)
    from google.cloud.storage.asyncio.async_grpc_client import AsyncGrpcClient
    from google.rpc import error_details_pb2

GET = '/google.cloud.aiplatform.v1.JobService/GetCustomJob'


class GrpcCalls(vertex_jobs.VertexTest):
    """The port of the emulator."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        patch = mock.patch.dict(os.environ, cls.emulator.variables)
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.address = f'localhost:{cls.emulator.port}'

    def channel(self, address='', **options):
        """A channel without TLS."""
        channel = grpc.insecure_channel(address or self.address, options=list(options.items()))
        self.addCleanup(channel.close)
        return channel

    def job(self, name='x', **fields):
        """A custom job of one container."""
        pool = {'machine_spec': {'machine_type': 'n1-standard-4'}, 'replica_count': 1,
                'container_spec': {'image_uri': vertex_jobs.IMAGE}, **fields}
        return {'display_name': name, 'job_spec': {'worker_pool_specs': [pool]}}

    def life(self, client):
        """Creates a job, and follows it to its deletion."""
        parent = 'projects/demo-project/locations/us-central1'
        job = client.create_custom_job(parent=parent, custom_job=self.job())
        self.assertRegex(job.name, rf'^projects/{vertex_jobs.NUMBER}/locations/us-central1/customJobs/\d+$')
        support.wait_for(lambda: client.get_custom_job(name=job.name).end_time, 'the job to end')
        self.assertEqual(client.get_custom_job(name=job.name).state.name, 'JOB_STATE_SUCCEEDED')
        self.assertIn(job.name, [one.name for one in client.list_custom_jobs(parent=parent)])
        operation = client.delete_custom_job(name=job.name)
        self.assertIsNotNone(operation.metadata.generic_metadata.create_time)
        operation.result()
        found = client.transport.operations_client.get_operation(operation.operation.name)
        self.assertTrue(found.done)
        with self.assertRaisesRegex(exceptions.NotFound, 'The CustomJob does not exist.'):
            client.get_custom_job(name=job.name)

    def test_a_job_without_tls(self):
        self.life(JobServiceClient(transport=JobServiceGrpcTransport(channel=self.channel())))

    def test_a_job_without_tls_through_the_proxy(self):
        channel = self.channel('us-central1-aiplatform.googleapis.com:443')
        self.life(JobServiceClient(transport=JobServiceGrpcTransport(channel=channel)))

    def test_cloud_storage_without_tls_is_refused_at_once(self):
        """Not as a connection that fails, which clients of storage try again and again."""
        path = '/google.storage.v2.Storage/GetObject'
        for name in ('storage.googleapis.com', 'storage.googleapis.com:443', 'storage.googleapis.com:80'):
            with self.subTest(name):
                self.refused(grpc.StatusCode.UNIMPLEMENTED, f"'{path}' is not a method",
                             self.channel(name).unary_unary(path))

    def test_a_job_with_tls_at_the_own_address(self):
        self.life(JobServiceClient(credentials=AnonymousCredentials(), client_options={'api_endpoint': self.address}))

    def test_a_job_of_the_beta_version(self):
        client = beta.JobServiceClient(transport=BetaGrpcTransport(channel=self.channel()))
        self.life(client)
        job = self.job(machine_spec={'machine_type': 'n1-standard-4', 'min_gpu_driver_version': '550'})
        with self.assertRaisesRegex(exceptions.MethodNotImplemented,
                                    r'worker_pool_specs\[0\].machine_spec.min_gpu_driver_version: '):
            client.create_custom_job(parent='projects/demo-project/locations/us-central1', custom_job=job)

    def test_a_job_of_the_beta_version_over_rest(self):
        self.life(beta.JobServiceClient(transport='rest', credentials=AnonymousCredentials(),
                                        client_options={'api_endpoint': self.emulator.url}))

    def test_errors_have_the_details_of_rest(self):
        client = JobServiceClient(transport=JobServiceGrpcTransport(channel=self.channel()))
        with self.assertRaises(exceptions.InvalidArgument) as refused:
            client.create_custom_job(parent='projects/demo-project/locations/us-central1',
                                     custom_job=self.job(replica_count=3))
        self.assertIn('List of found errors:\t1.Field: job_spec.worker_pool_specs[0].replica_count',
                      refused.exception.message)
        detail, = refused.exception.details
        self.assertIsInstance(detail, error_details_pb2.BadRequest)
        self.assertEqual(detail.field_violations[0].field, 'job_spec.worker_pool_specs[0].replica_count')

    def refused(self, code, text, call, message=b'', **how):
        """Calls, and checks the status."""
        with self.assertRaises(grpc.RpcError) as refused:
            call(message, timeout=60, **how)
        self.assertEqual(refused.exception.code(), code, refused.exception.details())
        self.assertIn(text, refused.exception.details())

    def test_unknown_methods_and_services(self):
        for path in ('/a.B/C', '/google.storage.v2.Storage/GetObject', GET + 's',
                     '/google.cloud.aiplatform.v1beta1.ModelService/GetModel'):
            with self.subTest(path):
                self.refused(grpc.StatusCode.UNIMPLEMENTED, f"'{path}' is not a method",
                             self.channel().unary_unary(path))
        name = 'projects/demo-project/locations/us-central1/batchPredictionJobs/1'
        path = '/google.cloud.aiplatform.v1.JobService/GetBatchPredictionJob'
        request = GetCustomJobRequest.serialize(GetCustomJobRequest(name=name))
        self.refused(grpc.StatusCode.UNIMPLEMENTED, 'batchPredictionJobs', self.channel().unary_unary(path), request)

    def test_cloud_storage_is_refused_at_once(self):
        """By the client of Google's storage library that has no other transport."""
        async def refused():
            client = AsyncGrpcClient(credentials=AnonymousCredentials(),
                                     client_options=ClientOptions(api_endpoint=self.address))
            with self.assertRaisesRegex(exceptions.MethodNotImplemented, 'Call the REST API of the service instead.'):
                await client.grpc_client.get_bucket(name='projects/_/buckets/b')
            with self.assertRaisesRegex(exceptions.MethodNotImplemented, 'Storage/ListObjects'):
                await client.grpc_client.list_objects(parent='projects/_/buckets/b')
        asyncio.run(refused())
        log = (self.emulator.state / 'access.log').read_text()
        for method in ('GetBucket', 'ListObjects'):  # and no call was repeated
            self.assertEqual(log.count(f'POST /google.storage.v2.Storage/{method} 501'), 1)

    def test_a_wrong_authority(self):
        channel = self.channel(**{'grpc.default_authority': 'evil.example'})
        self.refused(grpc.StatusCode.PERMISSION_DENIED, "'evil.example' is not served here", channel.unary_unary(GET))

    def test_messages_that_are_compressed_large_or_no_messages(self):
        name = 'projects/demo-project/locations/us-central1/customJobs/1'
        request = GetCustomJobRequest.serialize(GetCustomJobRequest(name=name))
        get = self.channel().unary_unary(GET)
        for compression in (grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate):
            self.refused(grpc.StatusCode.NOT_FOUND, 'does not exist', get, request, compression=compression)
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, '4194304', get, bytes(5 << 20))
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, '4194304', get, bytes(5 << 20),
                     compression=grpc.Compression.Gzip)
        self.refused(grpc.StatusCode.INTERNAL, 'not a valid google.cloud.aiplatform.v1.GetCustomJobRequest', get,
                     b'\xff\xff')
        self.refused(grpc.StatusCode.UNIMPLEMENTED, 'several', self.channel().stream_unary(GET),
                     iter([request, request]))
        self.refused(grpc.StatusCode.UNIMPLEMENTED, 'no message', self.channel().stream_unary(GET), iter([]))

    def test_entries_with_payloads_of_known_and_unknown_types(self):
        payloads = [{'@type': 'type.googleapis.com/google.cloud.audit.AuditLog', 'methodName': 'a.method'},
                    {'@type': 'type.googleapis.com/a.b.Unknown', 'a': 1}]
        self.call('v2/entries:write', {
            'logName': 'projects/demo-project/logs/audited', 'resource': {'type': 'global'},
            'entries': [{'insertId': f'entry-{at}', 'protoPayload': payload} for at, payload in enumerate(payloads)]})
        names, log = b'\x42\x15projects/demo-project', b'log_id("audited")'
        listed = self.channel().unary_unary('/google.logging.v2.LoggingServiceV2/ListLogEntries')(
            names + bytes([0x12, len(log)]) + log, timeout=60)
        for text in (b'entry-0', b'google.cloud.audit.AuditLog', b'a.method', b'entry-1'):
            self.assertIn(text, listed)
        self.assertNotIn(b'a.b.Unknown', listed)

    def agreed(self, *protocols):
        """The protocol of a TLS connection with a client that offers these."""
        context = ssl.create_default_context(cafile=self.emulator.variables['GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'])
        context.set_alpn_protocols(protocols)
        with socket.create_connection(('127.0.0.1', self.emulator.port)) as plain:
            with context.wrap_socket(plain, server_hostname='localhost') as secure:
                return secure.selected_alpn_protocol()

    def test_only_clients_that_speak_nothing_else_get_http2(self):
        self.assertEqual(self.agreed('h2', 'http/1.1'), 'http/1.1')
        self.assertEqual(self.agreed('h2'), 'h2')
        with self.assertRaisesRegex(ssl.SSLError, '(?i)no.application.protocol'):
            self.agreed('h3')

    def test_a_deadline_ends_a_call_and_the_work_for_it(self):
        channel = self.channel()
        grpc.channel_ready_future(channel).result(timeout=60)  # else the time may pass before the call is sent
        tail = channel.stream_stream('/google.logging.v2.LoggingServiceV2/TailLogEntries')
        request = b'\x0a\x15projects/demo-project'  # resource_names
        with self.assertRaises(grpc.RpcError) as ended:
            list(tail(iter([request]), timeout=2))
        self.assertEqual(ended.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        log = self.emulator.state / 'access.log'
        support.wait_for(lambda: 'entries:tail' in log.read_text(), 'the work to end')


if __name__ == '__main__':
    support.main()
