"""Clean roots of distributions, made by mmdebstrap from their mirrors, and commands in them.

Roots are kept in $CAIP_ROOTS, else in build/roots. Commands change a copy.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
SUITES = {"Debian 12": ("bookworm", DEBIAN, "main"), "Debian 13": ("trixie", DEBIAN, "main"),
          "Ubuntu 24.04": ("noble", UBUNTU, "main,universe")}
OLD = {"Debian 11": ("bullseye", DEBIAN, "main")}  # its C library is too old for packages of any of them
# What a host has on which caip is installed. The package of caip brings no more than it depends on.
INCLUDED = "apt,python3-venv,man-db"
DOWNLOADED = "libisal2 libslirp0"
UBUNTU_KEYS = "usr/share/keyrings/ubuntu-archive-keyring.gpg"
# Arguments: the root, a folder for changes, a folder of packages, then the command.
ENTER = r"""
mount --make-rprivate /
root=$1 changes=$2 packages=$3; shift 3
mkdir -p "$changes/upper" "$changes/work" "$changes/merged"
cd "$changes"
mount -t overlay overlay -o "lowerdir=$root,upperdir=upper,workdir=work" merged
mount -t proc proc merged/proc
mount --rbind /dev merged/dev
mount --rbind /sys merged/sys
mount --bind "$packages" merged/mnt
cd merged
mkdir -p .old
pivot_root . .old
exec chroot . sh -euc 'umount -l /.old; cd /; exec "$@"' sh "$@"
"""


def fetch_ubuntu_keys(folder):
    """The keys of Ubuntu's archive: of this host, or from a package that Debian 13 signs."""
    if pathlib.Path("/", UBUNTU_KEYS).exists():
        return pathlib.Path("/", UBUNTU_KEYS)
    with Root("Debian 13", folder) as debian:
        debian.run("sh", "-euc", "cp /etc/resolv.conf.host /etc/resolv.conf; apt-get -q update; "
                   "cd /tmp; apt-get -q download ubuntu-keyring; dpkg-deb -x ubuntu-keyring*.deb /tmp/keys")
        kept = root_folder() / "ubuntu-archive-keyring.gpg"
        shutil.copyfile(debian.changes / "upper/tmp/keys" / UBUNTU_KEYS, kept)
    return kept


def root_folder():
    """Where roots are kept."""
    folder = pathlib.Path(os.environ.get("CAIP_ROOTS") or ROOT / "build" / "roots").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def root_of(name):
    """The root of a distribution; a skipped test where there can be none."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("a clean root needs root")
    suite, mirror, components = (SUITES | OLD)[name]
    root = root_folder() / suite
    with open(root_folder() / f"{suite}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if root.exists():
            return root
        if not shutil.which("mmdebstrap"):
            raise unittest.SkipTest("mmdebstrap is not installed")
        keys = []
        if mirror == UBUNTU:
            with tempfile.TemporaryDirectory(prefix="caip-keys-") as folder:
                keys = [f"--keyring={fetch_ubuntu_keys(folder)}"]
        made = root.with_suffix(".new")
        shutil.rmtree(made, ignore_errors=True)
        done = subprocess.run(
            ["mmdebstrap", "--variant=minbase", f"--include={INCLUDED}", f"--components={components}", *keys,
             "--skip=cleanup/apt", f'--customize-hook=chroot "$1" apt-get -y --download-only install {DOWNLOADED}',
             '--customize-hook=cp /etc/resolv.conf "$1/etc/resolv.conf.host"',
             suite, made, mirror], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise unittest.SkipTest(f"mmdebstrap made no root of {name}: {last}")
        made.rename(root)
    return root


class Root:
    """A copy of a root. The folder of packages is at /mnt. Use it as a context manager."""

    def __init__(self, name, packages):
        self.root, self.packages = root_of(name), pathlib.Path(packages)
        self.holder = tempfile.TemporaryDirectory(prefix="caip-root-", ignore_cleanup_errors=True)
        self.changes = pathlib.Path(self.holder.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def run(self, *words, code=0):
        """What a command prints in the root; it must end with that code."""
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, "sh", self.root, self.changes,
             self.packages, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=600, env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                              "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "TMPDIR": "/tmp"})
        if done.returncode != code:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout
