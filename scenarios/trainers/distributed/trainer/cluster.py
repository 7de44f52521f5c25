"""This replica's place in the cluster, from TF_CONFIG as the service sets it."""
import json
import os
from collections import namedtuple

# The chief has rank 0. Its address is that of the rendezvous.
Place = namedtuple("Place", ["rank", "count", "chief_host", "chief_port"])


def place():
    """The rank of this replica among chief and workers."""
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    chief = cluster.get("chief") or cluster["master"]
    host, port = chief[0].rsplit(":", 1)
    rank = task["index"] + 1 if task["type"] == "worker" else 0
    return Place(rank, 1 + len(cluster.get("worker", [])), host, int(port))
