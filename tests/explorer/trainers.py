"""Small trainers for tests of the explorer, each with one weakness."""
import pathlib
import textwrap

import shared_modules

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = """
import json, os, sys, time
from console import flag, record, say
from storage import folder
job = folder(flag("job-dir"))

def newest():
    return max((int(name[5:]) for name in job.list("ckpt-")), default=0)
"""

# Survives every restart.
SOUND = """
step = newest()
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
"""

# After a restart it keeps a mark until its first checkpoint, and fails if it finds a mark. Only a second
# restart, during the first recovery, shows this.
FEARS_ITS_OWN_MARK = """
step = newest()
if step:
    if job.list("mark"):
        raise RuntimeError("another process is at work")
    job.put("mark", {})
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
        if job.list("mark"):
            job.delete("mark")
if job.list("mark"):
    job.delete("mark")
"""

# It fails at its third boot, wherever the first two ended after they had begun.
FEARS_ITS_THIRD_BOOT = """
boots = len(job.list("boots-"))
job.put("boots-%d" % boots, {})
if boots > 1:
    raise RuntimeError("this is the third boot")
step = newest()
while step < 9:
    step += 1
    record(step)
    job.put("new", {"step": step})
    job.rename("new", "ckpt-%02d" % step)
for name in job.list("boots-") + job.list("new"):
    job.delete(name)
"""

# It deletes its only checkpoint before it writes the next one.
DELETES_FIRST = """
step = job.get("ckpt")["step"] if job.list("ckpt") else 0
while step < 6:
    step += 1
    record(step)
    if job.list("ckpt"):
        job.delete("ckpt")
    job.put("ckpt", {"step": step})
"""

# It writes its history before its checkpoint, so repeated steps are in the history twice.
APPENDS_FIRST = """
history = job.get("history") if job.list("history") else []
step = newest()
while step < 6:
    step += 1
    history.append(step)
    job.put("history", history)
    record(step)
    job.put("ckpt-%02d" % step, {"step": step})
"""

# It appends a row for each step to a table in a directory. After a restart it appends those of the steps that it repeats.
APPENDS_ROWS_AGAIN = """
path = flag("job-dir") + "/metrics.csv"
os.makedirs(flag("job-dir"), exist_ok=True)
step = newest()
{begins}
table = open(path, "a")
while step < 6:
    step += 1
    record(step)
    table.write("%d,%.3f\\n" % (step, 1 / step))
    table.flush()
    if step % 3 == 0:
        job.put("new", {{"step": step}})
        job.rename("new", "ckpt-%02d" % step)
"""

# Correct: it cuts the table to the step from which it resumes.
APPENDS_ROWS_ONCE = APPENDS_ROWS_AGAIN.format(begins="""
rows = open(path).readlines() if os.path.exists(path) else []
if rows[step:]:
    with open(path + ".new", "w") as file:
        file.writelines(rows[:step])
    os.replace(path + ".new", path)
""")
APPENDS_ROWS_AGAIN = APPENDS_ROWS_AGAIN.format(begins="")

# Correct: its log holds what each start did.
APPENDS_TO_A_LOG = APPENDS_ROWS_AGAIN.replace("metrics.csv", "train.log").replace("%d,%.3f", "did step %d, loss %.3f")

# Correct: it keeps its last two checkpoints. It may leave one more if it is lost before it deletes one.
KEEPS_TWO = """
step = newest()
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
        for name in job.list("ckpt-")[:-2]:
            job.delete(name)
"""

# It knows only the checkpoints of its own process, so those of an earlier one are never deleted.
KEEPS_TWO_OF_EACH_START = KEEPS_TWO.replace("step = newest()", "step, kept = newest(), []").replace(
    'job.list("ckpt-")[:-2]', 'kept[:-1]').replace("job.delete(name)", """job.delete(name)
            kept.remove(name)
        kept.append("ckpt-%02d" % step)""")

# Correct, but it writes its result again.
WRITES_AGAIN = """
step = newest()
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
job.put("done", {"step": step})
"""

# Correct: it counts its starts, in an object and in names.
COUNTS_STARTS = """
attempt = (job.get("attempt")["attempt"] if job.list("attempt") else 0) + 1
job.put("attempt", {"attempt": attempt})
job.put("starts/%d" % attempt, {})
""" + SOUND

# It ignores its checkpoints from its third start on. All results are the same, so only a comparison of
# progress shows it.
FORGETS_AT_THE_SECOND_RESTART = """
starts = (job.get("starts")["n"] if job.list("starts") else 0) + 1
job.put("starts", {"n": starts})
step = newest() if starts < 3 else 0
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
"""

