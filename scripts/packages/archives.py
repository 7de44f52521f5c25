"""The archive that works where it is unpacked, that of the symbols, and the wheel."""

import base64
import gzip
import hashlib
import io
import pathlib
import platform
import re
import tarfile
import tempfile
import zipfile

from packages.stage import PROGRAMS, ROOT, date_of_sources, files_in, mode_of, output, version


def make_tar(stage, out):
    """The installed tree, in one folder."""
    name = f"caip-{version()}-linux-{platform.machine()}"
    return write_archive(stage, f"{name}/", out / f"{name}.tar.gz")


def make_symbols(built, out):
    """The names of functions, which the programs of the other packages lack. Debuggers find them by the programs' build ids."""
    with tempfile.TemporaryDirectory(prefix="caip-symbols-") as folder:
        folder = pathlib.Path(folder)
        for program in PROGRAMS:
            file = pathlib.Path(built, pathlib.Path(program).name).resolve()
            identity = re.search(r"Build ID: (\w+)", output("readelf", "--notes", file)).group(1)
            target = folder / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
            target.parent.mkdir(parents=True, exist_ok=True)
            output("objcopy", "--only-keep-debug", file, target)
        return write_archive(folder, "usr/lib/debug/", out / f"caip-{version()}-symbols-{platform.machine()}.tar.gz")


def write_archive(folder, place, package):
    """Writes the files of a folder, at another place, to an archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, file in files_in(folder):
            entry = tarfile.TarInfo(place + path)
            entry.size, entry.mode, entry.mtime = file.stat().st_size, mode_of(file), date_of_sources()
            with open(file, "rb") as content:
                archive.addfile(entry, content)
    with open(package, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(packed.getvalue())
    return package


def make_wheel(stage, out):
    """The installed tree as data of a wheel, which pip puts into the prefix of a virtual environment."""
    name = f"caip-{version()}"
    tag = f"py3-none-manylinux_{'_'.join(platform.libc_ver()[1].split('.'))}_{platform.machine()}"
    contents = {"caip/__init__.py": (b'"""caip: managed training on this host. caip.testing has fixtures for tests."""\n', 0o644),
                "caip/testing.py": ((ROOT / "tests/fixtures/caip_pytest.py").read_bytes(), 0o644)}
    for path, file in files_in(stage):
        if path.startswith("share/caip/python/"):
            continue  # it is caip.testing
        place = f"scripts/{path[4:]}" if path.startswith("bin/") else f"data/{path}"
        contents[f"{name}.data/{place}"] = (file.read_bytes(), mode_of(file))
    info = f"{name}.dist-info"
    contents[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: caip\nVersion: {version()}\nSummary: Managed training "
                                    "services on one host, and a test harness for trainers.\nRequires-Python: >=3.9\n"
                                    .encode(), 0o644)
    contents[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: scripts/package\nRoot-Is-Purelib: false\nTag: {tag}\n"
                                 .encode(), 0o644)
    contents[f"{info}/entry_points.txt"] = (b"[pytest11]\ncaip = caip.testing\n", 0o644)
    record = "".join(f"{path},sha256={digest_of(data)},{len(data)}\n" for path, (data, _) in sorted(contents.items()))
    contents[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)
    package = out / f"{name}-{tag}.whl"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (data, mode) in sorted(contents.items()):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=9)
    return package


def digest_of(data):
    """A hash as wheels have it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
