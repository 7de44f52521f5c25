"""The library that is loaded into an emulator, and the faults of the disk that it makes."""

import contextlib
import os
import shutil
import struct
import subprocess
from pathlib import Path


def build_disk_library(directory):
    """Builds disk.c. None: this host has no C compiler."""
    compiler = shutil.which('cc') or shutil.which('gcc')
    if not compiler:
        return None
    library = Path(directory) / 'disk.so'
    subprocess.run([compiler, '-shared', '-fPIC', '-O1', '-U_FORTIFY_SOURCE', '-o', library,
                    Path(__file__).with_name('disk.c'), '-lpthread'], check=True)
    return library


def preloading(library):
    """The environment of a program with this library, also of a program with an address sanitizer."""
    options = [os.environ.get('ASAN_OPTIONS'), 'verify_asan_link_order=0']
    return {'LD_PRELOAD': str(library), 'ASAN_OPTIONS': ':'.join(filter(None, options))}


class DiskFault:
    """The error that the emulator gets for each change of a file."""

    def __init__(self, file):
        self.file = file
        self.file.write_bytes(struct.pack('=i', 0))

    def environment(self, library):
        return {**preloading(library), 'CAIP_STORM_FAULT': str(self.file)}

    @contextlib.contextmanager
    def of(self, error):
        self.set(error)
        try:
            yield
        finally:
            self.set(0)

    def set(self, error):
        with open(self.file, 'r+b') as control:
            control.write(struct.pack('=i', error))
