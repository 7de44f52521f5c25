"""The module that every replica runs. It reads its role from TF_CONFIG."""
import argparse
import logging
import sys

from trainer import chief, cluster, data, evaluator, parameter_server, worker
from trainer.checkpoint import Checkpoints, Export
from trainer.model import Model


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1, not %s" % text)
    return number


def parse(arguments):
    """All replicas get the same flags. The last of a repeated flag counts."""
    parser = argparse.ArgumentParser(prog="trainer.task", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--job-dir", required=True, help="gs:// or local folder for checkpoints/, eval/, model/")
    add("--data", required=True, help="gs:// or local path of digits.csv.gz")
    add("--epochs", type=_positive, default=16)
    add("--steps", type=_positive, help="steps in all, instead of --epochs")
    add("--batch-size", type=_positive, default=32)
    add("--learning-rate", type=float, default=0.01)
    add("--hidden", type=_positive, default=32, help="units of the hidden layer")
    add("--checkpoint-every", type=_positive, default=100, help="steps from one to the next")
    add("--seed", type=int, default=0)
    add("--target-accuracy", type=float, help="the master fails below it")
    add("--poll-seconds", type=float, default=0.5, help="how often the evaluator looks")
    return parser.parse_args(arguments)


def main(arguments=None):
    # The service treats lines on stderr as errors.
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    options, here = parse(arguments), cluster.from_environment()
    if here.role == cluster.SERVER:
        parameter_server.run(here)
        return 0

    examples = data.load(options.data)
    train_examples, held_out = examples
    per_epoch = data.Batches(train_examples, options.batch_size, options.seed).per_epoch
    steps = options.steps or options.epochs * per_epoch
    model, export = Model(options.hidden), Export(options.job_dir)
    checkpoints = Checkpoints(options.job_dir, {
        "hidden": options.hidden, "batch_size": options.batch_size, "seed": options.seed})

    def is_finished():
        return export.metrics(steps) is not None

    if here.role == cluster.WORKER:
        worker.run(here, model, train_examples, options, steps, is_finished)
    elif here.role == cluster.EVALUATOR:
        evaluator.run(model, held_out, options, checkpoints, is_finished)
    else:
        return chief.Chief(here, model, examples, options, steps, checkpoints, export).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
