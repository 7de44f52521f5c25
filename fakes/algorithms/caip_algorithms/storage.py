"""Files in Cloud Storage (gs://) and on the disk, with the standard library alone."""
import fnmatch
import glob
import http.client
import json
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from .report import Failure

TOKEN = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
TRIES = 5
PIECE = 1 << 20


def is_remote(path):
    return path.startswith("gs://")


def join(directory, *names):
    return "/".join([directory.rstrip("/"), *names])


def find(path, flag):
    """The files that a path with wildcards (*, ?, [...]) names, sorted; a Failure where there is none."""
    wild = [path.index(mark) for mark in "*?[" if mark in path]
    if not wild:
        return [path]
    if is_remote(path):
        bucket, _ = _parts(path)
        names = _list(bucket, path[len("gs://%s/" % bucket):min(wild)])
        found = ["gs://%s/%s" % (bucket, name) for name in names]
        found = [one for one in found if fnmatch.fnmatchcase(one, path) and one.count("/") == path.count("/")]
    else:
        found = glob.glob(path)
    if not found:
        raise Failure("No file matches %s. Set --%s to CSV files that exist." % (path, flag))
    return sorted(found)


def fetch(path, flag, directory):
    """A local file with the contents of `path`."""
    if not is_remote(path):
        if not os.path.isfile(path):
            raise Failure(_missing(path, flag))
        return path
    handle, local = tempfile.mkstemp(dir=directory)
    bucket, name = _parts(path)
    where = "/storage/v1/b/%s/o/%s?alt=media" % (bucket, urllib.parse.quote(name, safe=""))

    def copy(answer):
        with open(local, "wb") as file:
            shutil.copyfileobj(answer, file, PIECE)
            size = answer.headers.get("Content-Length")
            if size is not None and file.tell() != int(size):
                raise http.client.IncompleteRead(b"")
    os.close(handle)
    try:
        _call(where, copy)
    except urllib.error.HTTPError as error:
        raise Failure(_missing(path, flag) if error.code == 404 else _refused(path, "read", error))
    return local


def read(path):
    """The bytes of a file; None where it does not exist."""
    if not is_remote(path):
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()
    bucket, name = _parts(path)
    try:
        return _call("/storage/v1/b/%s/o/%s?alt=media" % (bucket, urllib.parse.quote(name, safe="")),
                     lambda answer: answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise Failure(_refused(path, "read", error))


def names_below(directory):
    """The paths of all files below a directory, relative to it."""
    if not is_remote(directory):
        found = [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names]
        return sorted(os.path.relpath(one, directory) for one in found)
    bucket, name = _parts(directory)
    prefix = name.rstrip("/") + "/" if name else ""
    return [one[len(prefix):] for one in _list(bucket, prefix)]


def upload(local, path):
    """Copies a local file to `path`."""
    if not is_remote(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(local, path + ".part")
        os.replace(path + ".part", path)
        return
    bucket, name = _parts(path)
    query = urllib.parse.urlencode({"uploadType": "media", "name": name})
    where = "/upload/storage/v1/b/%s/o?%s" % (bucket, query)
    try:
        _call(where, lambda answer: answer.read(), local)
    except urllib.error.HTTPError as error:
        raise Failure(_refused(path, "written", error))


def delete_tree(directory):
    """Deletes all files below a directory."""
    for name in names_below(directory):
        if not is_remote(directory):
            os.remove(os.path.join(directory, name))
            continue
        bucket, path = _parts(join(directory, name))
        try:
            _call("/storage/v1/b/%s/o/%s" % (bucket, urllib.parse.quote(path, safe="")), lambda answer: answer.read(),
                  method="DELETE")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise Failure(_refused(join(directory, name), "deleted", error))


def upload_bytes(data, path):
    handle, local = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        upload(local, path)
    finally:
        os.remove(local)


def upload_text(text, path):
    upload_bytes(text.encode(), path)


def upload_tree(directory, path):
    """Copies all files below a local directory."""
    for name in names_below(directory):
        upload(os.path.join(directory, name), join(path, name))


def fetch_tree(path, directory):
    """Copies all files below `path` into a local directory; False where there is none."""
    names = names_below(path)
    for name in names:
        local = os.path.join(directory, name)
        os.makedirs(os.path.dirname(local), exist_ok=True)
        with open(local, "wb") as file:
            file.write(read(join(path, name)) or b"")
    return bool(names)


def _parts(path):
    bucket, _, name = path[len("gs://"):].partition("/")
    return bucket, name


def _missing(path, flag):
    return "%s does not exist. Set --%s to a CSV file in Cloud Storage (gs://BUCKET/FILE) that exists." % (path, flag)


def _refused(path, verb, error):
    return "%s cannot be %s: Cloud Storage answers %d %s." % (path, verb, error.code, error.reason)


def _list(bucket, prefix):
    names, page = [], ""
    while page is not None:
        query = urllib.parse.urlencode({"prefix": prefix, "pageToken": page, "fields": "items(name),nextPageToken"})
        try:
            answer = _call("/storage/v1/b/%s/o?%s" % (bucket, query), json.load)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return []
            raise Failure(_refused("gs://%s/%s" % (bucket, prefix), "listed", error))
        names += [item["name"] for item in answer.get("items", [])]
        page = answer.get("nextPageToken")
    return names


def _call(where, take, local=None, method="GET"):
    """Hands the answer to `take`. Tries again where the server or the network fails for a moment."""
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "").rstrip("/")
    if emulator and "://" not in emulator:
        emulator = "http://" + emulator
    for attempt in range(TRIES):
        try:
            return _call_once((emulator or "https://storage.googleapis.com") + where, take, local, method, not emulator)
        except urllib.error.HTTPError as error:
            if error.code not in (408, 429, 500, 502, 503, 504) or attempt == TRIES - 1:
                raise
        except (OSError, http.client.HTTPException) as error:
            if attempt == TRIES - 1:
                raise Failure("Cloud Storage does not answer: %s." % error)
        time.sleep(0.2 * 2 ** attempt)


def _call_once(url, take, local, method, needs_token):
    request = urllib.request.Request(url, method=method)
    if needs_token:
        request.add_header("Authorization", "Bearer " + _token())
    if local is None:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return take(answer)
    request.add_header("Content-Type", "application/octet-stream")
    request.add_header("Content-Length", str(os.path.getsize(local)))
    request.method = "POST"
    with open(local, "rb") as body:
        request.data = body
        with urllib.request.urlopen(request, timeout=600) as answer:
            return take(answer)


def _token():
    request = urllib.request.Request(TOKEN, headers={"Metadata-Flavor": "Google"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["access_token"]
