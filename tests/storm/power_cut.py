"""A simulated power cut: what a disk may hold after it.

disk.c journals all changes that the emulator made. From the files before its start and the journal,
`Disk.cut` makes the directory that a power cut may leave. What is durable:

- bytes of a file up to its last fsync, fdatasync or write with O_DSYNC;
- names up to the last fsync of their directory, and all up to the last syncfs.

Of the rest a random part is on the disk: each change of a name or a page by itself, all, or none.
Three assumptions go beyond POSIX. ext4, XFS and btrfs guarantee them:

- A rename is one step, also between two directories.
- An fsync of a new file or directory makes its name durable, and those of its new parents.
- Changes of names in one directory reach the disk in their order, and those in a new directory after its own name. (ext4 and XFS
  keep the order of all.)

Changes by other processes, the replicas, count as durable. So do changes of mapped files. A file that vanishes while this
module walks the directory is left out: nothing that the emulator wrote does.
"""

import contextlib
import os
import shutil
import stat
import struct
from pathlib import Path

from disk_fault import preloading

HEADER = struct.Struct('=4I4Q')
PAGE = 4096
RENAME_EXCHANGE = 2


class Node:
    """A file, a directory or a symbolic link: what is durable, and what is not yet."""

    def __init__(self, mode, inode, target=None):
        self.mode, self.inode, self.target = mode, inode, target
        self.bytes, self.modified, self.pending = b'', None, []
        self.changed = False  # the emulator changed the bytes
        self.new = True       # its first name is not durable

    def is_directory(self):
        return stat.S_ISDIR(self.mode)


class Change:
    """A change of names: [(directory, name, node; None: the name is gone)]."""

    def __init__(self, at, steps):
        self.at, self.steps, self.durable = at, steps, False


def records(journal):
    """(kind, mode, four numbers, name, data) of each whole record."""
    text, at = journal.read_bytes(), 0
    while at + HEADER.size <= len(text):
        kind, name, data, mode, *numbers = HEADER.unpack_from(text, at)
        at += HEADER.size
        if at + name + data > len(text):
            return  # the kill came within this record
        yield chr(kind), mode, numbers, os.fsdecode(text[at:at + name]), text[at + name:at + name + data]
        at += name + data


