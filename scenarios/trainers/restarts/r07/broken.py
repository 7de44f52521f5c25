"""R07, broken: the best value and the patience are only in memory."""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from console import flag, record, say
from storage import folder

METRICS, PATIENCE = (.50, .60, .70, .69, .68, .67, .66, .65, .64, .63), 3


def newest(job):
    epochs = [int(name[len("epoch-"):]) for name in job.list("epoch-")]
    if not epochs:
        return None
    say("restoring epoch-%d" % max(epochs))
    return job.get("epoch-%d" % max(epochs))


def main():
    job = folder(flag("job-dir"))
    epoch, best, waited = -1, None, 0
    state = newest(job)
    if state:
        epoch = state["epoch"]
    while epoch + 1 < len(METRICS) and waited < PATIENCE:
        epoch, metric = epoch + 1, METRICS[epoch + 1]
        if best is None or metric > best:
            best, waited = metric, 0
            job.put("best/model", {"epoch": epoch, "metric": metric})
        else:
            waited += 1
        record(epoch, metric=metric)
        job.put("epoch-%d" % epoch, {"epoch": epoch})
    say("stopped after epoch %d" % epoch)


main()
