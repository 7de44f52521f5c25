"""Each replica does a step and writes an object with its name; all but the master then wait.

Each prints whether its local disk has a file of an earlier start.
"""
import os
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from cluster import Cluster, wait_to_be_stopped
from console import flag, record, say
from storage import folder

cluster = Cluster()
name = "%s-%d" % (cluster.role, cluster.index)
scratch = os.environ["HOME"] + "/scratch"
if os.path.exists(scratch):
    say(name + " finds its scratch file")
else:
    say(name + " finds an empty disk")
    open(scratch, "w").close()
record(1)
folder(flag("job-dir")).put(name, {})
if cluster.role != "master":
    wait_to_be_stopped()
