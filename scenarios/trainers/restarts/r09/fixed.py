"""R09, fixed: after each loss, all replicas begin a new generation at the newest checkpoint.

A worker's message for step s + 1 also means that it has recorded step s. The count of generations is
kept in the job's folder, because a count in memory would start over with the replica.
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


def next_generation(job):
    generation = job.get("generation")["generation"] + 1 if job.list("generation") else 1
    job.put("generation", {"generation": generation})
    return generation


def gather_workers(server, workers, count):
    """Waits until every worker is connected; a worker that connects again has been restarted."""
    while len(workers) < count:
        caller = accept(server)
        try:
            workers[caller.receive()["index"]] = caller
        except Gone:
            continue  # restarted again, before it sent its name


def exchange(workers, index, generation):
    """A worker's gradient. It may belong to a generation that has ended."""
    while True:
        try:
            message = workers[index].receive()
        except Gone:
            workers.pop(index).close()
            raise
        if message["generation"] == generation:
            return message["gradient"]
        say("refused step %d of generation %d" % (message["step"], message["generation"]))


def train(job, state, workers, generation):
    step, w = state["step"], state["w"]
    for worker in workers.values():
        worker.send(begin=True, generation=generation, step=step, w=w)
    while True:
        gradients = [exchange(workers, index, generation) for index in sorted(workers)[::-1]]
        if step % SAVE_EVERY == 0 and step > state["step"]:
            job.put("ckpt-%d" % step, {"step": step, "w": w})
        if step == STEPS:
            return
        step, w = step + 1, 0.9 * w + sum(gradients)
        record(step, w=w)
        for worker in workers.values():
            worker.send(begin=False, generation=generation, step=step, w=w)


def master(cluster, job):
    server, workers = cluster.listen(), {}
    while True:
        state = newest(job)
        if state["step"] == STEPS:
            return
        gather_workers(server, workers, cluster.count("worker"))
        generation = next_generation(job)
        say("generation %d begins after step %d" % (generation, state["step"]))
        try:
            return train(job, state, workers, generation)
        except Gone:
            say("a worker is lost")


def worker(cluster):
    """Works until the service stops it with the job."""
    while True:
        master = cluster.connect("master")
        try:
            master.send(index=cluster.index)
            while True:
                state = master.receive()
                if not state["begin"]:
                    record(state["step"], w=state["w"])
                master.send(generation=state["generation"], step=state["step"] + 1,
                            gradient=(state["step"] + 1.0) * (cluster.index + 1))
        except Gone:
            say("the master is lost")


def main():
    cluster = Cluster()
    if cluster.role == "master":
        master(cluster, folder(flag("job-dir")))
    else:
        worker(cluster)


main()
