"""Runs a trainer of scenarios/trainers/restarts and kills it at a named place, as the loss of a machine does.

    interrupted.py TRAINER PLACE [ARGUMENT...]

PLACE is "before create GLOB", "after delete GLOB" and so on (create, overwrite, copy, delete,
rename), "log TEXT", or "nowhere". The first occurrence counts. With CAIP_OBJECTS=1 a rename in the
directory is a copy and then a delete, as in a bucket.
"""
import fnmatch
import os
import runpy
import signal
import sys


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Watch:
    """Observes the trainer's files and lines, and ends the process at the place."""

    def __init__(self, place):
        self._when, _, self._what = place.partition(" ")

    def at(self, when, operation, name):
        operation_wanted, _, glob = self._what.partition(" ")
        if when == self._when and operation == operation_wanted and fnmatch.fnmatch(name, glob):
            die()

    def said(self, line):
        if self._when == "log" and self._what in line:
            die()


def watched(watch, operation, function):
    def call(folder, name, *rest):
        known = operation
        if operation == "create" and os.path.exists(folder._of(name)):
            known = "overwrite"
        watch.at("before", known, name)
        answer = function(folder, name, *rest)
        watch.at("after", known, name)
        return answer
    return call


def put_together(storage, console, watch):
    place = storage.Directory
    copy = watched(watch, "copy", lambda folder, old, new: write(folder, new, folder.get(old)))
    write, place.put = place.put, watched(watch, "create", place.put)
    place.delete = watched(watch, "delete", place.delete)
    if os.environ.get("CAIP_OBJECTS"):
        place.rename = lambda folder, old, new: (copy(folder, old, new), folder.delete(old))
    else:
        place.rename = watched(watch, "rename", place.rename)
    say = console.say

    def say_watched(text):
        say(text)
        watch.said(text)
    console.say = say_watched


def main():
    trainer, place = sys.argv[1:3]
    sys.argv[:] = [trainer] + sys.argv[3:]
    sys.path[0] = os.path.dirname(trainer)
    sys.path.insert(1, os.path.dirname(sys.path[0]))
    import console
    import storage
    put_together(storage, console, Watch(place))
    runpy.run_path(trainer, run_name="__main__")


main()
