#!/usr/bin/env python3
"""Storage against peers and limits, in one run.

Small objects: compares caip (full durability and relaxed), fake-gcs-server (Go; it keeps files, and calls fsync
twice for each upload, but never for a directory) and gcp-storage-emulator (Python; it keeps files, never syncs
them, and serves one connection at a time, so it gets one).
bench_storage_load drives each over 16 connections. All servers run at the same time and take turns, round by
round, so that other load on the machine affects them alike. The medians of the rounds count. The script also
prints the processor time that a server takes for each operation. That figure excludes the load generator,
which shares the processors with the server. The limit of reads is what a server reaches that sends the same
bytes from memory. The results depend on the file system of the temporary directory, which has the state and the files of all
servers. The script names it: name it, too, when you quote the results. On ext4 without a journal, a new file also costs more
while other programs delete many files; caip then makes its files elsewhere.
Large objects: compares downloads with nginx serving the same bytes, in turns, over 1 and over 4 connections,
and an upload, with checksums, with the slower of `openssl md5` and a synced write of the same bytes. Both
write new files, because some filesystems need as long again to free the blocks of an old one.

  bench/storage_peers.py [--build build/release] [--fake-gcs-server PATH] [--python-peer PATH]
                         [--rounds N] [--count N] [--list-count N] [--large-mib N]

A missing peer is named and left out. 0 for a count leaves its part out.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from file_system import file_system_of

NGINX = """
{user} daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; client_body_temp_path {work}/body; proxy_temp_path {work}/proxy;
  fastcgi_temp_path {work}/f; uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_served(url, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server of {url} ended with {process.returncode}")
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"{url} is not served within 30 s")


