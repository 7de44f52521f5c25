"""R09, broken: a restarted replica begins at the newest checkpoint, the others continue.

A worker's message for step s + 1 also means that it has recorded step s. Each side waits for the
other's message of its own step, which never comes.
"""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from cluster import Cluster, Gone, accept
from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 5


def newest(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    return job.get("ckpt-%d" % max(steps)) if steps else {"step": 0, "w": 0.0}


def gather_workers(server, workers, count):
    """Waits until every worker is connected; a worker that connects again has been restarted."""
    while len(workers) < count:
        caller = accept(server)
        try:
            workers[caller.receive()["index"]] = caller
        except Gone:
            continue  # restarted again, before it sent its name


def exchange(server, workers, index, step):
    """A worker's gradient for this step."""
    while True:
        try:
            message = workers[index].receive()
        except Gone:
            say("a worker is lost")
            count = len(workers)
            workers.pop(index).close()
            gather_workers(server, workers, count)
            continue
        if message["step"] == step:
            return message["gradient"]
        say("waiting for step %d, not for step %d" % (step, message["step"]))


def master(cluster, job):
    server, workers = cluster.listen(), {}
    gather_workers(server, workers, cluster.count("worker"))
    state = newest(job)
    step, w = state["step"], state["w"]
    while True:
        gradients = [exchange(server, workers, index, step + 1)
                     for index in sorted(workers)[::-1]]
        if step % SAVE_EVERY == 0 and step > state["step"]:
            job.put("ckpt-%d" % step, {"step": step, "w": w})
        if step == STEPS:
            return
        step, w = step + 1, 0.9 * w + sum(gradients)
        record(step, w=w)
        for worker in workers.values():
            worker.send(step=step, w=w)


def worker(cluster, job):
    """Works until the service stops it with the job."""
    step = newest(job)["step"]
    while True:
        master = cluster.connect("master")
        try:
            master.send(index=cluster.index)
            while True:
                master.send(step=step + 1, gradient=(step + 1.0) * (cluster.index + 1))
                state = master.receive()
                step = state["step"]
                record(step, w=state["w"])
        except Gone:
            say("the master is lost")


def main():
    cluster, job = Cluster(), folder(flag("job-dir"))
    if cluster.role == "master":
        master(cluster, job)
    else:
        worker(cluster, job)


main()
