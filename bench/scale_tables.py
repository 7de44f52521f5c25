"""An emulator that bench/scale.py measures: its memory, threads, files and processes, and the tables about them."""
import http.client
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time

ROUNDS = 30
KIB, MIB = 1024, 1 << 20
TABLES = {"measured": [], "costs": []}  # the lines that were printed, by the marks around them in docs/scale.md


class Emulator:
    """An emulator on a state directory, started in the foreground."""

    def __init__(self, caip, state, flags=()):
        self.caip, self.state = caip, state
        self.process = subprocess.Popen([caip, "serve", "--state", str(state), "--port", "0", "--access-log", "off", *flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.port, said = None, ""
        for line in self.process.stderr:
            said += line
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split()[0].strip("/.,"))
                break
        if self.port is None:
            sys.exit("the emulator did not start: " + said)
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.threads = self.usage()["threads"]  # without a connection

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(self, method, path, body=None, connection=None):
        used = connection or self.connect()
        used.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = used.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text or b"{}")

    def command(self, *words):
        """Runs caip as a client of this emulator. Returns its output."""
        done = subprocess.run([self.caip, *words, "--project", "demo", "--state", str(self.state)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"caip {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def usage(self):
        """Resident bytes, threads and open files of the emulator's process."""
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return {"memory": int(status["VmRSS"].split()[0]) * KIB, "threads": int(status["Threads"]), "files": files}

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)


def descendants(process):
    """The processes below a process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
    found, left = [], [process]
    while left:
        above = left.pop()
        below = [each for each, parent in parents.items() if parent == above]
        found += below
        left += below
    return found


def memory_of(processes):
    """Their memory, where each shared page counts in parts (Pss)."""
    total = 0
    for process in processes:
        try:
            lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))
    return total


def disk_of(folder):
    return sum(512 * path.lstat().st_blocks for path in folder.rglob("*") if not path.is_dir())


def show(table, line):
    """Prints a line of a table, and keeps it for write_page."""
    print(line, flush=True)
    TABLES[table].append(line)


def write_page(page):
    """Replaces the tables of a page by those that were printed."""
    text = page.read_text()
    for name, lines in TABLES.items():
        begin, end = text.index(f"<!-- {name} -->\n") + len(f"<!-- {name} -->\n"), text.index(f"<!-- end of {name} -->")
        text = text[:begin] + "\n" + "\n".join(lines) + "\n\n" + text[end:]
    page.write_text(text)


def row(name, result, emulator=None):
    used = emulator.usage() if emulator else None
    end = f"{used['memory'] / MIB:.0f} MiB | {used['threads']} | {used['files']}" if used else "| |"
    show("measured", f"| {name} | {result} | {end} |")


def seconds_text(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"


def each_text(seconds, count):
    return f"{seconds_text(seconds)}, {1e3 * seconds / count:.2f} ms each"


def timed(action):
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def rounds_text(action, rounds=ROUNDS):
    """The median and the longest time of an action."""
    taken = [timed(action)[0] for _ in range(rounds)]
    return f"median {seconds_text(statistics.median(taken))}, longest {seconds_text(max(taken))}"


def two_digits(number):
    """An estimate, with no more digits than it deserves."""
    return int(float(f"{number:.2g}"))


class Costs:
    """What one more thing costs, and how many the host allows: the rows of the second table."""

    def __init__(self):
        self.rows = []

    def add(self, thing, count, before, after, outside="", limits=()):
        cost = {name: (after[name] - before[name]) / count for name in before}
        memory = next(int(line.split()[1]) * KIB for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
                      if line.startswith("MemTotal:"))
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        threads = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        bounds = [("memory", memory / max(cost["memory"], 1)), *limits]
        bounds += [("open files", files / cost["files"])] if cost["files"] >= 0.1 else []
        bounds += [("threads", threads / cost["threads"])] if cost["threads"] >= 0.1 else []
        bound, most = min(bounds, key=lambda each: each[1])
        self.rows.append(f"| {thing} | {cost['memory'] / KIB:.1f} KiB | {cost['threads']:.1f} | {cost['files']:.1f} | {outside} | "
                         f"{two_digits(most):,}: {bound} |")

    def report(self):
        print()
        show("costs", "| one more | memory of the emulator | its threads | its open files | outside of it | this host allows |")
        show("costs", "|---|---|---|---|---|---|")
        for line in self.rows:
            show("costs", line)