@contextlib.contextmanager
def serving(command, url):
    log = tempfile.TemporaryFile()
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        try:
            wait_until_served(url, process)
        except SystemExit:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace")[-2000:])
            raise
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def create_bucket(base, name):
    request = urllib.request.Request(base + "/storage/v1/b?project=bench", method="POST",
                                     data=json.dumps({"name": name}).encode(),
                                     headers={"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=10).close()


class Servers:
    """Starts each server in its own directory."""

    def __init__(self, options, work):
        self.options = options
        self.work = pathlib.Path(work)

    def caip(self, durability):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        state = self.work / f"caip-{durability}"
        command = [self.options.build / "caip", "serve", "--port", str(port), "--state", state]
        return serving([*command, "--durability", durability], base + "/storage/v1/b?project=bench")

    def go(self):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        command = [self.options.fake_gcs_server, "-scheme", "http", "-host", "127.0.0.1", "-port",
                   str(port), "-backend", "filesystem", "-filesystem-root", self.work / "go",
                   "-public-host", f"127.0.0.1:{port}", "-log-level", "error"]
        return serving(command, base + "/storage/v1/b?project=bench")

    def python(self):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        command = [self.options.python_peer, "-d", self.work / "python", "start", "--host",
                   "127.0.0.1", "--port", str(port)]
        return serving(command, base + "/storage/v1/b?project=bench")


OPERATIONS = ("put", "get", "rewrite", "list")


class Server:
    """A running server, and its measurements."""

    def __init__(self, name, url, pid):
        self.name = name
        self.base = url.split("/storage/v1", 1)[0]
        self.pid = pid
        self.rounds = {operation: [] for operation in OPERATIONS}
        for bucket in ("small", "many"):
            create_bucket(self.base, bucket)

    def load(self, options, bucket, operation, count):
        connections = "1" if self.name == "Python peer" else "16"  # it serves one connection at a time and drops others
        command = [options.build / "bench_storage_load", self.base, bucket, operation, "--connections", connections,
                   "--count", str(count), "--server-pid", str(self.pid), "--repeat", "10" if operation == "get" else "1"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            return json.loads(result.stdout)
        print(f"  {self.name}: {operation}: {result.stderr.strip()[:300]}", file=sys.stderr)
        return None

    def measure(self, options, bucket, operation, count):
        measured = self.load(options, bucket, operation, count)
        if measured:
            self.rounds[operation].append(measured)

    def median(self, operation, key):
        values = [measured[key] for measured in self.rounds[operation]]
        return statistics.median(values) if values else None


def row(name, cells, form):
    print(f"  {name:26}" + "".join(format(cell, form) if cell else f"{'-':>10}" for cell in cells))


class Limit(Server):
    """The server that only sends bytes."""

    def __init__(self, options):  # pylint: disable=super-init-not-called
        self.process = subprocess.Popen([options.build / "bench_storage_limit"], stdout=subprocess.PIPE, text=True)
        self.name, self.base, self.pid = "limit", self.process.stdout.readline().strip(), self.process.pid
        self.rounds = {operation: [] for operation in OPERATIONS}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def measure_small(options, servers):
    with contextlib.ExitStack() as stack:
        running = [Server("caip, relaxed", *stack.enter_context(servers.caip("relaxed"))),
                   Server("caip, full", *stack.enter_context(servers.caip("full")))]
        if options.fake_gcs_server:
            running.append(Server("Go peer", *stack.enter_context(servers.go())))
        else:
            print("fake-gcs-server is missing: no Go peer", file=sys.stderr)
        if options.python_peer:
            running.append(Server("Python peer", *stack.enter_context(servers.python())))
        else:
            print("gcp-storage-emulator is missing: no Python peer", file=sys.stderr)
        limit = stack.enter_context(Limit(options))
        for operation in ("put", "get", "rewrite"):
            for _ in range(options.rounds):
                if operation == "get":
                    limit.measure(options, "small", operation, options.count)
                for server in running:
                    slow = server.name == "Python peer"
                    server.measure(options, "small", operation, max(options.count // (20 if slow else 1), 20))
        listed = [server for server in running if server.name != "Python peer"]
        if options.list_count:
            for server in listed:
                server.load(options, "many", "put", options.list_count)
            for _ in range(options.rounds):
                for server in listed:
                    server.measure(options, "many", "list", options.list_count)
    print_small(options, running, limit, file_system_of(servers.work))


def print_small(options, running, limit, file_system):
    load = os.getloadavg()[0]
    print(f"4 KiB objects, 16 connections, medians of {options.rounds} rounds; load {load:.1f} on "
          f"{os.cpu_count()} processors; state on {file_system}\n  {'':26}" + "".join(f"{name:>10}" for name in OPERATIONS))
    for key, unit in (("per_second", "a second"), ("server_us", "server's us each"),
                      ("load_us", "generator's us each")):
        print(f"  {unit}")
        for server in [*running, limit]:
            row("  " + server.name, [server.median(name, key) for name in OPERATIONS], "10.0f")
    for ours in running[:2]:
        for peer in running[2:]:
            for key, words, up in (("per_second", "a second", True), ("server_us", "time", False)):
                pairs = [(ours.median(name, key), peer.median(name, key)) for name in OPERATIONS]
                row(f"{ours.name[6:]} x {peer.name}: {words}",
                    [(a / b if up else b / a) if a and b else None for a, b in pairs], "10.1f")


def seconds_of(commands):
    """The time to run all commands at once."""
    start = time.monotonic()
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                 for command in commands]
    if any([process.wait() for process in processes]):
        raise SystemExit(f"failed: {commands[0]}")
    return time.monotonic() - start


def measure_large(options, servers, work):
    blob = work / "large.bin"
    size = options.large_mib << 20
    with open(blob, "wb") as out:
        piece = os.urandom(1 << 20)
        for index in range(options.large_mib):
            out.write(index.to_bytes(8, "big") + piece[8:])
    print(f"\n{options.large_mib} MiB, MiB/s, medians of {options.rounds} rounds; load {os.getloadavg()[0]:.1f}; "
          f"state on {file_system_of(work)}")
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(servers.caip("full"))
        base = url.split("/storage/v1", 1)[0]
        create_bucket(base, "large")
        measure_upload(options, work, blob, base)
        peers = {"caip": f"{base}/storage/v1/b/large/o/large.bin?alt=media"}
        if shutil.which("nginx"):
            port = free_port()
            configuration = work / "nginx.conf"
            configuration.write_text(NGINX.format(user="user root;" if os.geteuid() == 0 else "", work=work, port=port, root=work))
            command = ["nginx", "-e", work / "nginx.log", "-c", configuration]
            stack.enter_context(serving(command, f"http://127.0.0.1:{port}/"))
            peers["nginx"] = f"http://127.0.0.1:{port}/large.bin"
        else:
            print("  nginx is not installed: no limit for downloads")
        for connections in (1, 4):
            measure_downloads(options, peers, connections)
    assert blob.stat().st_size == size


def remove_copies(work, base):
    (work / "copy.bin").unlink(missing_ok=True)
    with contextlib.suppress(urllib.error.HTTPError):  # the first time there is none
        url = f"{base}/storage/v1/b/large/o/large.bin"
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()
    os.sync()


def measure_upload(options, work, blob, base):
    target = f"{base}/upload/storage/v1/b/large/o?uploadType=media&name=large.bin"
    commands = {"openssl md5": ["openssl", "dgst", "-md5", blob],
                "dd, synced": ["dd", f"if={blob}", f"of={work / 'copy.bin'}", "bs=1M", "conv=fsync"],
                "caip, upload": ["curl", "-sf", "-X", "POST", "-H", "Expect:", "-T", blob, target]}
    taken = {name: [] for name in commands}
    for _ in range(options.rounds):
        remove_copies(work, base)
        for name, command in commands.items():
            taken[name].append(seconds_of([command]))
    hashing, disk, upload = (statistics.median(taken[name]) for name in commands)
    for name, seconds in zip(commands, (hashing, disk, upload)):
        print(f"  {name:28}{options.large_mib / seconds:10.0f}")
    print(f"  the upload has {max(hashing, disk) / upload:.2f} of the slower of both")


def measure_downloads(options, peers, connections):
    taken = {name: [] for name in peers}
    for _ in range(options.rounds):
        for name, url in peers.items():
            taken[name].append(seconds_of([["curl", "-sf", "-o", "/dev/null", url]] * connections))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, seconds in medians.items():
        words = f"{name}, {connections} download{'s' if connections > 1 else ''}"
        print(f"  {words:28}{connections * options.large_mib / seconds:10.0f}")
    if "nginx" in medians:
        print(f"  caip has {medians['nginx'] / medians['caip']:.2f} of nginx")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--fake-gcs-server", default=shutil.which("fake-gcs-server"))
    parser.add_argument("--python-peer", default=shutil.which("gcp-storage-emulator"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--list-count", type=int, default=100000)
    parser.add_argument("--large-mib", type=int, default=1024)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="caip-bench-") as directory:
        work = pathlib.Path(directory)
        servers = Servers(options, work)
        if options.count:
            measure_small(options, servers)
        if options.large_mib:
            measure_large(options, servers, work)


if __name__ == "__main__":
    main()
