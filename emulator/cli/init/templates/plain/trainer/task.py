"""Fits a line by gradient descent. Continues from the newest checkpoint in --job-dir."""
import argparse
import json
import random

from trainer.checkpoints import Checkpoints

SLOPE, OFFSET = 3.0, -1.0  # of the line to find


def batch(step):
    """The points of a step: the same in each run, whatever was lost before."""
    numbers = random.Random(step)
    points = [numbers.uniform(-1, 1) for _ in range(32)]
    return [(x, SLOPE * x + OFFSET + numbers.gauss(0, 0.1)) for x in points]


def train_step(model, step, rate):
    """Changes the model, and returns the loss before the change."""
    points = batch(step)
    errors = [(x, model["slope"] * x + model["offset"] - y) for x, y in points]
    model["slope"] -= rate * sum(2 * x * error for x, error in errors) / len(errors)
    model["offset"] -= rate * sum(2 * error for _, error in errors) / len(errors)
    return sum(error * error for _, error in errors) / len(errors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--save-every", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0.2)
    args = parser.parse_args()
    checkpoints = Checkpoints(args.job_dir)
    done, saved = checkpoints.newest()
    model = json.loads(saved) if saved else {"slope": 0.0, "offset": 0.0}
    for step in range(done + 1, args.steps + 1):
        loss = train_step(model, step, args.rate)
        print(json.dumps({"step": step, "loss": loss}), flush=True)
        if step % args.save_every == 0 or step == args.steps:
            checkpoints.save(step, json.dumps(model).encode())
    checkpoints.write_result("result.json", json.dumps(model).encode())


if __name__ == "__main__":
    main()
