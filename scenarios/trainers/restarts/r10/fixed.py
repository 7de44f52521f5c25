"""R10, fixed: a connection belongs to one start of the server, and each start is filled.

Master and worker each add half of a step. The server answers when it has both halves, so a push for
step s + 1 also means that its sender has recorded step s.
"""
import sys

sys.path.insert(1, sys.path[0] + "/..")

from cluster import Cluster, Gone, accept
from console import flag, record, say
from storage import folder

STEPS, SAVE_EVERY = 40, 10


def newest(job):
    steps = [int(name[len("ckpt-"):]) for name in job.list("ckpt-")]
    if not steps:
        return {"step": 0, "w": 0.0}
    say("restoring ckpt-%d" % max(steps))
    return job.get("ckpt-%d" % max(steps))


def ps(cluster):
    """Holds w. The master sends the step after which to continue, and w if it has one."""
    server, w = cluster.listen(), 0.0
    while True:
        clients = {}
        try:
            while len(clients) < 2:
                caller = accept(server)
                clients[caller.receive()["who"]] = caller
            begin = clients["master"].receive()
            w = w if begin["w"] is None else begin["w"]
            clients["worker"].send(step=begin["step"], w=w)
            while True:
                halves = [clients[who].receive() for who in sorted(clients)]
                step, added = halves[0]["step"], sum(half["add"] for half in halves)
                w += added
                if added:
                    say("applied step %d" % step)
                for client in clients.values():
                    client.send(step=step, w=w)
        except Gone:
            for client in clients.values():
                client.close()


def half(step):
    return {"step": step + 1, "add": 0.5 if step < STEPS else 0.0}


def master(cluster, job):
    while True:
        state = newest(job)
        step, w, fill = state["step"], state["w"], state["w"]
        if step == STEPS:
            return
        server = cluster.connect("ps")
        server.send(who="master")
        server.send(step=step, w=fill)
        try:
            while True:
                server.send(**half(step))
                reply = server.receive()
                if step % SAVE_EVERY == 0 and step > state["step"]:
                    job.put("ckpt-%d" % step, {"step": step, "w": w})
                if step == STEPS:
                    return
                step, w = reply["step"], reply["w"]
                record(step, w=w)
        except Gone:
            say("the server is lost")


def worker(cluster):
    """Works until the service stops it with the job."""
    while True:
        server = cluster.connect("ps")
        try:
            server.send(who="worker")
            step = server.receive()["step"]
            while True:
                server.send(**half(step))
                reply = server.receive()
                if step < STEPS:
                    step = reply["step"]
                    record(step, w=reply["w"])
        except Gone:
            say("the server is lost")


def main():
    cluster = Cluster()
    if cluster.role == "ps":
        ps(cluster)
    elif cluster.role == "master":
        master(cluster, folder(flag("job-dir")))
    else:
        worker(cluster)


main()
