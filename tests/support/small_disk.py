"""A small disk: a mount that ends with the command that sees it."""
import os
import shutil
import subprocess
import unittest


def prefix(directory, size):
    """Words to put before a command, so that it finds `directory` on a disk of its own of `size` ("10m").

    Skips the test if this host does not permit the mount.
    """
    words = ["unshare", "--mount"] if os.geteuid() == 0 else [
        "unshare", "--user", "--map-root-user", "--mount"]
    mount = f"mount -t tmpfs -o size={size} none {directory}"
    if not shutil.which("unshare") or subprocess.run(
            [*words, "sh", "-c", mount], stderr=subprocess.DEVNULL).returncode != 0:
        raise unittest.SkipTest("this host does not permit unshare and mount")
    return [*words, "sh", "-c", mount + ' && exec "$@"', "sh"]
