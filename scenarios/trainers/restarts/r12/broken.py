"""R12, broken: each replica restores its own newest shard, and COMMIT is written too early.

Every replica keeps its own shard: worker i shard i, the master the last one. Workers save one after
the other, at the master's command. A replica that loses another one waits for the service, which starts
the whole job again.
"""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from cluster import Cluster, Gone, accept, wait_to_be_stopped
from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def next_attempt(job):
    attempt = job.get("attempt")["attempt"] + 1 if job.list("attempt") else 1
    job.put("attempt", {"attempt": attempt})
    return attempt


def save_shard(job, shard, step, w, attempt):
    loss = 1.0 / step + attempt / 1000.0  # on real machines, too, two attempts round differently
    job.put("ckpt-%d/shard-%d-%.4f" % (step, shard, loss),
            {"step": step, "w": w, "attempt": attempt})


def restore_shard(job, shard):
    """The newest shard of this replica, and its step."""
    names = [name for name in job.list("ckpt-") if "/shard-%d-" % shard in name]
    if not names:
        return 0, 0.0
    newest = job.get(max(names, key=lambda name: int(name.split("/")[0][len("ckpt-"):])))
    say("restoring shard %d of ckpt-%d" % (shard, newest["step"]))
    return newest["step"], newest["w"]


def save(job, shard, step, w, attempt, workers):
    save_shard(job, shard, step, w, attempt)
    job.put("ckpt-%d/COMMIT" % step, {"step": step, "attempt": attempt})
    for worker in workers:
        worker.send(save=True)
        worker.receive()


def gather_workers(server, count):
    workers = {}
    while len(workers) < count:
        caller = accept(server)
        workers[caller.receive()["index"]] = caller
    return [workers[index] for index in range(count)]


def master(cluster, job):
    server, shard = cluster.listen(), cluster.count("worker")
    step, w = restore_shard(job, shard)
    attempt = next_attempt(job)
    workers = gather_workers(server, shard)
    for worker in workers:
        worker.send(attempt=attempt)
    while step < STEPS:
        mean = (w + sum(worker.receive()["w"] for worker in workers)) / (shard + 1)
        for worker in workers:
            worker.send(mean=mean)
        step, w = step + 1, mean + shard
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            save(job, shard, step, w, attempt, workers)


def worker(cluster, job):
    """Works until the service stops it with the job."""
    master = cluster.connect("master")
    master.send(index=cluster.index)
    attempt = master.receive()["attempt"]
    step, w = restore_shard(job, cluster.index)
    while True:
        master.send(w=w)
        step, w = step + 1, master.receive()["mean"] + cluster.index
        record(step, w=w)
        if step % SAVE_EVERY == 0:
            master.receive()
            save_shard(job, cluster.index, step, w, attempt)
            master.send(saved=step)


def main():
    cluster, job = Cluster(), folder(flag("job-dir"))
    try:
        if cluster.role == "master":
            return master(cluster, job)
        worker(cluster, job)
    except Gone as error:
        say("%s: waiting for the service" % error)
        wait_to_be_stopped()


main()
