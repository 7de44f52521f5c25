"""The evaluator tests each complete checkpoint on the held-out digits until the model exists."""
import json
import logging
import re
import time

from trainer import storage
from trainer.checkpoint import Broken


def run(model, held_out, options, checkpoints, is_finished):
    """Writes `<job-dir>/eval/<step>.json`, and skips checkpoints that a predecessor evaluated."""
    root = options.job_dir.rstrip("/") + "/eval/"
    judged = _judged(root)
    logging.info("evaluator begins; judged before: %s", sorted(judged) or "none")
    while True:
        # Read first, so that the list below has every checkpoint that was saved before the end.
        finished = is_finished()
        for step in checkpoints.steps():
            if step not in judged and _judge(step, model, held_out, root, checkpoints):
                judged.add(step)
        if finished:
            logging.info("training is over, %d checkpoints judged", len(judged))
            return
        time.sleep(options.poll_seconds)


def _judged(root):
    found = (re.match(r"(\d+)\.json$", url[len(root):]) for url in storage.list_all(root))
    return {int(match.group(1)) for match in found if match}


def _judge(step, model, held_out, root, checkpoints):
    try:
        values = list(checkpoints.read(step).vectors.values)
    except Broken as error:  # the chief keeps only the last few, and may be deleting this one
        logging.info("checkpoint %d is passed over: %s", step, error)
        return False
    result = {"step": step, "accuracy": model.accuracy(values, held_out)}
    storage.write("%s%d.json" % (root, step), (json.dumps(result) + "\n").encode("utf-8"))
    logging.info(json.dumps(result))
    return True
