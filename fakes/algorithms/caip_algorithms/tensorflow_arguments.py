"""The arguments of the algorithms that use TensorFlow: linear learner, wide and deep, TabNet."""
from .arguments import DATA, REQUIRED, SPLITS, Argument, check_paths

OPTIMIZERS = ("ftrl", "adam", "sgd")
MODELS = ("classification", "regression")
REGULARIZATIONS = ("l1_regularization_strength", "l2_regularization_strength", "l2_shrinkage_regularization_strength")
SHORT = {"l1_regularization_strength": "l1_reg_strength", "l2_regularization_strength": "l2_reg_strength",
         "l2_shrinkage_regularization_strength": "l2_shrinkage_reg_strength"}


def _units(text):
    units = text.replace(",", " ").split()
    if not units or not all(one.isdigit() and int(one) for one in units):
        raise ValueError("Use the sizes of the layers, separated by commas: 64,32")
    return [int(one) for one in units]


def _optimizer(prefix):
    names = {name: ("%s%s" % (prefix, SHORT[name]),) for name in REGULARIZATIONS}
    return [Argument(prefix + "optimizer_type", str, "ftrl", choices=OPTIMIZERS)] + [
        Argument(prefix + name, float, 0.0, least=0, aliases=names[name]) for name in REGULARIZATIONS] + [
        Argument(prefix + "beta_1", float, 0.9, least=0, most=1, open=")"),
        Argument(prefix + "beta_2", float, 0.999, least=0, most=1, open=")")]


STEPS = [
    Argument("model_type", str, REQUIRED, choices=MODELS),
    Argument("learning_rate", float, REQUIRED, least=0, open="("),
    Argument("max_steps", int, 400, least=1),
    Argument("batch_size", int, 100, least=1),
    Argument("eval_steps", int, 0, least=1),
    Argument("eval_frequency_secs", int, 600, least=1),
]
LINEAR = DATA + SPLITS + STEPS + _optimizer("")
WIDE_DEEP = LINEAR + _optimizer("dnn_") + [
    Argument("dnn_learning_rate", float, REQUIRED, least=0, open="("),
    Argument("hidden_units", _units, [30, 30, 30]),
    Argument("use_wide", bool, False),
    Argument("embed_categories", bool, False),
    Argument("dnn_dropout", float, 0.0, least=0, most=1, open=")"),
]
CLASSIFICATION_LOSSES = ("cross_entropy", "weighted_cross_entropy", "focal_loss")
REGRESSION_LOSSES = ("rmse", "mae", "mse")
TABNET = DATA + SPLITS + [one for one in STEPS if one.name != "eval_steps"] + [
    Argument("feature_dim", int, 64, least=1),
    Argument("feature_dim_ratio", float, 0.5, least=0, most=1, open="("),
    Argument("num_decision_steps", int, 6, least=1),
    Argument("relaxation_factor", float, 1.5, least=1),
    Argument("decay_every", float, 100.0, least=0, open="("),
    Argument("decay_rate", float, 0.95, least=0, most=1, open="("),
    Argument("gradient_thresh", float, 2000.0, least=0, open="("),
    Argument("sparsity_loss_weight", float, 1e-5, least=0),
    Argument("batch_momentum", float, 0.95, least=0, most=1, open=")"),
    Argument("batch_size_ratio", float, 0.25, least=0, most=1, open="("),
    Argument("num_transformer_layers", int, 4, least=1),
    Argument("num_transformer_layers_ratio", float, 0.25, least=0, most=1),
    Argument("class_weight", float, 1.0, least=0, open="("),
    Argument("loss_function_type", str, "", choices=CLASSIFICATION_LOSSES + REGRESSION_LOSSES),
    Argument("alpha_focal_loss", float, 0.25, least=0, most=1),
    Argument("gamma_focal_loss", float, 2.0, least=0),
    Argument("large_category_dim", int, 1, least=1),
    Argument("large_category_thresh", int, 300, least=1),
    Argument("yeo_johnson_transform", bool, True),
]


def _check_optimizer(arguments, prefix):
    kind = getattr(arguments, prefix + "optimizer_type")
    rules = [(name, "ftrl") for name in REGULARIZATIONS] + [("beta_1", "adam"), ("beta_2", "adam")]
    return ["--%s%s has no use with --%soptimizer_type=%s. Remove it, or use %s." % (prefix, name, prefix, kind, wanted)
            for name, wanted in rules if prefix + name in arguments.given and kind != wanted]


def check_linear(arguments):
    return check_paths(arguments) + _check_optimizer(arguments, "")


def check_wide_deep(arguments):
    return check_linear(arguments) + _check_optimizer(arguments, "dnn_")


def check_tabnet(arguments):
    wrong = check_paths(arguments)
    losses = CLASSIFICATION_LOSSES if arguments.model_type == "classification" else REGRESSION_LOSSES
    if arguments.loss_function_type and arguments.loss_function_type not in losses:
        wrong.append("--loss_function_type=%s is not valid with --model_type=%s. Use %s or %s." % (
            arguments.loss_function_type, arguments.model_type, ", ".join(losses[:-1]), losses[-1]))
    return wrong
