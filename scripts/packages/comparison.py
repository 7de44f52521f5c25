"""Whether two builds give the same packages, byte by byte, and which of their files differ."""

import hashlib
import os
import pathlib
import subprocess
import tarfile
import tempfile
import zipfile

from packages.stage import ROOT, date_of_sources

# Longer than most, so that a path which got into a program changes its size, too.
FOLDER = "built-once-more-in-a-folder-with-another-and-much-longer-name"


def check_commit():
    """The tree must be that of a commit, which is built once more."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        raise SystemExit("package: The sources are not in a git repository, and --compare builds a commit once more. "
                         "Name another build with --compare-with BUILD.")
    if done.stdout:
        raise SystemExit("package: The working tree has changes without a commit, and --compare builds the commit once more. "
                         "Commit them, or name another build with --compare-with BUILD.")


def build_again(folder):
    """Builds the commit in another folder, without ccache. Returns the build folder."""
    sources = folder / FOLDER
    sources.mkdir()
    with subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x"], cwd=sources, stdin=archive.stdout, check=True)
    if (ROOT / "build/deps").exists():
        (sources / "build").mkdir()
        (sources / "build/deps").symlink_to(ROOT / "build/deps")  # see scripts/setup
    env = {**os.environ, "CCACHE_DISABLE": "1", "SOURCE_DATE_EPOCH": str(date_of_sources())}
    subprocess.run([sources / "scripts/build", "package"], check=True, env=env)
    return sources / "build/package"


def digest(data):
    """What is compared."""
    return hashlib.sha256(data).hexdigest()


def members_of_tar(file):
    """The members of a tar archive, each with all that may differ."""
    with tarfile.open(file) as archive:
        return {entry.name: (entry.mode, entry.mtime, entry.uid, entry.linkname,
                             digest(archive.extractfile(entry).read()) if entry.isreg() else "") for entry in archive}


def members_of_zip(file):
    """The same of a zip archive."""
    with zipfile.ZipFile(file) as archive:
        return {entry.filename: (entry.external_attr, entry.date_time, digest(archive.read(entry)))
                for entry in archive.infolist()}


def members_of_deb(file):
    """The same of a package of Debian: its control files and its files."""
    members = {}
    with tempfile.TemporaryDirectory(prefix="caip-deb-") as folder:
        for kind in ("ctrl-tarfile", "fsys-tarfile"):
            part = pathlib.Path(folder, kind)
            with open(part, "wb") as target:
                subprocess.run(["dpkg-deb", f"--{kind}", file], stdout=target, check=True)
            members |= {f"{kind}: {name}": facts for name, facts in members_of_tar(part).items()}
    return members


READERS = {".deb": members_of_deb, ".whl": members_of_zip}


def differences(first, second):
    """A line for each package, and for each file in it, that differs between two folders."""
    lines = []
    names = {file.name for folder in (first, second) for file in folder.iterdir() if file.name != "SHA256SUMS"}
    for name in sorted(names):
        files = [folder / name for folder in (first, second)]
        if not all(file.exists() for file in files):
            lines.append(f"{name}: only one of the builds gives it")
        elif digest(files[0].read_bytes()) != digest(files[1].read_bytes()):
            members, others = (READERS.get(file.suffix, members_of_tar)(file) for file in files)
            changed = sorted(each for each in members.keys() | others.keys() if members.get(each) != others.get(each))
            lines += [f"{name}: {each} differs" for each in changed] or [f"{name}: the order or the compression differs"]
    return lines
