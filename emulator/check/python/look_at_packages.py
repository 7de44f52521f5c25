"""Finds the files of a source tree that its package lacks, and the imports that the package does not declare.

The argument is a JSON object: `archives`, the `source` folder of the package, the virtual `environment` that it was
installed into. Prints a JSON object. Does not run anything of the trainer.
"""
import ast
import glob
import importlib.util
import json
import os
import re
import sys
import tarfile
import zipfile

try:
    from importlib import metadata
except ImportError:  # Python 3.7
    metadata = None

# The modules of a runtime version: the frameworks of documentation page runtime-version-list and their dependencies.
RUNTIME = set("""absl astunparse attr cachetools certifi cloudml_hypertune dateutil flatbuffers gast google
    googleapiclient grpc h5py httplib2 hypertune idna joblib keras keras_preprocessing markdown numpy oauth2client
    oauthlib opt_einsum pandas pip pkg_resources pyasn1 pytz requests rsa scipy setuptools six sklearn tensorboard
    tensorflow tensorflow_estimator termcolor threadpoolctl typing_extensions urllib3 werkzeug wheel wrapt
    xgboost""".split())
UNSHIPPED = (".pyc", ".pyo", ".orig", ".swp", "~")


def normal(name):
    return re.sub(r"[-_.]+", "_", name).lower()


def texts_of(archive):
    """Name -> bytes of the small files of an sdist or a wheel, without the sdist's own folder."""
    found = {}
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            for info in file.infolist():
                if not info.is_dir() and info.file_size < 1 << 22:
                    found[info.filename] = file.read(info)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as file:
            for info in file:
                if info.isfile() and info.size < 1 << 22:
                    found[info.name] = file.extractfile(info).read()
    if not archive.endswith(".whl"):
        found = {name.partition("/")[2]: text for name, text in found.items()}
    return {name: text for name, text in found.items() if name}


def tree_of(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def is_guard(node):
    """Whether a `try` expects its imports to fail, or an `if` is for type checkers only."""
    if isinstance(node, ast.Try):
        names = {getattr(part, "id", "") for handler in node.handlers
                 for part in ast.walk(handler.type or ast.Name("Exception"))}
        return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports_of(tree, package):
    """(line, dotted names that one import may mean, whether it may fail) of each import."""
    def walk(node, guarded):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield child.lineno, [alias.name], guarded
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parents = package.split(".")
                    parents = parents[:len(parents) - child.level + 1]
                    base = ".".join(parents + ([base] if base else []))
                yield child.lineno, [base] + ["%s.%s" % (base, alias.name) for alias in child.names], guarded
            yield from walk(child, guarded or is_guard(child))
    return walk(tree, False)


def words_of(tree):
    """(line, text) of each text in it."""
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Constant) and isinstance(value, str):
            yield node.lineno, value


def package_of(path):
    parts = path[:-len(".py")].split("/")
    return ".".join(parts[:-1])


def source_files(source):
    top = os.path.dirname(source)
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith(UNSHIPPED):
                yield os.path.relpath(os.path.join(folder, name), top)


def installed_files(source, environment, archives):
    top = os.path.basename(source)
    for site in glob.glob(os.path.join(environment, "lib*", "python*", "site-packages", top)) if environment else ():
        parent = os.path.dirname(site)
        return {os.path.relpath(os.path.join(folder, name), parent)
                for folder, _, names in os.walk(site) for name in names}
    return {name for archive in archives for name in archive}


def why_missing(path, source):
    folder = os.path.dirname(path)
    top = os.path.dirname(source)
    while "/" in folder:
        if path.endswith(".py") and not os.path.exists(os.path.join(top, folder, "__init__.py")):
            return "%s has no __init__.py" % folder
        folder = os.path.dirname(folder)
    return "setup.py does not name it" if path.endswith(".py") else "it is not package data"


def referrer_of(path, trees):
    """The first place in the source tree that names the missing file."""
    module = path[:-len(".py")].replace("/", ".") if path.endswith(".py") else None
    if module and module.endswith(".__init__"):
        module = module[:-len(".__init__")]
    for name, tree in trees.items():
        if name == path:
            continue
        if module:
            for line, names, _ in imports_of(tree, package_of(name)):
                if module in names or any(one.startswith(module + ".") for one in names):
                    return "%s:%d" % (name, line)
        else:
            for line, word in words_of(tree):
                if word.rstrip("/").endswith(os.path.basename(path)):
                    return "%s:%d" % (name, line)
    return ""


def missing(source, environment, archives):
    if not source:
        return []
    there = installed_files(source, environment, archives)
    files = list(source_files(source))
    trees = {}
    for path in files:
        if path.endswith(".py"):
            with open(os.path.join(os.path.dirname(source), path), "rb") as file:
                tree = tree_of(file.read())
            if tree:
                trees[path] = tree
    return [{"path": path, "why": why_missing(path, source), "referrer": referrer_of(path, trees)}
            for path in files if path not in there]


def requirements(archives):
    """Names of the distributions that the archives ask for, and what those ask for in turn."""
    found, left = set(), []
    for archive in archives:
        for name, text in archive.items():
            text = text.decode(errors="replace")
            if name.endswith("requires.txt"):
                left += [line for line in text.splitlines() if line and line[0].isalnum()]
            elif name.endswith(("PKG-INFO", ".dist-info/METADATA")):
                left += re.findall(r"^(?:Requires-Dist|Name): *(\S+)", text, re.M)
    while left:
        name = normal(re.match(r"[\w.-]*", left.pop()).group())
        if name and name not in found:
            found.add(name)
            try:
                left += metadata.requires(name.replace("_", "-")) or [] if metadata else []
            except metadata.PackageNotFoundError:
                pass
    return found


def distributions_of(module):
    known = getattr(metadata, "packages_distributions", dict)()
    return {normal(name) for name in known.get(module, ())} | {normal(module)}


def is_standard(module):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return module in names or module == "__future__"
    spec = importlib.util.find_spec(module) if module not in sys.builtin_module_names else None
    return spec is None and module in sys.builtin_module_names or bool(
        spec and spec.origin and "site-packages" not in spec.origin and "dist-packages" not in spec.origin)


def undeclared(archives, source):
    own = {name.split("/")[0].replace(".py", "") for archive in archives for name in archive}
    if source:
        own.add(os.path.basename(source))
    declared, found, told = requirements(archives), [], set()
    for archive in archives:
        for path, text in sorted(archive.items()):
            tree = tree_of(text) if path.endswith(".py") and path != "setup.py" else None
            for line, names, guarded in imports_of(tree, package_of(path)) if tree else ():
                module = names[0].split(".")[0]
                if guarded or module in told or not module or module in own | RUNTIME or is_standard(module):
                    continue
                if distributions_of(module) & declared:
                    continue
                told.add(module)
                here = importlib.util.find_spec(module) is not None
                found.append({"module": module, "where": "%s:%d" % (path, line),
                              "why": "which this host happens to have" if here else "which is not here either"})
    return found


def main():
    asked = json.loads(sys.argv[1])
    archives = [texts_of(path) for path in asked["archives"]]
    source = asked["source"].rstrip("/")
    print(json.dumps({"missing": missing(source, asked["environment"], archives),
                      "undeclared": undeclared(archives, source)}))


main()
