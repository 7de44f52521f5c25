"""Small trainers for tests of the explorer whose weakness is in the network: in messages between replicas, or in
answers of storage."""
import trainers

# A master and a worker exchange messages, and both fail if their connection does.
DIES_WITH_ITS_CONNECTION = f"""
import sys
sys.path.insert(1, {str(trainers.ROOT / "scenarios" / "trainers" / "restarts")!r})
from cluster import Cluster, accept
from console import record
cluster = Cluster()
if cluster.role == "master":
    worker = accept(cluster.listen())
    for step in range(1, 7):
        worker.receive()
        record(step)
        worker.send(step=step)
else:
    master = cluster.connect("master")
    while True:
        master.send(step=0)
        master.receive()
"""

# A master and a worker exchange messages, and the master gives up when the worker is silent.
GIVES_UP_A_SILENT_WORKER = f"""
import sys
sys.path.insert(1, {str(trainers.ROOT / "scenarios" / "trainers" / "restarts")!r})
from cluster import Cluster, Peer
from console import record
cluster = Cluster()
if cluster.role == "master":
    connection = cluster.listen().accept()[0]
    connection.settimeout(2)  # a hang lasts for 3 seconds
    worker = Peer(connection)
    for step in range(1, 7):
        worker.receive()
        record(step)
        worker.send(step=step)
else:
    master = cluster.connect("master")
    for step in range(1, 7):
        master.send(step=0)
        master.receive()
        record(step)
"""

# It tries again after an error, as client libraries do, but takes the failure of a second creation for
# another trainer. Only a change whose answer is lost shows this.
FEARS_A_LOST_ANSWER = """
import urllib.error, urllib.request
def create(name, data):
    url = (os.environ["STORAGE_EMULATOR_HOST"] +
           "/upload/storage/v1/b/job/o?uploadType=media&ifGenerationMatch=0&name=out/" + name)
    for attempt in range(5):
        try:
            return urllib.request.urlopen(urllib.request.Request(url, data, method="POST")).read()
        except urllib.error.HTTPError as error:
            if error.code == 412:
                raise SystemExit("another trainer has made " + name)
            time.sleep(0.01)
def again(do, *args):
    for attempt in range(5):
        try:
            return do(*args)
        except urllib.error.HTTPError:
            time.sleep(0.01)
names = again(job.list, "ckpt-")
step = max((int(name[5:]) for name in names), default=0)
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        create("ckpt-%02d" % step, b"{}")
"""

# It writes again after an error, but lists and reads only once. It reads each checkpoint after it has written it.
DIES_AT_ITS_FIRST_503 = """
import urllib.request
def ask(path):
    with urllib.request.urlopen(os.environ["STORAGE_EMULATOR_HOST"] + "/storage/v1/b/job/o" + path) as answer:
        return json.load(answer)
has_checkpoint = "items" in ask("?prefix=out/ckpt")
step = ask("/out%2Fckpt?alt=media")["step"] if has_checkpoint else 0
while step < 4:
    step += 1
    record(step)
    if step % 2 == 0:
        job.put("ckpt", {"step": step})
        ask("/out%2Fckpt?alt=media")
"""

# It gives up when an answer takes two seconds.
GIVES_UP_SOON = """
import urllib.request
def create(name, data):
    url = (os.environ["STORAGE_EMULATOR_HOST"] +
           "/upload/storage/v1/b/job/o?uploadType=media&name=out/" + name)
    urllib.request.urlopen(urllib.request.Request(url, data, method="POST"), timeout=2).read()
step = max((int(name[5:]) for name in job.list("ckpt-")), default=0)
while step < 4:
    step += 1
    record(step)
    if step % 2 == 0:
        create("ckpt-%02d" % step, b"{}")
"""
