"""Each replica writes an object of its name. The first one ends when it sees those of all others."""
import json
import os
import sys
import time

sys.path.insert(1, sys.path[0] + "/../restarts")

from cluster import wait_to_be_stopped
from console import record
from storage import folder

spec = json.loads(os.environ["CLUSTER_SPEC"])
names = ["%s-%d" % (pool, index) for pool, hosts in spec["cluster"].items() for index in range(len(hosts))]
mine = "%s-%d" % (spec["task"]["type"], spec["task"]["index"])
output = folder(os.environ["AIP_MODEL_DIR"])
record(1)  # before the object, because the first replica may end the job as soon as it sees it
output.put(mine, {"job": json.loads(os.environ["CLOUD_ML_JOB"])["job_args"]})
if mine != "workerpool0-0":
    wait_to_be_stopped()
while set(output.list("workerpool")) != set(names):
    time.sleep(0.02)
record(2)
