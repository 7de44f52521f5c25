"""Three steps, each of which writes an object."""
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from console import flag, record
from storage import folder

job = folder(flag("job-dir"))
for step in range(1, 4):
    job.put("step-%d" % step, {"step": step})
    record(step)
