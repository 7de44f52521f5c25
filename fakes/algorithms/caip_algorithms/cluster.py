"""The replicas of the job, of CLUSTER_SPEC, and the rules that the algorithms have for machines."""
import json
import os

from .report import Failure

GPU_TYPES = ("standard_gpu", "standard_p100", "standard_v100", "large_model_v100")


class Cluster:
    def __init__(self, text=None):
        text = os.environ.get("CLUSTER_SPEC", "") if text is None else text
        spec = json.loads(text) if text else {}
        self.hosts = spec.get("cluster", {})
        task = spec.get("task", {})
        self.role, self.index = task.get("type", "master"), int(task.get("index", 0))
        job = spec.get("job", {})
        self.job = json.loads(job) if isinstance(job, str) and job else job or {}

    @property
    def is_master(self):
        return self.role in ("master", "chief")

    def count(self, role):
        return len(self.hosts.get(role, []))

    def _has(self, key, value):
        return self.job.get(key) == value

    def check_single(self, name, gpus):
        """One replica. `gpus`: whether the algorithm uses one."""
        others = [role for role in ("worker", "ps", "evaluator") if self.count(role)]
        if others or self._has("scale_tier", "BASIC_TPU"):
            raise Failure("%s runs on one replica, but the job has %s. Use the scale tier BASIC, or CUSTOM with a master "
                          "alone." % (name, " and ".join(others) if others else "a TPU"))
        has_gpu = self._has("scale_tier", "BASIC_GPU") or self.job.get("master_type") in GPU_TYPES or \
            (self.job.get("master_config") or {}).get("accelerator_config")
        if has_gpu and not gpus:
            raise Failure("%s uses no GPU, but the master has one. Use a machine type without GPUs." % name)

    def check_distributed(self, name):
        if not self.count("worker"):
            raise Failure("%s needs a master and at least one worker. Use the scale tier CUSTOM with worker_type and "
                          "worker_count, or the image boosted_trees for one replica." % name)
        if self.count("ps"):
            raise Failure("%s uses no parameter servers. Set parameter_server_count to 0." % name)
