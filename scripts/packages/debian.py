"""The package for Debian and Ubuntu."""

import datetime
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from packages.stage import LINKED, PROGRAMS, ROOT, date_of_sources, files_in, mode_of, output, version

REVISION = 1
# What only other kinds of package have, and what has another place in Debian.
LEFT_OUT = ("lib/caip/", "share/doc/caip/LICENSE", "share/doc/caip/licenses/", "share/doc/caip/CHANGELOG.md")
MOVED = (("share/zsh/site-functions/", "share/zsh/vendor-completions/"),)
CONTROL = """Package: caip
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: python3, python3-venv, python3-pip
Suggests: bash-completion
Section: devel
Priority: optional
Description: emulator of managed training services, and a test harness for trainers
 caip runs training jobs on one machine as Google Cloud AI Platform Training
 ran them: clusters of replicas with TF_CONFIG, restarts, logs and Cloud
 Storage. Clients of the service work unchanged.
 .
 It also kills the replicas of a job at chosen points, checks whether the
 trainer resumes correctly, and finds restart bugs without hints.
"""
CHANGELOG = """caip ({version}) unstable; urgency=medium

  * Release {upstream}: /usr/share/doc/caip/changelog.gz has the changes.

 -- {maintainer}  {date}
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: caip
Comment:
 The programs are linked statically with the packages that
 /usr/share/doc/caip/caip.spdx.json lists. Their copyright files follow the
 licence of caip.

Files: *
Copyright: the authors of caip
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the text of the licence is in
 /usr/share/common-licenses/Apache-2.0.
"""
# Findings of lintian about what is done on purpose.
OVERRIDES = """# The programs work on several distributions, which do not share these libraries.
caip: embedded-library bzip2 [usr/bin/caip]
caip: embedded-library zlib [usr/bin/caip]
# It starts faster.
caip: statically-linked-binary [usr/libexec/caip/caip-launcher]
# They run in images without a C library.
caip: statically-linked-binary [usr/libexec/caip/caip-nvidia-smi]
caip: shared-library-lacks-prerequisites [usr/libexec/caip/libcaip-nvml.so]
# The package is not a part of Debian.
caip: initial-upload-closes-no-bugs [usr/share/doc/caip/changelog.Debian.gz:1]
"""


def make_deb(stage, out):
    """The installed tree below /usr, which uses the libraries of the system."""
    missing = [tool for tool in ("dpkg", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(tool)]
    if missing:
        raise SystemExit(f"package: A deb needs {' and '.join(missing)}. Install dpkg-dev, or make a tar or a wheel.")
    architecture = output("dpkg", "--print-architecture").strip()
    package = out / f"caip_{version()}-{REVISION}_{architecture}.deb"
    with tempfile.TemporaryDirectory(prefix="caip-deb-") as folder:
        tree = pathlib.Path(folder) / "tree"
        lay_out(stage, tree)
        write_documents(stage, tree)
        control = CONTROL.format(version=debian_version(), architecture=architecture, maintainer=maintainer(),
                                 depends=dependencies(tree), size=size_of(tree))
        write(tree / "DEBIAN/control", control)
        sums = "".join(output("md5sum", file).replace(f"{tree}/", "")
                       for path, file in files_in(tree) if not path.startswith("DEBIAN/"))
        write(tree / "DEBIAN/md5sums", sums)
        fix_modes_and_dates(tree)
        # More threads would make other bytes.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", tree, package], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(date_of_sources())})
    return package


def debian_version():
    """The version of the package: a revision follows that of caip."""
    return f"{version()}-{REVISION}"


def maintainer():
    """As other tools of Debian have it."""
    return f"{os.environ.get('DEBFULLNAME', 'caip')} <{os.environ.get('DEBEMAIL', 'caip@packages.invalid')}>"


def write(path, text):
    """Writes a file, and makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lay_out(stage, tree):
    """The files of the package, without its documents."""
    for path, file in files_in(stage):
        if path.startswith(LEFT_OUT):
            continue
        for old, new in MOVED:
            path = path.replace(old, new)
        target = tree / "usr" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.startswith("share/man/"):
            target.with_name(target.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
        else:
            shutil.copy(file, target)
    service = tree / "usr/lib/systemd/user/caip.service"
    service.parent.mkdir(parents=True)
    shutil.copy(ROOT / "scripts/packages/caip.service", service)


def write_documents(stage, tree):
    """The changelogs and the copyright that each package of Debian has."""
    documents = tree / "usr/share/doc/caip"
    date = datetime.datetime.fromtimestamp(date_of_sources(), datetime.timezone.utc)
    changes = CHANGELOG.format(version=debian_version(), upstream=version(), maintainer=maintainer(),
                               date=date.strftime("%a, %d %b %Y %H:%M:%S +0000"))
    (documents / "changelog.Debian.gz").write_bytes(gzip.compress(changes.encode(), 9, mtime=0))
    upstream = (stage / "share/doc/caip/CHANGELOG.md").read_bytes()
    (documents / "changelog.gz").write_bytes(gzip.compress(upstream, 9, mtime=0))
    licences = [stage / "share/doc/caip/licenses" / f"{name}.txt" for name in LINKED]
    texts = [f"\n---- {file.stem} ----\n\n{file.read_text()}" for file in licences if file.exists()]
    write(documents / "copyright", COPYRIGHT + "".join(texts))
    write(tree / "usr/share/lintian/overrides/caip", OVERRIDES)


def dependencies(tree):
    """The packages whose libraries the programs load."""
    with tempfile.TemporaryDirectory(prefix="caip-deb-") as folder:
        write(pathlib.Path(folder) / "debian/control", "Source: caip\n\nPackage: caip\nArchitecture: any\n")
        programs = [f"-e{tree / 'usr' / program}" for program in PROGRAMS]
        done = subprocess.run(["dpkg-shlibdeps", "-O", *programs], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    found = re.search(r"^shlibs:Depends=(.+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise SystemExit(f"package: dpkg-shlibdeps does not find the packages of linked libraries.\n{done.stderr}")
    return found.group(1)


def size_of(tree):
    """In KiB, as Installed-Size is defined: a KiB at least for each file and folder."""
    return sum(max(1, -(-file.stat().st_size // 1024)) if file.is_file() else 1 for file in tree.rglob("*"))


def fix_modes_and_dates(tree):
    """Neither depends on the umask or on when the package is made."""
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else mode_of(path))
        os.utime(path, (date_of_sources(), date_of_sources()))
