"""What is installed, in a folder of its own, from which all packages are made."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian's packages of what is linked into the programs.
LINKED = ("libc6-dev", "libgcc-12-dev", "libgcc-13-dev", "libstdc++-12-dev", "libstdc++-13-dev", "libboost1.81-dev",
          "libboost1.83-dev", "libyaml-cpp-dev", "nlohmann-json3-dev", "libcli11-dev", "libsqlite3-dev", "libarchive-dev",
          "libssl-dev", "zlib1g-dev", "libre2-dev", "libeigen3-dev", "libbz2-dev", "liblzma-dev", "libzstd-dev", "nettle-dev",
          "libnghttp2-dev", "libprotobuf-dev")
# Licences of what is in our tree and in the programs, but not ours.
VENDORED = {"googleapis": ROOT / "src/grpc/protos/LICENSE"}
OF_THE_C_LIBRARY = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\.so")
PROGRAMS = ("bin/caip", "libexec/caip/caip-launcher", "libexec/caip/caip-nat", "libexec/caip/caip-nvidia-smi",
            "libexec/caip/caip-other-host", "libexec/caip/caip-conform", "libexec/caip/libcaip-watch.so",
            "libexec/caip/libcaip-nvml.so")


def output(*words):
    """What a command prints."""
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def version():
    """The version of caip, from CMakeLists.txt."""
    return re.search(r"project\(caip VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


@functools.cache
def date_of_sources():
    """Seconds since 1970, for all files in packages: of the commit, or of the changelog where there is no git."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          cwd=ROOT) if shutil.which("git") else None
    commit = done.stdout.strip() if done and done.returncode == 0 else ""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or commit or (ROOT / "CHANGELOG.md").stat().st_mtime)


def install(built, stage):
    """Installs what was built into `stage`, without symbols, and with what the licences of linked libraries demand."""
    subprocess.run(["cmake", "--install", built, "--prefix", stage, "--strip"], check=True, stdout=subprocess.DEVNULL)
    libraries = shared_libraries(stage)
    for name, path in libraries.items():
        (stage / "lib/caip").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, stage / "lib/caip" / name)
    (stage / "share/doc/caip/caip.spdx.json").write_text(json.dumps(linked(libraries), indent=2) + "\n")
    write_licences(stage / "share/doc/caip/licenses", [*LINKED, *packages_of(libraries)])


def write_licences(folder, packages):
    """The copyright of each linked package, and the licences that it only names."""
    folder.mkdir(parents=True)
    for package in packages:
        copyright_file = pathlib.Path("/usr/share/doc", package, "copyright")
        if not copyright_file.exists():
            continue
        text = copyright_file.read_text(errors="replace")
        (folder / f"{package}.txt").write_text(text)
        for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text):
            licence = pathlib.Path("/usr/share/common-licenses", name)
            if licence.exists():
                (folder / f"{name}.txt").write_text(licence.read_text())
    for name, licence in VENDORED.items():
        (folder / f"{name}.txt").write_text(licence.read_text())


def packages_of(libraries):
    """Debian's packages of these files."""
    return sorted({name for path in libraries.values() if (name := package_of(path))})


def shared_libraries(stage):
    """The libraries that the programs load, by their names, except those of the C library."""
    libraries = {}
    for program in PROGRAMS:
        done = subprocess.run(["ldd", stage / program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        libraries.update(re.findall(r"^\s+(\S+) => (/\S+)", done.stdout, re.MULTILINE))
    return {name: path for name, path in sorted(libraries.items()) if not OF_THE_C_LIBRARY.match(name)}


def linked(libraries):
    """A list of the packages that are linked, or brought along, in the form of SPDX 2.3."""
    packages = [{"SPDXID": "SPDXRef-caip", "name": "caip", "versionInfo": version(), "downloadLocation": "NOASSERTION"}]
    relations = []
    for kind, names in (("STATIC_LINK", LINKED), ("DYNAMIC_LINK", packages_of(libraries))):
        for name in names:
            done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
            if done.returncode != 0 or not done.stdout:
                continue
            identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "x", name)
            packages.append({"SPDXID": identity, "name": name, "versionInfo": done.stdout, "downloadLocation": "NOASSERTION"})
            relations.append({"spdxElementId": "SPDXRef-caip", "relationshipType": kind, "relatedSpdxElement": identity})
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"caip-{version()}",
            "documentNamespace": f"urn:caip:{version()}:{date_of_sources()}",
            "creationInfo": {"created": date_text(), "creators": ["Tool: scripts/package"]}, "packages": packages,
            "relationships": relations}


def package_of(library):
    """Debian's package of a file; "" if none has it."""
    for path in (library, os.path.realpath(library), "/usr" + os.path.realpath(library)):
        done = subprocess.run(["dpkg-query", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    return ""


def date_text():
    """The date of the sources, as SPDX has it."""
    return output("date", "-u", "-d", f"@{date_of_sources()}", "+%Y-%m-%dT%H:%M:%SZ").strip()


def files_in(folder):
    """The files, by their paths in the folder, in the order of their names."""
    return sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*") if file.is_file())


def mode_of(file):
    """Modes do not depend on the umask."""
    return 0o755 if file.stat().st_mode & 0o100 else 0o644
