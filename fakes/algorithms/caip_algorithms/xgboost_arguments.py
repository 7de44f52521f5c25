"""The arguments of the two XGBoost algorithms, and the parameters of the library that they become."""
from .arguments import DATA, SPLITS, Argument, check_paths

REGRESSION = ("reg:linear", "reg:squarederror", "reg:logistic", "reg:gamma", "reg:tweedie")
OBJECTIVES = REGRESSION + ("binary:logistic", "binary:logitraw", "multi:softmax", "multi:softprob")
TREE_METHODS = ("auto", "exact", "approx", "hist", "gpu_exact", "gpu_hist")
METRICS = ("rmse", "mae", "logloss", "error", "auc", "mlogloss", "merror", "gamma-nloglik", "gamma-deviance",
           "rmsle", "mape", "aucpr")


def _metrics(text):
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or any(name not in METRICS for name in names):
        raise ValueError("Use names of metrics, separated by commas: %s" % ", ".join(METRICS))
    return names


BOOSTER = [
    Argument("objective", str, "reg:linear", choices=OBJECTIVES),
    Argument("booster", str, "gbtree", choices=("gbtree", "gblinear", "dart")),
    Argument("num_class", int, 0, least=2),
    Argument("num_boost_round", int, 10, least=1),
    Argument("max_depth", int, 6, least=0),
    Argument("eta", float, 0.3, least=0, most=1),
    Argument("gamma", float, 0.0, least=0),
    Argument("min_child_weight", float, 1.0, least=0),
    Argument("max_delta_step", float, 0.0, least=0),
    Argument("subsample", float, 1.0, least=0, most=1, open="("),
    Argument("colsample_bytree", float, 1.0, least=0, most=1, open="("),
    Argument("colsample_bylevel", float, 1.0, least=0, most=1, open="("),
    Argument("lambda", float, 1.0, least=0),
    Argument("alpha", float, 0.0, least=0),
    Argument("tree_method", str, "auto", choices=TREE_METHODS),
    Argument("scale_pos_weight", float, 1.0, least=0),
    Argument("base_score", float, 0.5),
    Argument("refresh_leaf", int, 1, least=0, most=1),
    Argument("updater", str, "grow_colmaker,prune"),
    Argument("process_type", str, "default", choices=("default", "update")),
    Argument("grow_policy", str, "depthwise", choices=("depthwise", "lossguide")),
    Argument("max_leaves", int, 0, least=0),
    Argument("max_bin", int, 256, least=2),
    Argument("csv_weight", int, 0, least=0, most=1),
    Argument("sample_type", str, "uniform", choices=("uniform", "weighted")),
    Argument("normalize_type", str, "tree", choices=("tree", "forest")),
    Argument("rate_drop", float, 0.0, least=0, most=1),
    Argument("one_drop", int, 0, least=0, most=1),
    Argument("skip_drop", float, 0.0, least=0, most=1),
    Argument("eval_metric", _metrics, None),
    Argument("early_stopping_rounds", int, 0, least=0),
]
SINGLE = DATA + SPLITS + BOOSTER
DISTRIBUTED = [one for one in DATA if one.name != "test_data_path"] + BOOSTER

_OF_DART = ("sample_type", "normalize_type", "rate_drop", "one_drop", "skip_drop")
_PASSED = ("objective", "booster", "max_depth", "eta", "gamma", "min_child_weight", "max_delta_step", "subsample",
           "colsample_bytree", "colsample_bylevel", "lambda", "alpha", "tree_method", "scale_pos_weight", "base_score",
           "refresh_leaf", "updater", "process_type", "grow_policy", "max_leaves", "max_bin") + _OF_DART
_OF_TREES = ("max_depth", "gamma", "min_child_weight", "max_delta_step", "subsample", "colsample_bytree",
             "colsample_bylevel", "tree_method", "refresh_leaf", "process_type", "grow_policy", "max_leaves", "max_bin")


def is_classification(arguments):
    return arguments.objective not in REGRESSION


def _check_booster(arguments):
    wrong = []
    is_multi = arguments.objective.startswith("multi:")
    if is_multi and not arguments.num_class:
        wrong.append("--num_class is missing. It is required with --objective=%s." % arguments.objective)
    if arguments.num_class and not is_multi:
        wrong.append("--num_class=%d has no use with --objective=%s. Remove it, or use multi:softmax." %
                     (arguments.num_class, arguments.objective))
    if arguments.tree_method == "gpu_exact":
        wrong.append("--tree_method=gpu_exact is not valid: today's XGBoost has no such method. Use gpu_hist.")
    if arguments.booster != "dart":
        wrong += ["--%s has no use with --booster=%s. Remove it, or use dart." % (name, arguments.booster)
                  for name in _OF_DART if name in arguments.given]
    return wrong


def check_single(arguments):
    return check_paths(arguments) + _check_booster(arguments)


def check_distributed(arguments):
    return _check_booster(arguments)


def parameters(arguments):
    """The parameters of xgboost.train: those that the job sets, so that the library's own defaults hold for others."""
    chosen = {"objective": arguments.objective, "booster": arguments.booster, "seed": 1}
    for name in _PASSED:
        if name in arguments.given:
            chosen[name] = getattr(arguments, name)
    if arguments.objective == "reg:linear":
        chosen["objective"] = "reg:squarederror"  # its name since 0.90
    if arguments.objective.startswith("multi:"):
        chosen["num_class"] = arguments.num_class
    if chosen.get("tree_method") == "gpu_hist":
        chosen.update(tree_method="hist", device="cuda")  # its name since 2.0
    if arguments.booster == "gblinear":
        chosen = {name: value for name, value in chosen.items() if name not in _OF_TREES}
    if arguments.eval_metric:
        chosen["eval_metric"] = arguments.eval_metric
    return chosen
