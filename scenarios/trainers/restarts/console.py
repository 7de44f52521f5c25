"""Input and output of a trainer: flags of its command line, lines on standard output."""
import json
import sys


def flag(name, default=None):
    """The last value of --name VALUE or --name=VALUE, because the service appends its own flags."""
    value, words = default, sys.argv[1:]
    for index, word in enumerate(words):
        if word == "--" + name and index + 1 < len(words):
            value = words[index + 1]
        elif word.startswith("--%s=" % name):
            value = word.partition("=")[2]
    return value


def record(step, **fields):
    """Reports a finished step, as one line of JSON."""
    say(json.dumps(dict({"step": step}, **fields)))


def say(text):
    """Prints one line at once, because buffered lines are lost with the machine."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