# Its model, which is binary, depends on the step at which it was started. No step shows it.
HIDES_ITS_DIFFERENCE = """
import urllib.request
begin = step = newest()
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
url = (os.environ["STORAGE_EMULATOR_HOST"] +
       "/upload/storage/v1/b/job/o?uploadType=media&name=out/model")
if not job.list("model"):
    urllib.request.urlopen(urllib.request.Request(url, bytes([255, begin, 254]), method="POST"))
"""

# The same with one save.
HIDES_ITS_DIFFERENCE_WITH_ONE_SAVE = HIDES_ITS_DIFFERENCE.replace("step % 3 == 0", "step == 6")

# Its model, which is binary, has other weights after any restart, also after one before its first step.
FORGETS_ITS_SEED = """
import pickle, random, urllib.request
begun = bool(job.list("started"))
if not begun:
    job.put("started", {})
""" + SOUND + """
url = (os.environ["STORAGE_EMULATOR_HOST"] +
       "/upload/storage/v1/b/job/o?uploadType=media&name=out/model")
random.seed(begun)
model = pickle.dumps([random.random() for _ in range(40)])
if not job.list("model"):
    urllib.request.urlopen(urllib.request.Request(url, model, method="POST"))
"""

# Correct: its model, which is binary, holds the number of starts.
COUNTS_STARTS_IN_ITS_MODEL = """
import pickle, urllib.request
attempt = (job.get("attempt")["attempt"] if job.list("attempt") else 0) + 1
job.put("attempt", {"attempt": attempt})
""" + SOUND + """
url = (os.environ["STORAGE_EMULATOR_HOST"] +
       "/upload/storage/v1/b/job/o?uploadType=media&name=out/model")
model = pickle.dumps({"starts": attempt, "w": [step / 7 for step in range(40)]})
if not job.list("model"):
    urllib.request.urlopen(urllib.request.Request(url, model, method="POST"))
"""

# It waits forever if it finds a checkpoint.
HANGS_AFTER_A_RESTART = """
if newest():
    time.sleep(600)
for step in range(1, 13):
    record(step)
    job.put("ckpt-%02d" % step, {"step": step})
"""

# Only the first five restarts on this host wait forever, so the fault is not in the job.
HANGS_FIVE_TIMES_ON_A_HOST = """
taken = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taken")
step = newest()
with open(taken, "a") as marks:
    hangs = step > 0 and marks.tell() < 5
    if hangs:
        marks.write("x")
if hangs:
    time.sleep(600)
while step < 12:
    step += 1
    record(step)
    job.put("ckpt-%02d" % step, {"step": step})
"""

# It takes a lock in storage, which a lost machine leaves there.
LEAVES_A_LOCK = """
import urllib.error, urllib.request
url = (os.environ["STORAGE_EMULATOR_HOST"] +
       "/upload/storage/v1/b/job/o?uploadType=media&name=out/lock&ifGenerationMatch=0")
try:
    urllib.request.urlopen(urllib.request.Request(url, b"mine", method="POST"))
except urllib.error.HTTPError as error:
    raise SystemExit("the lock is held: %d" % error.code)
record(1)
job.delete("lock")
"""

# At SIGTERM it saves the step that it has not done yet.
SAVES_TOO_MUCH_AT_NOTICE = """
import signal
step = newest()
def save(*_):
    job.put("ckpt-%02d" % (step + 1), {"step": step + 1})
    sys.exit(1)
signal.signal(signal.SIGTERM, save)
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
        time.sleep(0.05)
"""

# After SIGTERM it deletes its checkpoint, saves and leaves. A second SIGTERM may end it between the two.
FEARS_A_SECOND_NOTICE = """
import signal
if job.list("begun") and not job.list("ckpt"):
    raise SystemExit("the checkpoint is gone")
step = job.get("ckpt")["step"] if job.list("ckpt") else 0
asked = False
def stop(*_):
    global asked
    if asked and {is_impatient}:
        os._exit(1)
    asked = True
signal.signal(signal.SIGTERM, stop)
while step < 9:
    step += 1
    record(step)
    leaves = asked
    if leaves and job.list("ckpt"):
        job.delete("ckpt")
    if leaves or step % 3 == 0:
        job.put("ckpt", {{"step": step}})
        if not job.list("begun"):
            job.put("begun", {{}})
    if leaves:
        sys.exit(1)
"""

