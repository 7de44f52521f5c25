"""Small trainers for tests of the explorer, each with one weakness, written into a folder of the test."""
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = f"""
import json, os, sys, time
sys.path.insert(1, {str(ROOT / "scenarios" / "trainers" / "restarts")!r})
from console import flag, record, say
from storage import folder
job = folder(flag("job-dir"))

def newest():
    return max((int(name[5:]) for name in job.list("ckpt-")), default=0)
"""

# Right whatever happens.
SOUND = """
step = newest()
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
"""

# Who takes over writes a mark until its first checkpoint, and ends when there is one already: only a
# second restart, within the first recovery, shows it.
FEARS_ITS_OWN_MARK = """
step = newest()
if step:
    if job.list("mark"):
        raise RuntimeError("somebody else is at work")
    job.put("mark", {})
while step < 12:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
        if job.list("mark"):
            job.delete("mark")
if job.list("mark"):
    job.delete("mark")
"""

# Its only checkpoint is gone for a moment.
DELETES_FIRST = """
step = job.get("ckpt")["step"] if job.list("ckpt") else 0
while step < 6:
    step += 1
    record(step)
    if job.list("ckpt"):
        job.delete("ckpt")
    job.put("ckpt", {"step": step})
"""

# Its history is ahead of its checkpoint: what is done again is in it twice, the first step too.
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

# Right, but does what is done already.
WRITES_AGAIN = """
step = newest()
while step < 6:
    step += 1
    record(step)
    if step % 3 == 0:
        job.put("ckpt-%02d" % step, {"step": step})
job.put("done", {"step": step})
"""

# Right: it counts its starts, in an object and in names.
COUNTS_STARTS = """
attempt = (job.get("attempt")["attempt"] if job.list("attempt") else 0) + 1
job.put("attempt", {"attempt": attempt})
job.put("starts/%d" % attempt, {})
""" + SOUND

# Each restart leaves a step out.
LEAVES_OUT = """
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

# The first of all restarts on this host fails: what is wrong is not in the job.
FAILS_ONCE_ON_A_HOST = """
taken = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taken")
if newest() and not os.path.exists(taken):
    open(taken, "w").close()
    raise RuntimeError("somebody has the file")
""" + SOUND

# A lock on the local disk: gone with the machine, there still when only the process has died.
LOCKS_ITS_DISK = """
lock = os.environ["HOME"] + "/lock"
if os.path.exists(lock):
    raise RuntimeError("the lock is held")
open(lock, "w").close()
""" + SOUND

# What it does behind a restart takes much room; in peace it takes none.
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


# Wide: the host may have other things to do.
LIMITS = "limits: {wall: 4m, no_progress: 2m}\n"


def write(folder, body, extra=LIMITS):
    """A scenario with that trainer; the path of its file."""
    (folder / "trainer.py").write_text(HEAD + textwrap.dedent(body))
    file = folder / "job.yaml"
    file.write_text("description: A job of the test.\n"
                    f"trainer: {{command: [/usr/bin/python3, {folder / 'trainer.py'}]}}\n" + extra)
    return file


def write_package(folder, body, name="trainer"):
    """The same as a package: `trainer.task`, with a file beside it."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(HEAD + textwrap.dedent(body))
    (folder / "setup.py").write_text("from setuptools import setup\n"
                                     f"setup(name='trainer', version='1', packages=['{name}'])\n")
    return package
