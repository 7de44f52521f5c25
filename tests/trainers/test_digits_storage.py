"""The trainer's storage behaves alike in a bucket and in a local folder."""
import os
import shutil
import tempfile
import unittest
from unittest import mock

import digits_source  # noqa: F401
from fake_bucket import FakeBucket
from trainer import storage


class StoragePromises:
    """Tests for both kinds of storage; `self.root` is the folder or URL of the objects."""

    def test_reads_the_last_written_value(self):
        storage.write(self.root + "/a/b", b"\x00first\r\n")
        storage.write(self.root + "/a/b", b"second")
        self.assertEqual(storage.read(self.root + "/a/b"), b"second")

    def test_keeps_empty_objects_and_odd_names(self):
        url = self.root + "/with space/50%+#?.txt"
        storage.write(url, b"")
        self.assertEqual(storage.read(url), b"")
        self.assertEqual(storage.list_all(self.root + "/with"), [url])

    def test_reports_a_missing_object(self):
        self.assertFalse(storage.exists(self.root + "/none"))
        with self.assertRaises(FileNotFoundError):
            storage.read(self.root + "/none")
        storage.delete(self.root + "/none")

    def test_deletes(self):
        storage.write(self.root + "/x", b"1")
        self.assertTrue(storage.exists(self.root + "/x"))
        storage.delete(self.root + "/x")
        self.assertFalse(storage.exists(self.root + "/x"))
        self.assertEqual(storage.list_all(self.root + "/"), [])

    def test_lists_all_pages_of_a_prefix_and_nothing_else(self):
        names = ["ck/%d/part" % number for number in range(5)]
        for name in names + ["other"]:
            storage.write("%s/%s" % (self.root, name), b"1")
        self.assertEqual(storage.list_all(self.root + "/ck/"),
                         ["%s/%s" % (self.root, name) for name in names])


class LocalStorageTest(StoragePromises, unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="digits-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def test_does_not_list_a_file_that_is_being_written(self):
        with mock.patch("os.replace", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                storage.write(self.root + "/half", b"1")
        self.assertEqual(len(os.listdir(self.root)), 1)
        self.assertEqual(storage.list_all(self.root + "/"), [])


class BucketStorageTest(StoragePromises, unittest.TestCase):
    root = "gs://bucket/folder"

    def setUp(self):
        self.bucket = FakeBucket()
        self.addCleanup(self.bucket.close)
        for patch in (mock.patch.dict(os.environ, STORAGE_EMULATOR_HOST=self.bucket.address),
                      mock.patch("time.sleep")):
            patched = patch.start()
            self.addCleanup(patch.stop)
        self.pauses = patched

    def test_repeats_after_a_transient_failure_with_growing_pauses(self):
        self.bucket.faults = [503, 429, None, 408, 500]
        storage.write("gs://bucket/x", b"kept")
        self.assertEqual(self.bucket.objects, {("bucket", "x"): b"kept"})
        self.assertEqual(len(self.bucket.requests), 6)
        pauses = [call[0][0] for call in self.pauses.call_args_list]
        self.assertEqual(len(pauses), 5)
        self.assertEqual(pauses, sorted(pauses))

    def test_each_operation_survives_a_503(self):
        storage.write("gs://bucket/x", b"1")
        for operation, expected in [(storage.read, b"1"), (storage.exists, True),
                                    (storage.list_all, ["gs://bucket/x"]), (storage.delete, None)]:
            self.bucket.faults = [503]
            self.assertEqual(operation("gs://bucket/x"), expected, operation.__name__)
            self.assertEqual(self.bucket.faults, [])

    def test_does_not_repeat_a_refused_operation_and_names_it(self):
        self.bucket.faults = [403]
        with self.assertRaisesRegex(storage.StorageError, "POST gs://bucket/x .* 403 injected"):
            storage.write("gs://bucket/x", b"1")
        self.assertEqual(len(self.bucket.requests), 1)

    def test_gives_up_with_the_last_reason(self):
        self.bucket.faults = [503, 503]
        with mock.patch.object(storage, "PATIENCE_SECONDS", 0.15):
            with self.assertRaisesRegex(storage.StorageError, "503 injected"):
                storage.read("gs://bucket/x")


if __name__ == "__main__":
    unittest.main()
