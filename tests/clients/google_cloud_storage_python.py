"""google-cloud-storage for Python, current and 1.x, with STORAGE_EMULATOR_HOST only."""

import base64
import datetime
import gzip
import hashlib
import io
import os
import random
import tempfile
import unittest
import urllib.request
from pathlib import Path
from unittest import mock

import support
import toolchains

if __name__ == '__main__':
    toolchains.inside(google_cloud_storage_current=['google-cloud-storage>=3,<4', 'cryptography'],
                      google_cloud_storage_1=['google-cloud-storage==1.44.0', 'cryptography'])
    # pylint: disable=wrong-import-position
    from google.api_core import exceptions
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

MIB = 1 << 20


def need(thing, what):
    """Skips if this release of the library does not have it."""
    if thing is None:
        raise unittest.SkipTest(f'google-cloud-storage {storage.__version__} has no {what}')
    return thing


def some_bytes(size, seed=1):
    """The same bytes for the same seed."""
    return random.Random(seed).randbytes(size)


class StorageTest(support.EmulatorTest):
    """A client that is configured by the variables, and a bucket for each test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        patch = mock.patch.dict(os.environ, cls.emulator.variables)
        patch.start()
        cls.addClassCleanup(patch.stop)
        # Releases before 2.0 look for credentials although an emulator is set.
        old = storage.__version__.startswith('1.')
        cls.client = storage.Client(**({'credentials': AnonymousCredentials()} if old else {}))

    def setUp(self):
        name = self.id().rsplit('.', 1)[1].replace('test_', '')[:40]
        self.bucket = self.client.create_bucket(f'b-{name}-{random.randrange(10**6)}'.lower())

    def put(self, name, data=b'x', **how):
        """An uploaded blob."""
        blob = self.bucket.blob(name)
        blob.upload_from_string(data, **how)
        return blob


class Uploads(StorageTest):
    """Every kind of upload returns the same bytes."""

    def test_a_string_has_type_and_checksums(self):
        blob = self.put('a/b c+d#e?f%g/ü.txt', 'grüße', content_type='text/plain; charset=utf-8')
        data = 'grüße'.encode()
        self.assertEqual(blob.size, len(data))
        self.assertEqual(base64.b64decode(blob.md5_hash), hashlib.md5(data).digest())
        again = self.bucket.get_blob(blob.name)
        self.assertEqual(again.content_type, 'text/plain; charset=utf-8')
        self.assertEqual(again.crc32c, blob.crc32c)
        self.assertEqual(again.download_as_bytes(checksum='crc32c'), data)
        self.assertEqual(again.download_as_text(), 'grüße')

    def test_an_empty_object(self):
        blob = self.put('empty', b'')
        self.assertEqual(blob.size, 0)
        self.assertEqual(self.bucket.blob('empty').download_as_bytes(), b'')

    def test_a_file_by_name(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory, 'model.json')
            source.write_bytes(some_bytes(100_000))
            blob = self.bucket.blob('model.json')
            blob.upload_from_filename(str(source), checksum='md5')
            self.assertEqual(blob.content_type, 'application/json')
            target = Path(directory, 'copy')
            blob.download_to_filename(str(target))
            self.assertEqual(target.read_bytes(), source.read_bytes())
            self.assertEqual(int(target.stat().st_mtime), int(blob.updated.timestamp()))

    def test_chunks_of_a_resumable_upload(self):
        data = some_bytes(3 * MIB + 17)
        blob = self.bucket.blob('chunks', chunk_size=512 * 1024)
        blob.upload_from_file(io.BytesIO(data), checksum='crc32c')
        self.assertEqual(blob.size, len(data))
        self.assertEqual(base64.b64decode(blob.md5_hash), hashlib.md5(data).digest())
        self.assertEqual(self.bucket.blob('chunks', chunk_size=256 * 1024).download_as_bytes(), data)

    def test_chunks_that_end_on_a_boundary_and_unknown_sizes(self):
        for size in (512 * 1024, 512 * 1024 - 1, 512 * 1024 + 1, 0):
            with self.subTest(size=size):
                data = some_bytes(size, size)
                blob = self.bucket.blob(f'border-{size}', chunk_size=256 * 1024)
                blob.upload_from_file(io.BytesIO(data))
                self.assertEqual(self.bucket.blob(blob.name).download_as_bytes(), data)

    def test_a_session_url_is_used_by_anyone(self):
        blob = self.bucket.blob('session')
        url = blob.create_resumable_upload_session(content_type='text/csv', size=3)
        request = urllib.request.Request(url, data=b'1,2', method='PUT')
        with urllib.request.urlopen(request) as response:
            self.assertEqual(response.status, 200)
        blob.reload()
        self.assertEqual((blob.content_type, blob.size), ('text/csv', 3))

    def test_streams_are_written_and_read_as_files(self):
        data = some_bytes(2 * MIB + 5)
        blob = self.bucket.blob('stream')
        with blob.open('wb', chunk_size=256 * 1024) as out:
            for start in range(0, len(data), 70_001):
                out.write(data[start:start + 70_001])
        with self.bucket.blob('stream').open('rb', chunk_size=300_000) as source:
            self.assertEqual(source.read(10), data[:10])
            source.seek(-7, 2)
            self.assertEqual(source.read(), data[-7:])
            source.seek(1_000_000)
            self.assertEqual(source.read(600_000), data[1_000_000:1_600_000])
        with self.bucket.blob('lines').open('w') as out:
            out.write('one\ntwo\n')
        with self.bucket.blob('lines').open('r') as source:
            self.assertEqual(list(source), ['one\n', 'two\n'])

    def test_a_wrong_md5_is_refused_and_stores_nothing(self):
        blob = self.bucket.blob('wrong')
        blob.md5_hash = base64.b64encode(hashlib.md5(b'other').digest()).decode()
        with self.assertRaises(exceptions.BadRequest):
            blob.upload_from_string(b'data')
        self.assertFalse(self.bucket.blob('wrong').exists())

    def test_an_object_stored_compressed_comes_out_plain_or_as_stored(self):
        plain = b'some text ' * 1000
        blob = self.bucket.blob('text.gz')
        blob.content_encoding = 'gzip'
        stored = gzip.compress(plain)
        blob.upload_from_string(stored, content_type='text/plain')
        self.assertEqual(blob.size, len(stored))
        self.assertEqual(self.bucket.blob('text.gz').download_as_bytes(), plain)
        self.assertEqual(self.bucket.blob('text.gz').download_as_bytes(raw_download=True), stored)

    def test_a_missing_bucket(self):
        with self.assertRaises(exceptions.NotFound):
            self.client.bucket('no-such-bucket').blob('a').upload_from_string(b'x')
        with self.assertRaises(exceptions.NotFound):
            blob = self.client.bucket('no-such-bucket').blob('a', chunk_size=256 * 1024)
            blob.upload_from_file(io.BytesIO(b'x'))

    def test_ranges(self):
        self.put('digits', b'0123456789')
        blob = self.bucket.blob('digits')
        self.assertEqual(blob.download_as_bytes(start=2, end=4), b'234')
        self.assertEqual(blob.download_as_bytes(start=7), b'789')
        self.assertEqual(blob.download_as_bytes(start=8, end=100), b'89')
        with self.assertRaises(exceptions.RequestRangeNotSatisfiable):
            blob.download_as_bytes(start=10, end=12)


class Lists(StorageTest):
    """list_blobs with all its filters."""

    NAMES = ('a.txt', 'b/1.csv', 'b/2.csv', 'b/c/3.csv', 'b/c/4.txt', 'd/', 'e')

    def setUp(self):
        super().setUp()
        for name in self.NAMES:
            self.put(name)

    def names(self, **how):
        """Names of blobs, then prefixes."""
        blobs = self.bucket.list_blobs(**how)
        return [blob.name for blob in blobs], sorted(blobs.prefixes)

    def test_all_in_order_and_by_pages(self):
        self.assertEqual(self.names()[0], sorted(self.NAMES))
        pages = list(self.client.list_blobs(self.bucket, page_size=3).pages)
        self.assertEqual([page.num_items for page in pages], [3, 3, 1])
        self.assertEqual(self.names(max_results=2)[0], ['a.txt', 'b/1.csv'])

    def test_prefix_and_delimiter(self):
        self.assertEqual(self.names(delimiter='/'), (['a.txt', 'e'], ['b/', 'd/']))
        self.assertEqual(self.names(prefix='b/', delimiter='/'),
                         (['b/1.csv', 'b/2.csv'], ['b/c/']))
        self.assertEqual(self.names(delimiter='/', include_trailing_delimiter=True)[0],
                         ['a.txt', 'd/', 'e'])
        self.assertEqual(self.names(prefix='nothing'), ([], []))

    def test_offsets(self):
        self.assertEqual(self.names(start_offset='b/2.csv', end_offset='d/')[0],
                         ['b/2.csv', 'b/c/3.csv', 'b/c/4.txt'])

    def test_globs(self):
        if storage.__version__.startswith('1.'):
            need(None, 'match_glob')
        self.assertEqual(self.names(match_glob='**.csv')[0], ['b/1.csv', 'b/2.csv', 'b/c/3.csv'])
        self.assertEqual(self.names(match_glob='b/*.csv')[0], ['b/1.csv', 'b/2.csv'])
        self.assertEqual(self.names(match_glob='{a,b/c/4}.txt')[0], ['a.txt', 'b/c/4.txt'])

    def test_chosen_fields_only(self):
        blobs = list(self.bucket.list_blobs(prefix='a', fields='items(name),nextPageToken'))
        self.assertEqual([blob.name for blob in blobs], ['a.txt'])


class Changes(StorageTest):
    """Copies, composition, metadata, generations."""

    def test_compose_and_append(self):
        parts = [self.put(f'part{i}', f'{i}'.encode() * 10) for i in range(3)]
        whole = self.bucket.blob('whole')
        whole.content_type = 'text/plain'
        whole.compose(parts)
        self.assertEqual(whole.download_as_bytes(), b'0' * 10 + b'1' * 10 + b'2' * 10)
        self.assertEqual(whole.component_count, 3)
        self.assertIsNone(whole.md5_hash)
        whole.compose([whole, parts[0]], if_generation_match=whole.generation)
        self.assertEqual(whole.component_count, 4)
        self.assertEqual(whole.size, 40)
        with self.assertRaises(exceptions.PreconditionFailed):
            whole.compose([parts[0]], if_generation_match=1)

    def test_rewrite_over_buckets_keeps_or_replaces_metadata(self):
        blob = self.bucket.blob('source')
        blob.metadata = {'k': 'v'}
        blob.upload_from_string(some_bytes(2 * MIB), content_type='text/csv')
        other = self.client.create_bucket(self.bucket.name + '-other')
        target, token, rounds = other.blob('target'), None, 0
        while token is not None or rounds == 0:
            token, written, total = target.rewrite(blob, token=token)
            rounds += 1
        self.assertEqual((written, total), (blob.size, blob.size))
        target.reload()
        self.assertEqual((target.metadata, target.content_type), ({'k': 'v'}, 'text/csv'))
        self.assertEqual(target.md5_hash, blob.md5_hash)
        self.assertEqual(target.download_as_bytes(), some_bytes(2 * MIB))

    def test_copy_rename_and_storage_class(self):
        blob = self.put('one', b'1')
        copy = self.bucket.copy_blob(blob, self.bucket, 'two')
        self.assertEqual(copy.download_as_bytes(), b'1')
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.copy_blob(blob, self.bucket, 'two', if_generation_match=0)
        self.bucket.rename_blob(blob, 'three/ü')
        self.assertEqual([b.name for b in self.bucket.list_blobs()], ['three/ü', 'two'])
        copy.update_storage_class('NEARLINE')
        self.assertEqual(self.bucket.get_blob('two').storage_class, 'NEARLINE')
        self.assertEqual(self.bucket.get_blob('two').download_as_bytes(), b'1')

    def test_metadata_is_patched_and_removed(self):
        blob = self.put('meta')
        self.assertEqual(blob.metageneration, 1)
        blob.metadata = {'a': '1', 'ü': 'ö'}
        blob.cache_control, blob.content_language = 'no-cache', 'de'
        blob.content_disposition = 'attachment; filename="x"'
        blob.custom_time = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
        blob.patch()
        again = self.bucket.get_blob('meta')
        self.assertEqual(again.metadata, {'a': '1', 'ü': 'ö'})
        self.assertEqual((again.cache_control, again.content_language), ('no-cache', 'de'))
        self.assertEqual(again.content_disposition, 'attachment; filename="x"')
        self.assertEqual(again.custom_time, blob.custom_time)
        self.assertEqual((again.generation, again.metageneration), (blob.generation, 2))
        again.metadata = {'a': None, 'b': '2'}
        again.patch(if_metageneration_match=2)
        self.assertEqual(self.bucket.get_blob('meta').metadata, {'ü': 'ö', 'b': '2'})
        with self.assertRaises(exceptions.PreconditionFailed):
            again.patch(if_metageneration_match=2)
        again.content_type = 'text/plain'
        again.update()
        self.assertEqual(self.bucket.get_blob('meta').content_type, 'text/plain')

    def test_preconditions(self):
        blob = self.put('once', b'1', if_generation_match=0)
        for how in ({'if_generation_match': 0}, {'if_generation_match': blob.generation + 1},
                    {'if_generation_not_match': blob.generation},
                    {'if_metageneration_match': 9}):
            with self.subTest(how=how), self.assertRaises(exceptions.PreconditionFailed):
                self.put('once', b'2', **how)
        first = blob.generation
        self.put('once', b'3', if_generation_match=first)
        with self.assertRaises(exceptions.NotFound):
            self.bucket.blob('once', generation=first).download_as_bytes()
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.blob('once').download_as_bytes(if_generation_match=first)
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.blob('once').delete(if_generation_match=first)
        self.assertEqual(self.bucket.blob('once').download_as_bytes(), b'3')

    def test_versions_are_kept_listed_read_and_deleted(self):
        self.bucket.versioning_enabled = True
        self.bucket.patch()
        self.assertTrue(self.client.get_bucket(self.bucket.name).versioning_enabled)
        generations = []
        for text in (b'1', b'2', b'3'):
            generations.append(self.put('v', text).generation)
        self.bucket.blob('v').delete()
        self.assertIsNone(self.bucket.get_blob('v'))
        listed = list(self.bucket.list_blobs(versions=True))
        self.assertEqual([blob.generation for blob in listed], generations)
        self.assertIsNotNone(listed[0].time_deleted)
        old = self.bucket.blob('v', generation=generations[1])
        self.assertEqual(old.download_as_bytes(), b'2')
        self.bucket.copy_blob(old, self.bucket, 'v', source_generation=generations[1])
        self.assertEqual(self.bucket.blob('v').download_as_bytes(), b'2')
        self.bucket.delete_blob('v', generation=generations[0])
        self.assertEqual(len(list(self.bucket.list_blobs(versions=True))), 3)

    def test_batches_answer_each_part(self):
        blobs = [self.put(f'batch/{i} ü') for i in range(7)]
        with self.client.batch():
            for blob in blobs:
                blob.metadata = {'n': blob.name}
                blob.patch()
        self.assertEqual(self.bucket.get_blob('batch/3 ü').metadata, {'n': 'batch/3 ü'})
        self.bucket.delete_blobs(blobs[:2])
        with self.assertRaises(exceptions.NotFound):
            with self.client.batch():
                for blob in blobs[1:]:
                    blob.delete()
        self.assertEqual(list(self.bucket.list_blobs()), [])


class Buckets(StorageTest):
    """Buckets and their settings."""

    def test_are_made_found_listed_and_deleted(self):
        name = self.bucket.name
        self.assertTrue(self.client.bucket(name).exists())
        self.assertFalse(self.client.bucket(name + 'x').exists())
        self.assertIsNone(self.client.lookup_bucket(name + 'x'))
        self.assertIn(name, [bucket.name for bucket in self.client.list_buckets(prefix='b-')])
        with self.assertRaises(exceptions.Conflict):
            self.client.create_bucket(name)
        self.put('a')
        with self.assertRaises(exceptions.Conflict):
            self.bucket.delete()
        self.bucket.delete(force=True)
        self.assertFalse(self.bucket.exists())
        with self.assertRaises(exceptions.BadRequest):
            self.client.create_bucket('Capital-Letters_and' + 'x' * 60)

    def test_keep_their_settings(self):
        bucket = self.client.bucket(self.bucket.name + '-set')
        bucket.storage_class = 'NEARLINE'
        bucket.labels = {'team': 'a', 'stage': 'test'}
        bucket.create(location='europe-west1')
        bucket = self.client.get_bucket(bucket.name)
        self.assertEqual((bucket.location, bucket.storage_class), ('EUROPE-WEST1', 'NEARLINE'))
        self.assertEqual(bucket.labels, {'team': 'a', 'stage': 'test'})
        bucket.labels = {'team': 'b'}
        bucket.update()
        bucket.cors = [{'origin': ['*'], 'method': ['GET'], 'maxAgeSeconds': 60}]
        bucket.add_lifecycle_delete_rule(age=30)
        bucket.patch()
        bucket = self.client.get_bucket(bucket.name)
        self.assertEqual(bucket.labels, {'team': 'b'})
        self.assertEqual(bucket.cors[0]['maxAgeSeconds'], 60)
        self.assertEqual([dict(rule) for rule in bucket.lifecycle_rules],
                         [{'action': {'type': 'Delete'}, 'condition': {'age': 30}}])
        self.assertGreater(bucket.metageneration, 1)

    def test_answer_calls_about_access(self):
        policy = self.bucket.get_iam_policy(requested_policy_version=3)
        policy.bindings.append({'role': 'roles/storage.objectViewer', 'members': {'allUsers'}})
        self.bucket.set_iam_policy(policy)
        roles = [b['role'] for b in self.bucket.get_iam_policy().bindings]
        self.assertIn('roles/storage.objectViewer', roles)
        asked = ['storage.objects.get', 'storage.buckets.delete']
        self.assertEqual(self.bucket.test_iam_permissions(asked), asked)
        blob = self.put('acl')
        blob.acl.reload()
        blob.make_public()
        blob.acl.reload()
        self.assertIn('READER', blob.acl.all().get_roles())


class Transfers(StorageTest):
    """transfer_manager: many files and big ones, in parallel."""

    def setUp(self):
        super().setUp()
        try:
            from google.cloud.storage import transfer_manager
        except ImportError:
            transfer_manager = None
        self.manager = need(transfer_manager, 'transfer_manager')
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def test_many_files_up_and_down(self):
        names = [f'd{i % 3}/file {i}' for i in range(30)]
        for name in names:
            path = Path(self.directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(name)
        results = self.manager.upload_many_from_filenames(
            self.bucket, names, source_directory=self.directory, max_workers=4,
            worker_type=self.manager.THREAD, raise_exception=True)
        self.assertEqual(results, [None] * 30)
        target = Path(self.directory, 'down')
        self.manager.download_many_to_path(self.bucket, names, destination_directory=str(target),
                                           worker_type=self.manager.THREAD, max_workers=4,
                                           raise_exception=True)
        self.assertEqual([Path(target, name).read_text() for name in names], names)
        results = self.manager.upload_many_from_filenames(
            self.bucket, names[:2], source_directory=self.directory, skip_if_exists=True,
            worker_type=self.manager.THREAD)
        self.assertTrue(all(r is None or isinstance(r, exceptions.PreconditionFailed)
                            for r in results), results)

    def test_a_big_file_in_chunks_at_once(self):
        data = some_bytes(13 * MIB + 3)
        source, target = Path(self.directory, 'up'), Path(self.directory, 'down')
        source.write_bytes(data)
        blob = self.bucket.blob('big ü/ö')
        self.manager.upload_chunks_concurrently(str(source), blob, chunk_size=5 * MIB,
                                                max_workers=3, worker_type=self.manager.THREAD)
        blob.reload()
        self.assertEqual(blob.size, len(data))
        self.manager.download_chunks_concurrently(blob, str(target), chunk_size=3 * MIB,
                                                  max_workers=3, worker_type=self.manager.THREAD)
        self.assertEqual(target.read_bytes(), data)


if __name__ == '__main__':
    support.main()
