"""XGBoost on several replicas (xgboost_dist): the master runs XGBoost's own tracker at its address of CLUSTER_SPEC, and
each replica trains on its share of the files."""
import socket
import tempfile

from .cluster import Cluster
from .data import fetch
from .libraries import need
from .report import Failure, info
from .xgboost_trainer import Training, class_count

NEEDED = "XGBoost %s has no tracker that can be given a port. Install XGBoost 2.1 or later (pip install xgboost-cpu)."


def train(arguments):
    need("numpy")
    xgboost = need("xgboost")
    cluster = Cluster()
    cluster.check_distributed("Distributed XGBoost (xgboost_dist)")
    try:
        from xgboost.collective import CommunicatorContext
        from xgboost.tracker import RabitTracker
        if not hasattr(RabitTracker, "worker_args") or tuple(map(int, xgboost.__version__.split(".")[:2])) < (2, 1):
            raise ImportError
    except ImportError:
        raise Failure(NEEDED % xgboost.__version__)
    rank = 0 if cluster.is_master else 1 + cluster.index
    count = 1 + cluster.count("worker")
    host, _, port = (cluster.hosts.get("master") or cluster.hosts["chief"])[0].rpartition(":")
    tracker = None
    if cluster.is_master:
        tracker = RabitTracker(n_workers=count, host_ip=socket.gethostbyname(host), port=int(port), sortby="task")
        tracker.start()
    with CommunicatorContext(dmlc_tracker_uri=host, dmlc_tracker_port=int(port), dmlc_task_id="%08d" % rank):
        info("Replica %d of %d has joined the others." % (rank + 1, count))
        _train(xgboost, arguments, rank, count)
    if tracker:
        tracker.wait_for()


def _train(xgboost, arguments, rank, count):
    with tempfile.TemporaryDirectory() as directory:
        share = (rank, count)
        training = Training(xgboost, arguments, class_count(arguments, None), share)
        learned = training.matrix(fetch(arguments.training_data_path, "training_data_path", directory, share),
                                  "training part")
        path = arguments.validation_data_path or arguments.training_data_path
        training.run(learned, training.matrix(fetch(path, "validation_data_path", directory, share), "validation part"))
        if rank == 0:
            training.save_metadata(arguments.training_data_path)
            training.save()
