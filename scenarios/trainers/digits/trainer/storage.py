"""The same six functions for objects in Cloud Storage (gs://bucket/name) and for plain files.

Cloud Storage is called through its JSON API at $STORAGE_EMULATOR_HOST, or else at the public address,
without credentials. In both, a write becomes visible as a whole or not at all.
"""
import http.client
import json
import os
import random
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE_SECONDS = 120.0
REQUEST_SECONDS = 75.0
LONGEST_PAUSE_SECONDS = 8.0
TEMPORARY = ".partial-"


class StorageError(Exception):
    """Cloud Storage refused a request, or was unreachable for too long."""


def read(url):
    """The whole content; FileNotFoundError if it does not exist."""
    if _is_remote(url):
        return _request("GET", url, _object_path(url) + "?alt=media")
    with open(url, "rb") as file:
        return file.read()


def write(url, content):
    """Creates the object or file, or replaces it."""
    if _is_remote(url):
        bucket, name = _split(url)
        query = urllib.parse.urlencode({"uploadType": "media", "name": name})
        _request("POST", url, "/upload/storage/v1/b/%s/o?%s" % (_quote(bucket), query), content)
        return
    folder = os.path.dirname(os.path.abspath(url))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, url)


def exists(url):
    """Whether the object or file exists."""
    if not _is_remote(url):
        return os.path.isfile(url)
    try:
        _request("GET", url, _object_path(url))
        return True
    except FileNotFoundError:
        return False


def delete(url):
    """Removes the object or file. A missing one is not an error."""
    try:
        if _is_remote(url):
            _request("DELETE", url, _object_path(url))
            return
        os.remove(url)
    except FileNotFoundError:
        return
    try:
        os.rmdir(os.path.dirname(url))  # as in a bucket, there are no empty folders
    except OSError:
        pass


def sweep(folder):
    """Removes a folder with invisible files of stopped writers; buckets have none."""
    if _is_remote(folder) or not os.path.isdir(folder):
        return
    for name in os.listdir(folder):
        if name.startswith(TEMPORARY):
            os.remove(os.path.join(folder, name))
    try:
        os.rmdir(folder)
    except OSError:
        pass


def list_all(prefix):
    """The URLs of everything whose URL begins with the prefix, sorted."""
    return sorted(_list_remote(prefix) if _is_remote(prefix) else _list_local(prefix))


def _list_local(prefix):
    for folder, _, names in os.walk(os.path.dirname(prefix) or "."):
        for name in names:
            path = os.path.join(folder, name)
            if path.startswith(prefix) and not name.startswith(TEMPORARY):
                yield path


def _list_remote(prefix):
    bucket, name = _split(prefix)
    query = {"prefix": name}
    while True:
        path = "/storage/v1/b/%s/o?%s" % (_quote(bucket), urllib.parse.urlencode(query))
        page = json.loads(_request("GET", prefix, path).decode("utf-8"))
        for item in page.get("items", []):
            yield "gs://%s/%s" % (bucket, item["name"])
        if not page.get("nextPageToken"):
            return
        query["pageToken"] = page["nextPageToken"]


def _is_remote(url):
    return url.startswith("gs://")


def _split(url):
    bucket, _, name = url[len("gs://"):].partition("/")
    return bucket, name


def _quote(text):
    return urllib.parse.quote(text, safe="")


def _object_path(url):
    bucket, name = _split(url)
    return "/storage/v1/b/%s/o/%s" % (_quote(bucket), _quote(name))


def _request(method, url, path, body=None):
    """One request, repeated with growing pauses while the failure may be transient."""
    deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.1
    while True:
        try:
            return _request_once(method, path, body)
        except urllib.error.HTTPError as error:
            reason = "%d %s" % (error.code, error.read(300).decode("utf-8", "replace").strip())
            if error.code == 404:
                raise FileNotFoundError("%s does not exist" % url)
            if error.code not in (408, 429) and error.code < 500:
                raise StorageError("%s %s was refused: %s" % (method, url, reason))
        except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
            reason = repr(error)
        if time.monotonic() + pause > deadline:
            raise StorageError("%s %s failed for %d seconds, at last with: %s"
                               % (method, url, PATIENCE_SECONDS, reason))
        time.sleep(pause * random.uniform(0.75, 1.25))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _request_once(method, path, body):
    host = os.environ.get("STORAGE_EMULATOR_HOST", "")
    # A proxy would misdirect requests to the emulator on this machine.
    opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if host else []))
    if not host:
        host = "https://storage.googleapis.com"
    elif "://" not in host:
        host = "http://" + host
    request = urllib.request.Request(host.rstrip("/") + path, data=body, method=method)
    if body is not None:
        request.add_header("Content-Type", "application/octet-stream")
    with opener.open(request, timeout=REQUEST_SECONDS) as answer:
        return answer.read()
