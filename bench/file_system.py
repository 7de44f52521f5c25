"""Names the file system of a directory, on which the figures of storage and of submits depend."""

import os
import pathlib

HAVE_A_JOURNAL = {"xfs", "jfs", "reiserfs"}
IN_MEMORY = {"tmpfs", "ramfs"}


def mount_of(directory):
    """(kind, mount options) of the file system, as ("ext4", "rw,relatime")."""
    best = ("", "unknown", "")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, point, kind, mount_options, *_ = line.split()
        is_above = f"{directory}/".startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best[0]):  # a later mount hides an earlier one at the same place
            best = (point, kind, mount_options)
    return best[1:]


def ext4_journal(directory):
    """Whether an ext2, ext3 or ext4 file system has a journal, as the kernel reports it."""
    device = os.stat(directory).st_dev
    name = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve().name
    try:
        options = pathlib.Path(f"/proc/fs/ext4/{name}/options").read_text().split()
    except OSError:
        return ", journal unknown"
    # The kernel lists a mode of the data (`data=ordered`) exactly if there is a journal.
    return f" {'with' if any(option.startswith('data=') for option in options) else 'without'} a journal"


def file_system_of(directory):
    """For example "ext4 with a journal (rw,relatime)"."""
    directory = pathlib.Path(directory).resolve()
    kind, mount_options = mount_of(directory)
    words = ""
    if kind in ("ext2", "ext3", "ext4"):
        words = ext4_journal(directory)
    elif kind in HAVE_A_JOURNAL:
        words = " with a journal"
    elif kind in IN_MEMORY:
        words = " in memory"
    return f"{kind}{words} ({mount_options})"
