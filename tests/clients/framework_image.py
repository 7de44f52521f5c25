"""Makes images of trainers: the Python of a virtual environment, its packages, and a package of the user. Nothing is
downloaded. An image is an OCI layout (https://github.com/opencontainers/image-spec, "Image Layout")."""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import support

OCI = 'application/vnd.oci.image.'
ARCHITECTURES = {'x86_64': 'amd64', 'aarch64': 'arm64'}
# What each image of a distribution has beside the C library, for programs that were linked with older ones.
ALWAYS = ('libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1')
NO_NEED = {'test', 'tests', 'idlelib', 'ensurepip', 'site-packages', 'dist-packages'}  # of the standard library

# The interpreter that an environment was made from: it reads its own packages at the same place.
FACTS = """import json, os, sys, sysconfig
print(json.dumps({'program': os.path.realpath(sys.executable), 'library': sysconfig.get_path('stdlib'),
                  'packages': sysconfig.get_path('purelib')}))"""
SITE = 'import site; print(site.getsitepackages()[0])'


class Layout:
    """An image in a directory."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.blobs = self.directory / 'blobs/sha256'
        self.blobs.mkdir(parents=True)
        self.layers = []
        (self.directory / 'oci-layout').write_text('{"imageLayoutVersion": "1.0.0"}')

    def add_layer(self, files):
        """`files`: the path in the image of each file or directory of this host."""
        archive = self.directory / 'layer.tar'
        with tarfile.open(archive, 'w', format=tarfile.PAX_FORMAT) as tar:
            for path, source in files.items():
                tar.add(source, arcname=str(path).lstrip('/'), filter=of_root)
        digest = digest_of(archive)
        size = archive.stat().st_size
        archive.rename(self.blobs / digest)
        self.layers.append({'mediaType': OCI + 'layer.v1.tar', 'digest': 'sha256:' + digest, 'size': size})

    def add_users(self):
        """The files that name root and its group."""
        source = self.directory / 'users'
        source.mkdir()
        (source / 'passwd').write_text('root:x:0:0:root:/root:/bin/sh\n')
        (source / 'group').write_text('root:x:0:\n')
        self.add_layer({f'/etc/{file.name}': file for file in source.iterdir()})
        shutil.rmtree(source)

    def finish(self, config):
        """`config` has Entrypoint, Env, WorkingDir, ... Returns the reference of the image."""
        image = {'architecture': ARCHITECTURES[platform.machine()], 'os': 'linux', 'config': config,
                 'rootfs': {'type': 'layers', 'diff_ids': [layer['digest'] for layer in self.layers]}}
        manifest = {'schemaVersion': 2, 'mediaType': OCI + 'manifest.v1+json',
                    'config': self.put(image, 'config.v1+json'), 'layers': self.layers}
        index = {'schemaVersion': 2, 'manifests': [self.put(manifest, 'manifest.v1+json')]}
        (self.directory / 'index.json').write_text(json.dumps(index))
        return f'oci:{self.directory}'

    def put(self, value, kind):
        """Writes a document, and returns its descriptor."""
        text = json.dumps(value).encode()
        digest = hashlib.sha256(text).hexdigest()
        (self.blobs / digest).write_bytes(text)
        return {'mediaType': OCI + kind, 'digest': 'sha256:' + digest, 'size': len(text)}


def trainer_image(directory, python, package, module, only=(), more=()):
    """An image that runs `module` of a package's directory with the environment of `python`. `only` names the packages
    of the environment that it has; default: all. `more` has the paths of packages that are elsewhere, and have the same paths in the image."""
    facts = json.loads(support.run([python, '-c', FACTS]).stdout)
    library, packages = Path(facts['library']), Path(facts['packages'])
    site = support.run([facts['program'], '-c', SITE]).stdout.strip()
    layout = Layout(directory)
    taken = [packages / name for name in only if (packages / name).exists()] if only else [packages]
    own = {file for path in [*taken, *map(Path, more)] for file in shared_objects(path)}
    loaded = libraries([facts['program'], *shared_objects(library), *own])
    loaded.update(targets(own))
    layout.add_users()
    layout.add_layer({facts['program']: facts['program'],
                      **{library / entry.name: entry for entry in library.iterdir() if entry.name not in NO_NEED},
                      **{path: file for path, file in loaded.items() if file not in own}})
    layout.add_layer({**{Path(site) / path.relative_to(packages): path for path in taken}, **{path: path for path in more}})
    layout.add_layer({Path('/app') / Path(package).name: package})
    return layout.finish({'Entrypoint': [facts['program'], '-m', module], 'WorkingDir': '/app',
                          'Env': ['PYTHONUNBUFFERED=1']})


def libraries(programs):
    """The libraries of this host that programs and shared objects load, by the paths at which the loader finds them."""
    said = subprocess.run(['ldd', *map(str, programs)], capture_output=True, text=True, errors='replace', check=False).stdout
    found = re.findall(r'(?:=> |^\t)(/\S+) \(0x', said, re.MULTILINE)
    paths = {os.path.normpath(path) for path in found}
    beside = next((Path(path).parent for path in paths if Path(path).name == 'libc.so.6'), Path('/lib'))
    paths |= {str(beside / name) for name in ALWAYS if (beside / name).exists()}
    return {path: Path(path).resolve() for path in sorted(paths)}


def targets(files):
    """The files that links among them name, by their paths."""
    named = {os.path.normpath(file.parent / os.readlink(file)): file.resolve() for file in files if file.is_symlink()}
    return {path: file for path, file in named.items() if Path(path) not in files}


def shared_objects(directory):
    """The shared objects below a directory."""
    return [path for path in Path(directory).rglob('*.so*') if path.is_file()]


def of_root(entry):
    """Belongs to root, like the files of most images."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ''
    return entry


def digest_of(path):
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
