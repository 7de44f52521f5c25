"""Runs the algorithm of an image: `train.py boosted_trees --training_data_path=gs://... --job-dir=gs://...`."""
import sys
from functools import partial

from .arguments import ArgumentFaults, parse
from .report import Failure, info

BROKEN_ARGUMENTS = 2  # as argparse exits

ABSENT = {
    "image_object_detection": "Object detection needs pretrained weights of the service, which are not public.",
    "bert": "BERT needs pretrained weights, which this emulator does not bring.",
    "ncf": "Neural collaborative filtering is not emulated: its image is not known.",
}


def _algorithm(image):
    """The table of arguments, the rules between them and the trainer of an image."""
    name = image.replace("_gpu", "_cpu")
    if name == "boosted_trees":
        from . import xgboost_arguments as settings
        from .xgboost_trainer import train
        return settings.SINGLE, settings.check_single, train
    if name == "xgboost_dist":
        from . import xgboost_arguments as settings
        from .xgboost_distributed import train
        return settings.DISTRIBUTED, settings.check_distributed, train
    if name == "image_classification":
        from . import image_arguments
        from .images import train
        return image_arguments.TABLE, image_arguments.check, train
    if name in ("linear_learner_cpu", "wide_deep_learner_cpu", "tab_net"):
        return _of_tensorflow(name)
    raise Failure("%s The job cannot run here." % ABSENT.get(
        image, "The built-in algorithm '%s' is not emulated." % image))


def _of_tensorflow(name):
    from . import tensorflow_arguments as settings
    from .linear_models import Linear, WideDeep
    from .tabnet import TabNet, transform
    from .tensorflow_trainer import train
    if name == "linear_learner_cpu":
        return settings.LINEAR, settings.check_linear, partial(train, "Linear learner", name, Linear)
    if name == "wide_deep_learner_cpu":
        return settings.WIDE_DEEP, settings.check_wide_deep, partial(train, "Wide and deep", name, WideDeep)

    def train_tabnet(arguments):
        train("TabNet", name, TabNet, arguments, transform if arguments.yeo_johnson_transform else None)
    return settings.TABNET, settings.check_tabnet, train_tabnet


def run(image, words):
    """The exit code of the job."""
    try:
        from .libraries import need
        need("numpy")
        if image == "predict":
            from .predict import predict
            predict(words)
            return 0
        table, check, train = _algorithm(image)
        arguments = parse(words, table, check)
        info("Settings: %s" % arguments.shown())
        train(arguments)
        info("The job is done.")
        return 0
    except ArgumentFaults as faults:
        for fault in faults.faults:
            print(fault, file=sys.stderr, flush=True)
        return BROKEN_ARGUMENTS
    except Failure as failure:
        print("ERROR: (caip.local.predict) %s" % failure if image == "predict" else failure, file=sys.stderr, flush=True)
        return 1


def main():
    sys.exit(run(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    main()
