"""Splits the time of a submit into processes, waiting, files and state. submit_latency.py prints the table.

The kernel adds up what a command and all its descendants have used, if each parent waits for its children, as
caip, its emulator and its launcher do. So nothing slows the measured command down.
"""

import pathlib
import resource
import statistics

FILES = {"reads": "syscr", "writes": "syscw", "written": "write_bytes"}  # names in /proc/PID/io
HEADINGS = ("end", "processor", "waiting", "state", "started", "waits", "reads", "writes", "KiB")
EXPLANATION = """\
  processor: time that the command and all its descendants computed, on all processors together
  waiting:   the rest of the time to the end; less than 0 if more was computed at the same time
  state:     part of the time to the end that it takes to keep the state on this file system instead of in memory
  started:   processes and threads (least of the rounds, because those of other programs count, too)
  waits:     how often one of them waited
  reads, writes: system calls that read or write files, pipes or sockets; KiB: written to files on disk"""


def used():
    """What the commands of this script that have ended have used so far, with all their descendants."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    io = dict(line.split(": ") for line in pathlib.Path("/proc/self/io").read_text().splitlines())
    forks = next(line for line in pathlib.Path("/proc/stat").read_text().splitlines() if line.startswith("processes "))
    return {"processor": ended.ru_utime + ended.ru_stime, "waits": ended.ru_nvcsw, "started": int(forks.split()[1]),
            **{name: int(io[field]) for name, field in FILES.items()}}


class Split:
    """Measures what each call of a case uses."""

    def __init__(self):
        self.rows = {}  # {name of the case: [used]}

    def measure(self, name, case):
        before = used()
        first, end = case()
        after = used()
        row = {key: value - before[key] for key, value in after.items()}
        self.rows.setdefault(name, []).append({"end": end, **row})
        return first, end

    def cells(self, name, in_memory):
        """The figures of a case; `in_memory`: the case whose state is in memory, if there is one."""

        def median(key, case=name):
            return statistics.median(row[key] for row in self.rows[case])

        state = f"{(median('end') - median('end', in_memory)) * 1e3:.1f}" if in_memory in self.rows else "-"
        started = min(row["started"] for row in self.rows[name])
        return [f"{median('end') * 1e3:.1f}", f"{median('processor') * 1e3:.1f}",
                f"{statistics.median(row['end'] - row['processor'] for row in self.rows[name]) * 1e3:.1f}",
                state, *(f"{value:.0f}" for value in (started, median("waits"), median("reads"), median("writes"),
                                                      median("written") / 1024))]

    def report(self, cases):
        """Prints a row for each of {name of a case: name of the same case with its state in memory}."""
        print("where the time goes (ms; medians)")
        print(f"{'':26}" + "".join(f"{heading:>10}" for heading in HEADINGS))
        for name, in_memory in cases.items():
            print(f"{name:26}" + "".join(f"{cell:>10}" for cell in self.cells(name, in_memory)))
        print(EXPLANATION)
