"""Makes each record of a replica's `logging` one entry of its job's log.

Python runs this file whenever it starts, because its directory is on PYTHONPATH. As on the service,
the root logger has a handler and a level before the trainer's first line runs. The level is INFO, or
the value of CLOUD_ML_LOG_LEVEL. This file does not import `logging`. It waits for the first import.

A record becomes one line on stderr: a mark, then JSON. The emulator reads the line
(src/host/process/log_entry.cc). A trainer must never notice this file: a failure in it is silent, and
the trainer then logs as if this file did not exist.

Runs on every Python 3. On Python 2, which a trainer may start, it does nothing.
"""

import os
import sys

_MARK = b"\x1ecaip-log:"

# The variable that identifies the pipe of the replica's stderr. The first Python process of a replica
# sets it for the processes that it starts. A process whose stderr is another file or pipe must print
# the same text as without this file.
_STDERR_VARIABLE = "CAIP_REPLICA_STDERR"

# The most characters of a message in one line. The reader would cut a line above 256 KiB, and a
# character takes at most six bytes in JSON.
_PIECE = 40000


def _stderr_identity():
    status = os.fstat(2)
    return "%d:%d" % (status.st_dev, status.st_ino)


def _severity(number):
    for least, name in ((50, "CRITICAL"), (40, "ERROR"), (30, "WARNING"), (20, "INFO")):
        if number >= least:
            return name
    return "DEBUG"


def _write(line):
    """Writes a line, in one piece if the system allows it. The caller holds the handler's lock."""
    while line:
        try:
            line = line[os.write(2, line):]
        except BlockingIOError:
            import select
            select.select([], [2], [])


def _capture(logging, level, replica_stderr):
    """Gives the root logger its level and its handler. Called after `logging` is imported."""
    import json

    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

    def line_of(record, message):
        entry = {"severity": _severity(record.levelno), "message": message,
                 "pathname": str(record.pathname)[-4096:], "lineno": record.lineno}
        if record.thread and record.thread != logging.threading.main_thread().ident:
            entry["thread"] = str(record.thread)
        return _MARK + encode(entry).encode("utf-8", "replace") + b"\n"

    class ReplicaHandler(logging.Handler):
        """Writes records to the log of the replica."""

        def emit(self, record):
            try:
                message = self.format(record)
                if _stderr_identity() != replica_stderr:  # the trainer has redirected it
                    sys.stderr.write("%s:%s:%s\n" % (record.levelname, record.name, message))
                    return
                for begin in range(0, len(message) or 1, _PIECE):
                    _write(line_of(record, message[begin:begin + _PIECE]))
            except RecursionError:  # as logging.StreamHandler does
                raise
            except Exception:
                self.handleError(record)

    root = logging.getLogger()
    handler = ReplicaHandler()
    root.setLevel(level)
    root.addHandler(handler)


class _LoggingFinder(object):
    """The first of all finders until `logging` is imported. Finds only that module."""

    def __init__(self, level, replica_stderr):
        self._level = level
        self._replica_stderr = replica_stderr

    def find_spec(self, name, path=None, target=None):
        if name != "logging":
            return None
        try:
            spec = self._find_with_others(path, target)
            self._follow(spec.loader)
            return spec
        except Exception:
            return None

    def _find_with_others(self, path, target):
        for finder in list(sys.meta_path):
            spec = None if finder is self else finder.find_spec("logging", path, target)
            if spec is not None:
                return spec

    def _follow(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            del loader.exec_module  # restores the loader's own method
            execute(module)
            try:
                sys.meta_path.remove(self)
                _capture(module, self._level, self._replica_stderr)
            except Exception:
                pass

        loader.exec_module = exec_module


def _install():
    levels = {"DEBUG": 10, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
    level = levels.get(os.environ.get("CLOUD_ML_LOG_LEVEL"), 20)
    identity = _stderr_identity()
    if os.environ.setdefault(_STDERR_VARIABLE, identity) != identity:
        return
    if "logging" in sys.modules:
        _capture(sys.modules["logging"], level, identity)
    else:
        sys.meta_path.insert(0, _LoggingFinder(level, identity))


def _run_hidden_sitecustomize():
    """Runs the sitecustomize that this one hides, and gives it the module's name."""
    own = sys.modules.pop("sitecustomize")
    directory = os.path.dirname(os.path.abspath(__file__))
    index = next((i for i, p in enumerate(sys.path) if os.path.abspath(p) == directory), None)
    entry = None if index is None else sys.path.pop(index)
    try:
        if index is not None:
            __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        if index is not None:
            sys.path.insert(index, entry)
        sys.modules.setdefault("sitecustomize", own)


try:
    if sys.version_info >= (3, 5):
        _install()
except Exception:
    pass
if __name__ == "sitecustomize":
    _run_hidden_sitecustomize()
