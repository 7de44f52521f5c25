#!/usr/bin/env python3
"""Public optimizers on the functions of bench/tuning.cc, for comparison.

    python3 -m venv build/peers && build/peers/bin/pip install optuna scikit-optimize
    build/peers/bin/python bench/tuning_peers.py [--optimizer NAME] [--function NAME] [--seeds 1..20] [--trials 100]

prints a line of JSON for each run: the best value after 30, 40, 60 and 100 trials. Functions, noise and seeds are those of
tuning.cc; where there is noise, what counts is the true value of the trial that looked best.
"""
import argparse
import json
import math
import time
import warnings

STEPS = (30, 40, 60, 100)
MASK = (1 << 64) - 1


def normal(seed, trial):
    """The noise of a trial: the first normal number of base/random.h for this seed."""
    state = (seed * 1000003 + trial) & MASK

    def unit():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53

    u, v = 1.0 - unit(), unit()
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)


def branin(x):
    a, b = x["x1"], x["x2"]
    return ((b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


def hartmann(x, scales, centres):
    heights = (1.0, 1.2, 3.0, 3.2)
    point = [x[f"x{i + 1}"] for i in range(len(scales[0]))]
    return -sum(h * math.exp(-sum(a * (p - c) ** 2 for a, p, c in zip(row, point, centre)))
                for h, row, centre in zip(heights, scales, centres))


def hartmann6(x):
    return hartmann(x,
                    ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14),
                     (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14)),
                    ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
                     (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
                     (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
                     (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381)))


def hartmann3(x):
    return hartmann(x, ((3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35)),
                    ((0.3689, 0.1170, 0.2673), (0.4699, 0.4387, 0.7470),
                     (0.1091, 0.8732, 0.5547), (0.0381, 0.5743, 0.8828)))


def rosenbrock(x):
    point = [x[f"x{i}"] for i in range(1, 5)]
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(point, point[1:]))


def network(x):
    """Resembles the loss of a network: the best rate depends on the optimizer, the depth on the activation."""
    best_rate = {"sgd": -1.0, "momentum": -2.0, "adam": -3.0, "rmsprop": -3.5}[x["optimizer"]]
    floor = {"sgd": 0.30, "momentum": 0.12, "adam": 0.0, "rmsprop": 0.08}[x["optimizer"]]
    best_depth = {"relu": 9, "tanh": 4, "gelu": 12}[x["activation"]]
    slope = {"relu": 0.10, "tanh": 0.25, "gelu": 0.0}[x["activation"]]
    return (floor + slope + 0.15 * (math.log10(x["rate"]) - best_rate) ** 2
            + 0.01 * (x["depth"] - best_depth) ** 2 + 0.06 * abs(math.log2(x["width"]) - 7)
            + 0.5 * abs(x["dropout"] - 0.2))


def real(low, high, log=False):
    return ("real", low, high, log)


FUNCTIONS = {
    "branin": (branin, {"x1": real(-5, 10), "x2": real(0, 15)}, 0),
    "hartmann6": (hartmann6, {f"x{i}": real(0, 1) for i in range(1, 7)}, 0),
    "rosenbrock4_log": (rosenbrock, {f"x{i}": real(0.1, 30, True) for i in range(1, 5)}, 0),
    "mixed": (network, {
        "rate": real(1e-5, 1, True),
        "depth": ("integer", 1, 20),
        "width": ("set", [16, 32, 64, 128, 256, 512]),
        "dropout": ("set", [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        "optimizer": ("set", ["sgd", "momentum", "adam", "rmsprop"]),
        "activation": ("set", ["relu", "tanh", "gelu"]),
    }, 0),
    "hartmann3_noisy": (hartmann3, {f"x{i}": real(0, 1) for i in range(1, 4)}, 0.2),
}


class Optuna:
    """TPE with its defaults."""

    def __init__(self, space, seed):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = space
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))

    def ask(self):
        self.trial = self.study.ask()
        values = {}
        for name, spec in self.space.items():
            if spec[0] == "real":
                values[name] = self.trial.suggest_float(name, spec[1], spec[2], log=spec[3])
            elif spec[0] == "integer":
                values[name] = self.trial.suggest_int(name, spec[1], spec[2])
            else:
                values[name] = self.trial.suggest_categorical(name, spec[1])
        return values

    def tell(self, value):
        self.study.tell(self.trial, value)


class Skopt:
    """scikit-optimize's Gaussian process with expected improvement, else its defaults.

    Its default acquisition, gp_hedge, tries three a trial and takes three times as long.
    """

    def __init__(self, space, seed):
        import skopt
        from skopt.space import Categorical, Integer, Real
        dimensions = []
        for name, spec in space.items():
            if spec[0] == "real":
                prior = "log-uniform" if spec[3] else "uniform"
                dimensions.append(Real(spec[1], spec[2], prior=prior, name=name))
            elif spec[0] == "integer":
                dimensions.append(Integer(spec[1], spec[2], name=name))
            else:
                dimensions.append(Categorical(spec[1], name=name))
        self.names = list(space)
        self.optimizer = skopt.Optimizer(dimensions, acq_func="EI", random_state=seed)

    def ask(self):
        self.point = self.optimizer.ask()
        return dict(zip(self.names, self.point))

    def tell(self, value):
        self.optimizer.tell(self.point, float(value))


OPTIMIZERS = {"optuna_tpe": Optuna, "skopt_gp": Skopt}


def play(optimizer, function, seed, trials):
    call, space, noise = FUNCTIONS[function]
    peer = OPTIMIZERS[optimizer](space, seed)
    started = time.monotonic()
    seen, true, best = math.inf, math.inf, []
    for trial in range(1, trials + 1):
        value = call(peer.ask())
        observed = value + noise * normal(seed, trial)
        if observed < seen:
            seen, true = observed, value
        peer.tell(observed)
        if trial in STEPS:
            best.append(true)
    print(json.dumps({"optimizer": optimizer, "function": function, "seed": seed, "best": best,
                      "seconds": round(time.monotonic() - started, 2)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, action="append")
    parser.add_argument("--function", choices=FUNCTIONS, action="append")
    parser.add_argument("--seeds", default="1..20")
    parser.add_argument("--trials", type=int, default=STEPS[-1])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    first, last = map(int, arguments.seeds.split(".."))
    for seed in range(first, last + 1):
        for function in arguments.function or FUNCTIONS:
            for optimizer in arguments.optimizer or OPTIMIZERS:
                play(optimizer, function, seed, arguments.trials)


if __name__ == "__main__":
    main()
