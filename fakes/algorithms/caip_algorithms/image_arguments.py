"""The arguments of image classification."""
from .arguments import REQUIRED, Argument

DECAYS = ("constant", "exponential", "cosine", "polynomial", "stepwise")
OPTIMIZERS = ("momentum", "adam", "rmsprop", "sgd")


def _pairs(text):
    """name=number pairs, separated by commas."""
    try:
        return {name.strip(): float(value) for name, _, value in (one.partition("=") for one in text.split(","))}
    except ValueError:
        raise ValueError("Use pairs of name and number, separated by commas: momentum=0.9")


TABLE = [
    Argument("training_data_path", str, REQUIRED),
    Argument("validation_data_path", str, REQUIRED),
    Argument("job_dir", str, REQUIRED, aliases=("job-dir",)),
    Argument("num_classes", int, REQUIRED, least=2),
    Argument("max_steps", int, REQUIRED, least=1),
    Argument("train_batch_size", int, 32, least=1),
    Argument("num_eval_images", int, 0, least=0),
    Argument("model_type", str, "efficientnet-b0"),
    Argument("label_smoothing", float, 0.0, least=0, most=1, open=")"),
    Argument("weight_decay", float, 0.0, least=0),
    Argument("warmup_learning_rate", float, 0.0, least=0),
    Argument("warmup_steps", int, 0, least=0),
    Argument("initial_learning_rate", float, 0.01, least=0, open="("),
    Argument("learning_rate_decay_type", str, "cosine", choices=DECAYS),
    Argument("optimizer_type", str, "momentum", choices=OPTIMIZERS),
    Argument("optimizer_arguments", _pairs, {}),
]
KNOWN = {"momentum": ("momentum",), "adam": ("beta_1", "beta_2", "epsilon"), "sgd": (),
         "rmsprop": ("momentum", "rho", "epsilon")}


def check(arguments):
    strange = sorted(set(arguments.optimizer_arguments) - set(KNOWN[arguments.optimizer_type]))
    return ["--optimizer_arguments has '%s', which --optimizer_type=%s does not take. Use %s." % (
        name, arguments.optimizer_type, ", ".join(KNOWN[arguments.optimizer_type]) or "none") for name in strange]
