"""The role of this replica and the addresses of the others, from TF_CONFIG only."""
import json
import os
from collections import namedtuple

CHIEF, WORKER, SERVER, EVALUATOR = "chief", "worker", "ps", "evaluator"


class Cluster(namedtuple("Cluster", "role index chief workers servers")):
    """Addresses are (host, port); `chief` is None when the process runs alone."""

    @property
    def own_address(self):
        """The address of this replica. An evaluator is not part of the cluster."""
        if self.role == CHIEF:
            return self.chief
        entries = {WORKER: self.workers, SERVER: self.servers}.get(self.role, ())
        return entries[self.index] if self.index < len(entries) else None

    @property
    def shards(self):
        """The processes that hold the parameters: the servers, or else the chief."""
        return self.servers or ((self.chief,) if self.chief else ())


def from_environment(environment=os.environ):
    """Reads TF_CONFIG; without one the process is the chief of a cluster of one."""
    config = json.loads(environment.get("TF_CONFIG") or "{}")
    addresses, task = config.get("cluster", {}), config.get("task", {})
    role = task.get("type", CHIEF)
    # The service calls the same replica `master` or `chief`, by the job's runtime version.
    if role == "master":
        role = CHIEF
    if role not in (CHIEF, WORKER, SERVER, EVALUATOR):
        raise ValueError("TF_CONFIG: the task type %r is none of chief, master, worker, ps, "
                         "evaluator" % role)
    chiefs = _entries(addresses, "chief") or _entries(addresses, "master")
    cluster = Cluster(role, int(task.get("index", 0)), chiefs[0] if chiefs else None,
                      _entries(addresses, "worker"), _entries(addresses, "ps"))
    if role in (WORKER, SERVER) and (cluster.own_address is None or cluster.chief is None):
        raise ValueError("TF_CONFIG: the cluster must name the chief and %s %d"
                         % (role, cluster.index))
    return cluster


def _entries(addresses, key):
    return tuple((host, int(port)) for host, _, port in
                 (entry.rpartition(":") for entry in addresses.get(key, [])))
