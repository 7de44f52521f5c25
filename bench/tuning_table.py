#!/usr/bin/env python3
"""Tables of what optimizers found: medians and quartiles over seeds, from the lines of bench_tuning and tuning_peers.py.

    bench_tuning bayesian >runs.jsonl; bench_tuning random >>runs.jsonl; tuning_peers.py >>runs.jsonl
    python3 bench/tuning_table.py runs.jsonl
"""
import json
import statistics
import sys

STEPS = {30: 0, 60: 2, 100: 3}


def read(files):
    runs = {}
    for name in files:
        for line in open(name):
            run = json.loads(line)
            by_seed = runs.setdefault(run["function"], {}).setdefault(run["optimizer"], {})
            by_seed[run["seed"]] = run["best"]
    return runs


def cell(bests, at):
    values = sorted(best[at] for best in bests if len(best) > at)
    if len(values) < 2:
        return "-"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    fewer = f", {len(values)} seeds" if len(values) < len(bests) else ""
    return f"{middle:.4g} ({low:.4g} to {high:.4g}{fewer})"


def main():
    print("| function | optimizer | seeds | after 30 trials | after 60 | after 100 |")
    print("|---|---|---|---|---|---|")
    for function, optimizers in read(sys.argv[1:]).items():
        for optimizer, seeds in optimizers.items():
            cells = " | ".join(cell(seeds.values(), at) for at in STEPS.values())
            print(f"| {function} | {optimizer} | {len(seeds)} | {cells} |")


if __name__ == "__main__":
    main()
