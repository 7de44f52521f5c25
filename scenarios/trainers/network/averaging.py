"""The master and a worker train together: the worker sends the gradient of each step, the master answers.

The master keeps its state in the job's folder. With `--patience SECONDS` the worker waits at most so long
for an answer and then sends the step again. Without it, it waits until the connection ends.
"""
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from cluster import Cluster, Gone, accept
from console import flag, record, say
from storage import folder

STEPS = 6
PATIENCE = float(flag("patience", "0")) or None  # None: without end


def serve(cluster, job):
    """Does each step once, however often the worker sends it."""
    state = job.get("state") if job.list("state") else {"step": 0, "w": 0.0}
    server = cluster.listen()
    while state["step"] < STEPS:
        worker = accept(server)
        try:
            while state["step"] < STEPS:
                message = worker.receive()
                worker.acknowledge()
                if message["step"] == state["step"] + 1:
                    state = {"step": message["step"], "w": 0.5 * state["w"] + message["gradient"]}
                    job.put("state", state)
                    record(state["step"], w=state["w"])
                worker.send(**state)
        except Gone:
            say("the worker connects again")


def work(cluster):
    """Until the service stops it with the job."""
    step, master = 1, cluster.connect("master", patience=PATIENCE)
    while True:
        master.send(step=step, gradient=float(step))
        try:
            step = master.receive()["step"] + 1
        except Gone:
            say("no answer to step %d" % step)
            master.close()
            master = cluster.connect("master", patience=PATIENCE)


def main():
    cluster = Cluster()
    if cluster.role == "master":
        serve(cluster, folder(flag("job-dir")))
    else:
        work(cluster)


main()
