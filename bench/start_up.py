#!/usr/bin/env python3
"""Measures how long an installed caip takes to start: `caip --version`, `caip help`, and `caip jobs list` against a running server.

Compares them with `/bin/true` and `python3 -c ''` in the same run: rounds alternate between the commands, so that a busy machine
slows all of them. Prints the shortest time, the median and the ratio of the medians. The package is installed into a temporary
folder, unless --caip names a program.

    bench/start_up.py [--build build/release | --caip PROGRAM] [--rounds 100]
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def measured(argv, env):
    """Seconds until the command ended, and of the processor that it used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    code = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode
    seconds = time.perf_counter() - start
    if code != 0:
        sys.exit(f"{' '.join(argv)} ended with {code}")
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def installed(build, folder):
    """The program of an archive that is made and unpacked below the folder."""
    subprocess.run([ROOT / "scripts/package", "--build", build, "--out", folder, "tar"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "-xf", *folder.glob("*.tar.gz"), "-C", folder], check=True)
    return str(next(folder.glob("caip-*/bin/caip")))


def run(caip, rounds, env):
    """Times of each command by its words."""
    commands = {"/bin/true": ["/bin/true"], "python3 -c ''": ["/usr/bin/python3", "-c", ""],
                "caip --version": [caip, "--version"], "caip help": [caip, "help"],
                "caip jobs list": [caip, "jobs", "list", "--project", "demo"]}
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            times[name].append(measured(argv, env))
    return times


def report(times):
    """A table in Markdown."""
    medians = {name: statistics.median(wall for wall, _ in taken) for name, taken in times.items()}
    print("| command | shortest | median | processor, median | to `/bin/true` | to `python3 -c ''` |\n|---|---|---|---|---|---|")
    true, python = medians["/bin/true"], medians["python3 -c ''"]
    for name, taken in times.items():
        processor = statistics.median(used for _, used in taken)
        print(f"| `{name}` | {min(taken)[0] * 1e3:.1f} ms | {medians[name] * 1e3:.1f} ms | {processor * 1e3:.1f} ms | "
              f"{medians[name] / true:.1f} | {medians[name] / python:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--caip")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="caip-bench-") as folder:
        caip = options.caip or installed(options.build, pathlib.Path(folder))
        env = {**os.environ, "CAIP_STATE": f"{folder}/state"}
        server = subprocess.Popen([caip, "serve", "--port", "0"], env=env, stderr=subprocess.PIPE, text=True)
        try:
            for line in server.stderr:
                if "Ctrl-C ends it" in line:
                    break
            report(run(caip, options.rounds, env))
        finally:
            server.terminate()
            server.communicate()


if __name__ == "__main__":
    main()