class Disk:
    """The files of a directory, and the journal of one emulator that changes them."""

    def __init__(self, directory, work):
        self.directory, self.work = Path(directory), Path(work)
        self.journal, self.graves = self.work / 'journal', self.work / 'graves'
        self.boot = self.work / 'boot'
        self.boots = 0
        self.begin()

    def environment(self, library):
        return {**preloading(library), 'CAIP_STORM_JOURNAL': str(self.journal),
                'CAIP_STORM_GRAVES': str(self.graves), 'CAIP_STORM_BOOT': str(self.boot)}

    def begin(self):
        """Takes all that is there as durable. The host has started again."""
        self.journal.unlink(missing_ok=True)
        shutil.rmtree(self.graves, ignore_errors=True)
        self.graves.mkdir(parents=True)
        self.boots += 1
        self.boot.write_text(f'{self.boots}\n')
        self.nodes, self.names = {}, {}
        self.changes, self.waiting = [], []  # all in their order; those that are not durable
        self.directory.mkdir(exist_ok=True)
        self.root = self.take(self.directory, lambda node, path: path.read_bytes())

    def take(self, path, read):
        status = path.lstat()
        node = self.nodes.get(status.st_ino)
        if node is None:
            node = self.nodes[status.st_ino] = Node(status.st_mode, status.st_ino)
            node.new, node.modified = False, status.st_mtime_ns
            if stat.S_ISLNK(status.st_mode):
                node.target = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                node.bytes = read(node, path)
        if node.is_directory():
            names = self.names[node] = {}
            for entry in os.scandir(path):
                if entry.is_symlink() or entry.is_file() or entry.is_dir():
                    with contextlib.suppress(FileNotFoundError):
                        names[entry.name] = self.take(Path(entry.path), read)
        return node

    def replay(self):
        """Follows the journal. `self.now` has the names as the emulator saw them last."""
        self.now = {node: dict(names) for node, names in self.names.items()}
        for at, (kind, mode, numbers, name, data) in enumerate(records(self.journal)):
            first, second, third, flags = numbers
            node, parent = self.nodes.get(first), self.nodes.get(first)
            if kind in 'CMYL':
                self.add(at, kind, mode, parent, second, name, data)
            elif kind == 'U' and parent in self.now:
                self.change(at, [(parent, name, None)])
            elif kind == 'R':
                self.rename(at, mode, parent, name, self.nodes.get(second), os.fsdecode(data), third, flags)
            elif kind in 'WT' and node:
                node.pending.append((at, kind, second, data))
                node.changed = True
            elif kind == 'S' and node:
                self.sync(node, second, third)
            elif kind == 'A':
                for change in self.changes:
                    change.durable |= change.at < second
                self.waiting = [change for change in self.waiting if not change.durable]
                for node in self.nodes.values():
                    self.sync(node, second, None)

    def add(self, at, kind, mode, parent, inode, name, data):
        if kind == 'L' and inode in self.nodes:
            node = self.nodes[inode]
        else:
            node = self.nodes[inode] = Node(mode, inode, os.fsdecode(data) if kind == 'Y' else None)
            node.changed = kind == 'C'
            if kind == 'M':
                self.names[node], self.now[node] = {}, {}
        if parent in self.now:
            self.change(at, [(parent, name, node)])

    def rename(self, at, mode, source, old, target, new, inode, flags):
        node = self.nodes.setdefault(inode, Node(mode, inode))
        other = self.now.get(target, {}).get(new) if flags & RENAME_EXCHANGE else None
        steps = [(source, old, other)] if source in self.now else []
        self.change(at, steps + ([(target, new, node)] if target in self.now else []))

    def change(self, at, steps):
        for directory, name, node in steps:
            self.now[directory].pop(name, None)
            if node:
                self.now[directory][name] = node
        self.changes.append(Change(at, steps))
        self.waiting.append(self.changes[-1])

    def sync(self, node, began, modified):
        covered = [change for change in node.pending if change[0] < began]
        node.pending = [change for change in node.pending if change[0] >= began]
        node.bytes = applied(node.bytes, covered)
        node.modified = modified or node.modified
        for change in self.waiting:
            if change.at < began and any(step[0] is node for step in change.steps):
                change.durable = True
        self.sync_name(node, began)
        self.waiting = [change for change in self.waiting if not change.durable]

    def sync_name(self, node, began):
        if not node.new:
            return
        for change in self.waiting:
            for directory, _, named in change.steps:
                if named is node and change.at < began:
                    node.new, change.durable = False, True
                    self.sync_name(directory, began)

    def cut(self, chance):
        """Replaces the directory by what a power cut may leave. Returns the numbers of what it dropped."""
        self.replay()
        share = chance.choice([0, 0, 0.5, 0.9])
        names = {node: dict(entries) for node, entries in self.names.items()}
        dropped, behind = 0, set()
        for change in self.changes:
            directories = {step[0] for step in change.steps}
            if not change.durable and (behind & directories or chance.random() >= share):
                behind |= directories | {node for _, _, node in change.steps if node in names}
                dropped += 1
                continue
            for directory, name, node in change.steps:
                names[directory].pop(name, None)
                if node:
                    names[directory][name] = node
        pages = 0
        for node in list(self.nodes.values()):
            kept = [change for change in split(node.pending) if chance.random() < share]
            pages += sum(1 for _ in split(node.pending)) - len(kept)
            node.bytes = applied(node.bytes, kept)
        self.build(names)
        return {'changes of names dropped': dropped, 'pages dropped': pages}

    def build(self, names):
        """Links the files that are left into a new directory, so that each keeps its inode."""
        actual, foreign = {}, []
        for root in (self.directory, self.graves):
            for path, folders, files in os.walk(root):
                for name in files:
                    file = Path(path, name)
                    with contextlib.suppress(FileNotFoundError):
                        actual[file.lstat().st_ino] = file
                if root == self.directory:
                    foreign += [Path(path, name) for name in folders + files]
        fresh = self.work / 'fresh'
        self.write(self.root, names, fresh, actual)
        for path in foreign:
            with contextlib.suppress(FileNotFoundError):
                if path.lstat().st_ino not in self.nodes:
                    self.keep(path, fresh / path.relative_to(self.directory))
        old = self.work / 'old'
        self.directory.rename(old)
        fresh.rename(self.directory)
        shutil.rmtree(old)
        self.begin()

    @staticmethod
    def keep(path, target):
        """Keeps what another process made, if the directory of it is left."""
        if not target.parent.is_dir() or os.path.lexists(target):
            return
        if path.is_symlink():
            target.symlink_to(os.readlink(path))
        elif path.is_dir():
            target.mkdir(mode=stat.S_IMODE(path.stat().st_mode))
        elif path.is_file():
            os.link(path, target)

    def write(self, node, names, path, actual):
        if node.is_directory():
            path.mkdir(mode=stat.S_IMODE(node.mode))
            for name, child in names.get(node, {}).items():
                self.write(child, names, path / name, actual)
        elif node.target is not None:
            path.symlink_to(node.target)
        elif node.inode in actual:
            os.link(actual[node.inode], path)
            if node.changed and not path.name.endswith('-shm') and path.read_bytes() != node.bytes:
                path.write_bytes(node.bytes)
                modified = node.modified or 0  # 0: the time was not durable
                os.utime(path, ns=(modified, modified))


def split(changes):
    """The changes, with each write in pieces of at most a page."""
    for at, kind, offset, data in changes:
        if kind == 'T':
            yield at, kind, offset, data
        while kind == 'W' and data:
            size = PAGE - offset % PAGE
            yield at, kind, offset, data[:size]
            offset, data = offset + size, data[size:]


def applied(before, changes):
    if not changes:
        return before
    after = bytearray(before)
    for _, kind, offset, data in changes:
        if kind == 'T':
            del after[offset:]
        end = offset + len(data)
        if len(after) < end:
            after.extend(bytes(end - len(after)))
        after[offset:end] = data
    return bytes(after)
