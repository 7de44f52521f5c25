"""A directory that holds only so much: a mount that ends with the command that sees it."""
import os
import shutil
import subprocess
import unittest


def prefix(directory, size):
    """Words before a command that is to find `directory` on a disk of its own, of `size` ("10m").

    Skips the test where this host lets nobody make one.
    """
    words = ["unshare", "--mount"] if os.geteuid() == 0 else [
        "unshare", "--user", "--map-root-user", "--mount"]
    mount = f"mount -t tmpfs -o size={size} none {directory}"
    if not shutil.which("unshare") or subprocess.run(
            [*words, "sh", "-c", mount], stderr=subprocess.DEVNULL).returncode != 0:
        raise unittest.SkipTest("no small disk can be made here: unshare and mount are refused")
    return [*words, "sh", "-c", mount + ' && exec "$@"', "sh"]
