"""Three steps, each of which writes an object below the model's directory."""
import os
import sys

sys.path.insert(1, sys.path[0] + "/../restarts")

from console import record
from storage import folder

models = folder(os.environ["AIP_MODEL_DIR"])
for step in range(1, 4):
    models.put("step-%d" % step, {"step": step})
    record(step)
