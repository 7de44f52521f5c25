"""A container image in an archive: an OCI image layout, which `docker load` reads, too. No container engine makes it."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tarfile
import tempfile

from packages.stage import date_of_sources, date_text, files_in, mode_of, version

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# What jobs with Python packages need.
INCLUDED = "python3,python3-venv,python3-pip"
USER, STATE = 1000, "var/lib/caip"
ACCOUNT = {"etc/passwd": "caip:x:1000:1000:caip:/var/lib/caip:/usr/sbin/nologin\n", "etc/group": "caip:x:1000:\n"}
OCI = "application/vnd.oci.image"
# In a container, loopback is the container's own: clients come from outside, so that they need a token.
CONFIG = {
    "User": f"{USER}:{USER}",
    "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", f"CAIP_STATE=/{STATE}", f"HOME=/{STATE}", "LANG=C.UTF-8"],
    "Entrypoint": ["/usr/local/bin/caip", "serve", "--address", "0.0.0.0", "--port", "2247",
                   "--token", f"/{STATE}/client-token"],
    "ExposedPorts": {"2247/tcp": {}},
    "Volumes": {f"/{STATE}": {}},
    "WorkingDir": f"/{STATE}",
    "StopSignal": "SIGTERM",
}


class Layout:
    """The files of an image layout in a folder."""

    def __init__(self, folder):
        self.folder, self.layers, self.diff_ids = folder, [], []
        (folder / "blobs/sha256").mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')

    def add_layer(self, archive):
        """Adds a tar archive as the highest layer so far."""
        packed = self.folder / "layer"
        digest = hashlib.sha256()
        with open(archive, "rb") as source, open(packed, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as target:
            while block := source.read(1 << 20):
                digest.update(block)
                target.write(block)
        self.diff_ids.append(f"sha256:{digest.hexdigest()}")
        self.layers.append(self.keep(packed, f"{OCI}.layer.v1.tar+gzip"))

    def keep(self, file, kind):
        """Names a file by its digest. Returns its descriptor."""
        with open(file, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else \
                hashlib.sha256(content.read()).hexdigest()
        size = file.stat().st_size
        file.rename(self.folder / "blobs/sha256" / digest)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": size}

    def keep_json(self, value, kind):
        """The same for a value."""
        file = self.folder / "value"
        file.write_text(json.dumps(value, sort_keys=True))
        return self.keep(file, kind)

    def finish(self):
        """Writes the configuration, the manifest and the index, and the list that `docker load` wants."""
        history = [{"created": date_text(), "created_by": "scripts/package image"} for _ in self.layers]
        config = self.keep_json({"architecture": architecture(), "os": "linux", "created": date_text(), "config": CONFIG,
                                 "rootfs": {"type": "layers", "diff_ids": self.diff_ids}, "history": history},
                                f"{OCI}.config.v1+json")
        manifest = self.keep_json({"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json", "config": config,
                                   "layers": self.layers}, f"{OCI}.manifest.v1+json")
        manifest["annotations"] = {"org.opencontainers.image.ref.name": version(),
                                   "io.containerd.image.name": f"localhost/caip:{version()}"}
        (self.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}, sort_keys=True))
        paths = [f"blobs/sha256/{blob['digest'].partition(':')[2]}" for blob in (config, *self.layers)]
        (self.folder / "manifest.json").write_text(json.dumps(
            [{"Config": paths[0], "RepoTags": [f"caip:{version()}"], "Layers": paths[1:]}]))


def make_image(stage, out, base=None):
    """A layer with a distribution and Python, and one with caip below /usr/local."""
    package = out / f"caip-{version()}-image-{architecture()}.tar"
    with tempfile.TemporaryDirectory(prefix="caip-image-", dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        layout = Layout(folder / "layout")
        root = folder / "base.tar"
        if base is None:
            bootstrap(root)
        elif base.is_dir():
            pack_directory(base, root)
        else:
            shutil.copyfile(base, root)
        write_own_layer(stage, accounts_of(root), folder / "caip.tar")
        layout.add_layer(root)
        layout.add_layer(folder / "caip.tar")
        layout.finish()
        with tarfile.open(package, "w", format=tarfile.GNU_FORMAT) as archive:
            for path, file in files_in(layout.folder):
                with open(file, "rb") as content:
                    archive.addfile(entry_of(path, size=file.stat().st_size), content)
    return package


def architecture():
    """As images name it."""
    return ARCHITECTURES.get(platform.machine(), platform.machine())


def bootstrap(archive):
    """The distribution of this host, of the packages that its mirror has now."""
    if not shutil.which("mmdebstrap"):
        raise SystemExit("package: An image needs the files of a distribution, and mmdebstrap is not installed. "
                         "Install it, or name a root or its tar archive with --base.")
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
    done = subprocess.run(
        ["mmdebstrap", "--variant=minbase", f"--include={INCLUDED}", "--dpkgopt=path-exclude=/usr/share/man/*",
         "--dpkgopt=path-exclude=/usr/share/locale/*", "--dpkgopt=path-exclude=/usr/share/doc/*",
         "--dpkgopt=path-include=/usr/share/doc/*/copyright", suite, archive],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(date_of_sources())}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"package: mmdebstrap made no root of {suite}.\n{done.stdout}")


def pack_directory(folder, archive):
    """A root as a tar archive. File systems below it are left out, as are device files."""
    device = folder.stat().st_dev
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as packed:
        for path in sorted(folder.rglob("*")):
            entry = packed.gettarinfo(path, path.relative_to(folder).as_posix())
            if entry is None or entry.isdev() or path.lstat().st_dev != device:
                continue
            entry.mtime, entry.uname, entry.gname = date_of_sources(), "", ""
            if entry.isreg():
                with open(path, "rb") as content:
                    packed.addfile(entry, content)
            else:
                packed.addfile(entry)


def accounts_of(root):
    """The files of accounts in a root, with caip's own user."""
    with tarfile.open(root) as archive:
        for name, line in ACCOUNT.items():
            found = next((archive.getmember(path) for path in (name, f"./{name}") if path in archive.getnames()), None)
            yield name, (archive.extractfile(found).read().decode() if found else "") + line


def entry_of(path, size=0, mode=0o644, owner=0, kind=tarfile.REGTYPE):
    """A file or folder of an archive."""
    entry = tarfile.TarInfo(path)
    entry.size, entry.mode, entry.uid, entry.gid, entry.type = size, mode, owner, owner, kind
    entry.mtime = date_of_sources()
    return entry


def write_own_layer(stage, accounts, archive):
    """caip, its user, and the folder of its state."""
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as packed:
        for path, text in accounts:
            packed.addfile(entry_of(path, size=len(text.encode())), io.BytesIO(text.encode()))
        for path, file in files_in(stage):
            with open(file, "rb") as content:
                packed.addfile(entry_of(f"usr/local/{path}", size=file.stat().st_size, mode=mode_of(file)), content)
        packed.addfile(entry_of(STATE, mode=0o700, owner=USER, kind=tarfile.DIRTYPE))
