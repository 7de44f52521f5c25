"""Finds the files of a source tree that its package lacks, and the imports that the package does not declare.

The argument is a JSON object: `archives`, the `source` folder of the package, the virtual `environment` that it was
installed into, the modules that the `runtime` version has, and `modules` to find. Prints a JSON object. Does not run
anything of the trainer.
"""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile

try:
    from importlib import metadata
except ImportError:  # Python 3.7
    metadata = None

UNSHIPPED = (".pyc", ".pyo", ".orig", ".swp", "~")
# Describes an interpreter: its path, and where it has each module.
DESCRIBE = """
import importlib.util, json, os, sys
def place_of(module):
    if module in sys.builtin_module_names or module in getattr(sys, "stdlib_module_names", ()):
        return "standard"
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return "nowhere"
    origin = spec and spec.origin or ""
    own = origin.startswith(os.path.dirname(os.__file__) + os.sep) or origin in ("built-in", "frozen")
    if own and "site-packages" not in origin and "dist-packages" not in origin:
        return "standard"
    return "installed" if spec else "nowhere"
print(json.dumps({"path": sys.path, "places": {module: place_of(module) for module in sys.argv[1:]}}))
"""


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


def distributions(paths):
    """(name, requirements, modules) of each distribution that is installed below the paths of an interpreter."""
    for one in metadata.distributions(path=paths) if metadata else ():
        modules = (one.read_text("top_level.txt") or "").split()
        if not modules:
            modules = {file.parts[0].partition(".")[0] for file in one.files or ()}
        yield normal(one.metadata["Name"] or ""), one.requires or [], modules


def requirements(archives, installed):
    """Names of the distributions that the archives ask for, and what those ask for in turn."""
    found, left = set(), []
    for archive in archives:
        for name, text in archive.items():
            text = text.decode(errors="replace")
            if name.endswith("requires.txt"):
                left += [line for line in text.splitlines() if line and line[0].isalnum()]
            elif name.endswith(("PKG-INFO", ".dist-info/METADATA")):
                left += re.findall(r"^(?:Requires-Dist|Name): *(\S+)", text, re.M)
    further = {name: requires for name, requires, _ in installed}
    while left:
        name = normal(re.match(r"[\w.-]*", left.pop()).group())
        if name and name not in found:
            found.add(name)
            left += further.get(name, [])
    return found


def distributions_of(module, installed):
    return {name for name, _, modules in installed if module in modules} | {normal(module)}


def description(command, modules):
    done = subprocess.run([*command, "-c", DESCRIBE, *modules], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode())


def description_of_job(environment, modules):
    """That of the Python that runs the job, with the packages that the job installs; None if there is none."""
    try:
        return description([os.path.join(environment, "bin", "python"), "-I"], modules) if environment else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def imported(archives, known):
    """The modules that the archives import, except the known ones: their first places."""
    places = {}
    for archive in archives:
        for path, text in sorted(archive.items()):
            tree = tree_of(text) if path.endswith(".py") and path != "setup.py" else None
            for line, names, guarded in imports_of(tree, package_of(path)) if tree else ():
                module = names[0].split(".")[0]
                if module and not guarded and module not in known:
                    places.setdefault(module, "%s:%d" % (path, line))
    return places


def undeclared(archives, source, runtime, environment):
    own = {name.split("/")[0].replace(".py", "") for archive in archives for name in archive}
    if source:
        own.add(os.path.basename(source))
    places = imported(archives, own | set(runtime))
    if not places:
        return []
    here, of_job = description([sys.executable], places), description_of_job(environment, places)
    seen = of_job or here
    installed = list(distributions(seen["path"]))
    declared, found = requirements(archives, installed), []
    for module, where in places.items():
        # A module may be a standard one of some versions only, and imported by those.
        is_standard = "standard" in (here["places"][module], seen["places"][module])
        if is_standard or distributions_of(module, installed) & declared:
            continue
        lacks = "which the Python of the job does not have" if of_job else "which is not here either"
        has = seen["places"][module] == "installed"
        found.append({"module": module, "where": where, "why": "which this host happens to have" if has else lacks})
    return found


def places_of(environment, modules):
    """Where the Python of the job has each of the modules; {} if that is not known."""
    described = description_of_job(environment, modules) if modules else None
    return described["places"] if described else {}


def main():
    asked = json.loads(sys.argv[1])
    archives = [texts_of(path) for path in asked["archives"]]
    source = asked["source"].rstrip("/")
    print(json.dumps({"missing": missing(source, asked["environment"], archives),
                      "undeclared": undeclared(archives, source, asked["runtime"], asked["environment"]),
                      "places": places_of(asked["environment"], asked.get("modules", []))}))


main()
