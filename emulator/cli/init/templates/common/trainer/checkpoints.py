"""Files of a job in Cloud Storage (gs://bucket/folder) or in a directory. Each is visible whole, or not at all."""
import json
import os
import urllib.error
import urllib.parse
import urllib.request

TOKEN = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"


class Checkpoints:
    """The files `checkpoints/STEP` of a job's folder, and its results."""

    def __init__(self, job_dir):
        self._folder = Bucket(job_dir) if job_dir.startswith("gs://") else Directory(job_dir)

    def save(self, step, data):
        """Writes the checkpoint of a step. Older ones stay until it is complete."""
        self._folder.write("checkpoints/%08d" % step, data)

    def newest(self):
        """The step and the bytes of the newest checkpoint; (0, None) if there is none."""
        names = self._folder.names("checkpoints/")
        if not names:
            return 0, None
        return int(max(names).rpartition("/")[2]), self._folder.read(max(names))

    def write_result(self, name, data):
        """Writes a result, such as the model, unless it is there already: the last restart may have come later."""
        if not (self._folder.has(name) and self._folder.read(name) == data):
            self._folder.write(name, data)


class Directory:
    """Files below a directory."""

    def __init__(self, path):
        self._path = path

    def write(self, name, data):
        path = os.path.join(self._path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def names(self, prefix):
        folder = os.path.join(self._path, prefix)
        found = os.listdir(folder) if os.path.isdir(folder) else []
        return [prefix + name for name in found if not name.endswith(".new")]

    def has(self, name):
        return os.path.exists(os.path.join(self._path, name))

    def read(self, name):
        with open(os.path.join(self._path, name), "rb") as file:
            return file.read()


class Bucket:
    """Objects below gs://bucket/folder."""

    def __init__(self, url):
        self._bucket, _, folder = url[len("gs://"):].partition("/")
        self._prefix = folder.rstrip("/") + "/" if folder else ""

    def write(self, name, data):
        query = urllib.parse.urlencode({"uploadType": "media", "name": self._prefix + name})
        self._call("/upload/storage/v1/b/%s/o?%s" % (self._bucket, query), data)

    def names(self, prefix):
        names, page = [], ""
        while page is not None:
            query = urllib.parse.urlencode({"prefix": self._prefix + prefix, "pageToken": page})
            answer = json.loads(self._call("/storage/v1/b/%s/o?%s" % (self._bucket, query)))
            names += [item["name"][len(self._prefix):] for item in answer.get("items", [])]
            page = answer.get("nextPageToken")
        return names

    def has(self, name):
        return name in self.names(name)

    def read(self, name):
        quoted = urllib.parse.quote(self._prefix + name, safe="")
        return self._call("/storage/v1/b/%s/o/%s?alt=media" % (self._bucket, quoted))

    def _call(self, path, data=None, tries=5):
        emulator = os.environ.get("STORAGE_EMULATOR_HOST", "").rstrip("/")
        request = urllib.request.Request((emulator or "https://storage.googleapis.com") + path, data)
        request.add_header("Content-Type", "application/octet-stream")
        if not emulator:
            request.add_header("Authorization", "Bearer " + token())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            if error.code < 500 or tries == 1:
                raise
            return self._call(path, data, tries - 1)


def token():
    """The access token of this machine's service account."""
    request = urllib.request.Request(TOKEN, headers={"Metadata-Flavor": "Google"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())["access_token"]
