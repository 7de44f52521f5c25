"""What a job tells people: lines of its log, and the sentence with which it fails."""
import sys
import time


class Failure(Exception):
    """A reason for which the job fails. The text is for people: what is wrong, the rule, the remedy."""


def info(text):
    print(text, flush=True)


def warning(text):
    """A line in TensorFlow's form, whose letter becomes the severity of the log entry."""
    moment = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    print("%s.%06d: W caip_algorithms:1] %s" % (stamp, moment % 1 * 1e6, text), file=sys.stderr, flush=True)


def listed(texts, most=5):
    """'a, b and c', shortened where there are many."""
    texts = list(texts)
    if len(texts) > most:
        texts = texts[:most - 1] + ["%d more" % (len(texts) - most + 1)]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]
