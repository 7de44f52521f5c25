#!/usr/bin/env python3
"""Storage against peers and limits, in one run.

Small objects: caip (full durability and relaxed), fake-gcs-server (Go; keeps files, never syncs them) and
gcp-storage-emulator (Python; the same), each driven by bench_storage_load over 16 connections.
Large objects: a download against nginx serving the same bytes; an upload, with checksums, against
the slower of `openssl md5` and a synced write of the same bytes.

  bench/storage_peers.py [--build build/release] [--fake-gcs-server PATH] [--python-peer PATH]
                         [--count N] [--list-count N] [--large-mib N]

A peer that is not there is named and left out.
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

NGINX = """
daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.log;
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
        yield url
    finally:
        process.terminate()
        process.wait(30)


def create_bucket(base, name):
    request = urllib.request.Request(base + "/storage/v1/b?project=bench", method="POST",
                                     data=json.dumps({"name": name}).encode(),
                                     headers={"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=10).close()


class Servers:
    """How each server is started on an own directory."""

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


def load(options, base, bucket, operation, count):
    command = [options.build / "bench_storage_load", base, bucket, operation, "--connections", "16",
               "--count", str(count)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None, result.stderr.strip()
    return json.loads(result.stdout)["per_second"], ""


def measure_small(options, name, server):
    rates = {}
    with server as url:
        base = url.split("/storage/v1", 1)[0]
        create_bucket(base, "small")
        create_bucket(base, "many")
        for operation in ("put", "get", "rewrite"):
            count = options.count if name != "Python peer" else max(options.count // 20, 100)
            rates[operation], why = load(options, base, "small", operation, count)
            if why:
                print(f"  {name}: {operation}: {why}", file=sys.stderr)
        if name != "Python peer":
            load(options, base, "many", "put", options.list_count)
            rates["list"], why = load(options, base, "many", "list", options.list_count)
    return rates


def seconds_of(command, times=3):
    taken = []
    for _ in range(times):
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        taken.append(time.monotonic() - start)
    return statistics.median(taken)


def measure_large(options, servers, work):
    blob = work / "large.bin"
    size = options.large_mib << 20
    with open(blob, "wb") as out:
        piece = os.urandom(1 << 20)
        for index in range(options.large_mib):
            out.write(index.to_bytes(8, "big") + piece[8:])
    mib = lambda seconds: options.large_mib / seconds
    print(f"\n{options.large_mib} MiB, MiB/s (median of 3)")
    hashing = seconds_of(["openssl", "dgst", "-md5", blob])
    disk = seconds_of(["dd", f"if={blob}", f"of={work / 'copy.bin'}", "bs=1M", "conv=fsync"])
    print(f"  {'openssl md5':28}{mib(hashing):10.0f}")
    print(f"  {'dd, synced':28}{mib(disk):10.0f}")
    with servers.caip("full") as url:
        base = url.split("/storage/v1", 1)[0]
        create_bucket(base, "large")
        target = f"{base}/upload/storage/v1/b/large/o?uploadType=media&name=large.bin"
        upload = seconds_of(["curl", "-sf", "-X", "POST", "-H", "Expect:", "-T", blob, target])
        download = seconds_of(["curl", "-sf", "-o", "/dev/null",
                               f"{base}/storage/v1/b/large/o/large.bin?alt=media"])
    slower = max(hashing, disk)
    print(f"  {'caip, upload':28}{mib(upload):10.0f}   {slower / upload:.2f} of the slower of both")
    print(f"  {'caip, download':28}{mib(download):10.0f}")
    if shutil.which("nginx"):
        port = free_port()
        configuration = work / "nginx.conf"
        configuration.write_text(NGINX.format(work=work, port=port, root=work))
        url = f"http://127.0.0.1:{port}/large.bin"
        with serving(["nginx", "-e", work / "nginx.log", "-c", configuration], f"http://127.0.0.1:{port}/"):
            peer = seconds_of(["curl", "-sf", "-o", "/dev/null", url])
        print(f"  {'nginx, download':28}{mib(peer):10.0f}   caip has {peer / download:.2f} of it")
    else:
        print("  nginx is not installed: no limit for downloads")
    assert blob.stat().st_size == size


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--fake-gcs-server", default=shutil.which("fake-gcs-server"))
    parser.add_argument("--python-peer", default=shutil.which("gcp-storage-emulator"))
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--list-count", type=int, default=100000)
    parser.add_argument("--large-mib", type=int, default=1024)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="caip-bench-") as directory:
        work = pathlib.Path(directory)
        servers = Servers(options, work)
        table = {"caip, relaxed": measure_small(options, "caip", servers.caip("relaxed")),
                 "caip, full": measure_small(options, "caip", servers.caip("full"))}
        if options.fake_gcs_server:
            table["Go peer"] = measure_small(options, "Go peer", servers.go())
        else:
            print("fake-gcs-server is not there: no Go peer", file=sys.stderr)
        if options.python_peer:
            table["Python peer"] = measure_small(options, "Python peer", servers.python())
        else:
            print("gcp-storage-emulator is not there: no Python peer", file=sys.stderr)
        print("4 KiB objects, 16 connections, operations a second (list: objects a second)")
        print(f"  {'':16}" + "".join(f"{name:>12}" for name in ("put", "get", "rewrite", "list")))
        for name, rates in table.items():
            cells = [rates.get(key) for key in ("put", "get", "rewrite", "list")]
            print(f"  {name:16}" + "".join(f"{cell:12.0f}" if cell else f"{'-':>12}" for cell in cells))
        for peer in ("Go peer", "Python peer"):
            if peer in table:
                ratios = [(ours / theirs) if ours and theirs else None for ours, theirs in
                          ((table["caip, relaxed"].get(key), table[peer].get(key))
                           for key in ("put", "get", "rewrite", "list"))]
                print(f"  relaxed / {peer:6}" + "".join(f"{r:11.1f}x" if r else f"{'-':>12}" for r in ratios))
        measure_large(options, servers, work)


if __name__ == "__main__":
    main()