# It refuses to start beside a file that its first start left.
REFUSES_IN_A_SENTENCE = """
if newest() and not job.list("end"):
    raise SystemExit("the folder has %d checkpoints" % len(job.list("ckpt-")))
step = 0
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
job.put("end", {})
"""

# Its result has several lines, and counts a step twice after a restart.
ENDS_LINES = """
import urllib.request
begin = step = newest()
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
url = (os.environ["STORAGE_EMULATOR_HOST"] +
       "/upload/storage/v1/b/job/o?uploadType=media&name=out/model")
text = json.dumps({"examples": 160 + begin}, indent=1).encode()
if not job.list("model"):
    urllib.request.urlopen(urllib.request.Request(url, text, method="POST"))
"""

# Each restart skips a step.
SKIPS_A_STEP = """
step = newest() + (1 if newest() else 0)
total = sum(range(newest() + 1))
while step < 12:
    step += 1
    total += step
    record(step, total=total)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
if not job.list("result"):
    job.put("result", {"total": total, "steps": step})
"""

# Each restart reads its newest checkpoint, and skips the two steps after it.
READS_AND_SKIPS_STEPS = SOUND.replace("newest()", 'job.get("ckpt-%02d" % newest())["step"] + 2 if newest() else 0')

# It reads its newest checkpoint, and refuses it.
READS_AND_REFUSES = SOUND.replace("step = newest()", """step = newest()
if step:
    raise SystemExit("the checkpoint has %d keys" % len(job.get("ckpt-%02d" % step)))""")

# Only the first restart on this host fails, so the fault is not in the job.
FAILS_ONCE_ON_A_HOST = """
taken = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taken")
if newest() and not os.path.exists(taken):
    open(taken, "w").close()
    raise RuntimeError("the file is in use")
""" + SOUND

# A lock on the local disk. It is lost with the machine, but kept if only the process dies.
LOCKS_ITS_DISK = """
lock = os.environ["HOME"] + "/lock"
if os.path.exists(lock):
    raise RuntimeError("the lock is held")
open(lock, "w").close()
""" + SOUND

# A checkpoint on the local disk that a restart trusts, written in place.
CACHES_ON_ITS_DISK = """
cache = os.environ["HOME"] + "/last.json"
step = newest()
if os.path.exists(cache):
    step = json.load(open(cache))["step"]
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
        with open(cache, "w") as file:
            file.write(json.dumps({"step": step, "pad": "x" * 100}))
"""

# The same with a file that is whole under its name.
CACHES_WHOLE_FILES = CACHES_ON_ITS_DISK.replace('open(cache, "w")', 'open(cache + ".new", "w")') + """
        os.replace(cache + ".new", cache)
"""

# A save on the local disk that a restart does not expect to be unfinished, under a name of its own. {name} is that name.
SAVES_UNDER_RANDOM_NAMES = """
import uuid
cache = os.environ["HOME"] + "/cache"
os.makedirs(cache, exist_ok=True)
step = newest()
left = [name for name in os.listdir(cache) if name != "last"]
if step >= 6 and left:
    raise RuntimeError("another trainer is saving")
while step < 9:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {{"step": step}})
        new = cache + "/" + {name}
        with open(new, "w") as file:
            file.write(json.dumps({{"step": step}}))
        os.replace(new, cache + "/last")
"""

# It needs much space after a restart, and none in a baseline run.
HOARDS = """
step = newest()
if step:
    job.put("hoard", "x" * 12_000_000)
    job.delete("hoard")
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
"""


# Wide, because the host may be busy.
LIMITS = "limits: {wall: 4m, no_progress: 2m}\n"


def write(folder, body, extra=LIMITS):
    """Writes a scenario with that trainer, and returns the path of its file."""
    (folder / "trainer.py").write_text(HEAD + textwrap.dedent(body))
    shared_modules.copy_to(folder)
    file = folder / "job.yaml"
    file.write_text("description: A job of the test.\n"
                    f"trainer: {{command: [/usr/bin/python3, {folder / 'trainer.py'}]}}\n" + extra)
    return file


def write_package(folder, body, name="trainer"):
    """Writes the same trainer as a package, `trainer.task`, with a setup.py."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(HEAD + textwrap.dedent(body))
    shared_modules.copy_to(folder)
    (folder / "setup.py").write_text("from setuptools import setup\n"
                                     f"setup(name='trainer', version='1', packages=['{name}'],\n"
                                     f"      py_modules={shared_modules.NAMES})\n")
    return package
