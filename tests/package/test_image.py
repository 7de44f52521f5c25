#!/usr/bin/env python3
"""The container image that scripts/package makes: its files agree with their digests, caip itself runs it as the image of a
job, and its entry point serves clients that have the token.

The base is a clean root, so that the test is skipped where none can be made.
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from roots import Root, root_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
# As root: starts the server as its user and waits for it, asks as another user with and without the token, and ends it.
ASK = r"""
import ctypes, fcntl, json, os, pathlib, socket, struct, subprocess, sys
CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
if ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:  # another emulator of this host may have the port
    sys.exit("no network namespace")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as used:
    fcntl.ioctl(used, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
entry, variables = json.loads(sys.argv[1]), dict(word.split("=", 1) for word in json.loads(sys.argv[2]))
as_user = lambda number: ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
server = subprocess.Popen([*as_user(1000), *entry], stderr=subprocess.PIPE, text=True, env=variables)
for line in server.stderr:
    if "Ctrl-C ends it" in line:
        break
GET = '''
import sys, urllib.error, urllib.request
request = urllib.request.Request("http://127.0.0.1:2247/v1/projects/demo/jobs", headers={"Authorization": "Bearer " + sys.argv[1]})
try:
    print(urllib.request.urlopen(request, timeout=60).status)
except urllib.error.HTTPError as error:
    print(error.code)
'''
def ask(token):
    return subprocess.run([*as_user(2000), "python3", "-c", GET, token], stdout=-1, text=True).stdout.strip()
token = pathlib.Path(variables["CAIP_STATE"], "client-token")
print("user", os.stat(f"/proc/{server.pid}").st_uid, "with", ask(token.read_text().strip()), "wrong", ask("x"))
print("mode", oct(token.stat().st_mode & 0o777))
server.terminate()
server.stderr.read()
print("ended with", server.wait())
"""


class Options:
    """What the command line of the test gives."""
    build = None


def run(*words, **more):
    """What a command prints, with its errors; it must succeed."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = root_of("Debian 12")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="caip-image-")))
        run(ROOT / "scripts/package", "--build", Options.build, "--out", cls.folder, "--base", base, "image")
        cls.image = next(cls.folder.glob("caip-*-image-*.tar"))
        cls.layout = cls.folder / "layout"
        with tarfile.open(cls.image) as archive:
            archive.extractall(cls.layout)
        cls.manifest = cls.read(json.loads((cls.layout / "index.json").read_text())["manifests"][0])
        cls.config = cls.read(cls.manifest["config"])

    @classmethod
    def blob(cls, descriptor):
        return cls.layout / "blobs" / descriptor["digest"].replace(":", "/")

    @classmethod
    def read(cls, descriptor):
        return json.loads(cls.blob(descriptor).read_text())

    def test_files_agree_with_their_digests_and_sizes(self):
        index = json.loads((self.layout / "index.json").read_text())
        for descriptor in [*index["manifests"], self.manifest["config"], *self.manifest["layers"]]:
            content = self.blob(descriptor).read_bytes()
            self.assertEqual(descriptor["digest"], "sha256:" + hashlib.sha256(content).hexdigest())
            self.assertEqual(descriptor["size"], len(content))
        unpacked = ["sha256:" + hashlib.sha256(gzip.decompress(self.blob(layer).read_bytes())).hexdigest()
                    for layer in self.manifest["layers"]]
        self.assertEqual(self.config["rootfs"]["diff_ids"], unpacked)

    def test_the_list_of_docker_names_the_same_files(self):
        listed = json.loads((self.layout / "manifest.json").read_text())[0]
        self.assertEqual(self.layout / listed["Config"], self.blob(self.manifest["config"]))
        self.assertEqual([self.layout / layer for layer in listed["Layers"]],
                         [self.blob(layer) for layer in self.manifest["layers"]])

    def test_it_runs_as_a_user_with_a_volume_and_a_token(self):
        config = self.config["config"]
        self.assertEqual(config["User"], "1000:1000")
        self.assertEqual(config["Volumes"], {"/var/lib/caip": {}})
        self.assertEqual(config["Entrypoint"][:2], ["/usr/local/bin/caip", "serve"])
        self.assertIn("--token", config["Entrypoint"])

    @unittest.skipUnless(shutil.which("skopeo"), "skopeo is not installed")
    def test_skopeo_reads_it(self):
        said = json.loads(run("skopeo", "inspect", "--config", f"oci-archive:{self.image}"))
        self.assertEqual(said["config"]["User"], "1000:1000")

    def test_caip_runs_it_as_the_image_of_a_job(self):
        caip = pathlib.Path(Options.build) / "caip"
        env = {**os.environ, "CAIP_STATE": str(self.folder / "state")}
        run(caip, "images", "import", self.image, "--name", "gcr.io/p/caip:v1", env=env)
        job = self.folder / "job.json"
        job.write_text(json.dumps({"trainingInput": {"scaleTier": "CUSTOM", "masterType": "n1-standard-4",
                       "masterConfig": {"imageUri": "gcr.io/p/caip:v1",
                                        "containerCommand": ["/bin/sh", "-c", "caip version; python3 -m venv /tmp/v; id -u"]}}}))
        said = run(caip, "jobs", "submit", "training", "in_image", "--config", job, "--stream-logs", "--project", "demo",
                   "--region", "us-central1", env=env)
        self.assertRegex(said, r"caip \d+\.\d+\.\d+")
        self.assertIn("SUCCEEDED", said)

    def test_its_entry_point_serves_clients_with_the_token(self):
        config = self.config["config"]
        with Root("Debian 12", self.layout) as root:
            for layer in self.manifest["layers"][1:]:
                root.run("tar", "-xzf", f"/mnt/blobs/{layer['digest'].replace(':', '/')}", "-C", "/")
            self.assertEqual(root.run("stat", "-c", "%u %a", "/var/lib/caip"), "1000 700\n")
            self.assertIn("caip:x:1000:", root.run("getent", "passwd", "1000"))
            said = root.run("python3", "-c", ASK, json.dumps(config["Entrypoint"]), json.dumps(config["Env"]))
        self.assertIn("user 1000 with 200 wrong 401\nmode 0o600\nended with 0\n", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    Options.build = pathlib.Path(options.build).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
