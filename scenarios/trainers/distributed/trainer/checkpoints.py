"""Checkpoints as numbered objects in Cloud Storage, for frameworks that do not know gs://."""
import posixpath

from google.cloud import storage


class Checkpoints:
    """The objects `<job-dir>/checkpoints/<name>-<number>`."""

    def __init__(self, job_dir, name):
        bucket, _, folder = job_dir[len("gs://"):].partition("/")
        self._bucket = storage.Client().bucket(bucket)
        self._prefix = posixpath.join(folder, "checkpoints", name + "-")

    def save(self, number, data):
        """Writes one checkpoint. Objects become visible whole or not at all."""
        self._bucket.blob("%s%06d" % (self._prefix, number)).upload_from_string(data)

    def newest(self):
        """The number and the bytes of the newest checkpoint; (0, None) if there is none."""
        names = [blob.name for blob in self._bucket.list_blobs(prefix=self._prefix)]
        if not names:
            return 0, None
        return int(max(names)[len(self._prefix):]), self._bucket.blob(max(names)).download_as_bytes()
