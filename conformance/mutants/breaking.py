"""Builds one program that holds every deliberate break, each asleep until it is asked for by name.

The product's own sources hold none of it: they are copied, and changed in the copy. A second build
compiles only what changed.
"""

import os
import subprocess

SWITCH = '''#ifndef CAIP_MUTANT_SWITCH  // several files may be compiled as one
#define CAIP_MUTANT_SWITCH
#include <cstdlib>
#include <cstring>
// Whether the break of this name is asked for.
static inline bool caip_mutant(const char* name) {
  const char* asked = std::getenv("CAIP_MUTANT");
  return asked && std::strcmp(asked, name) == 0;
}
#endif
'''

OUT = 'build/release'


def broken_text(name, old, new):
    """What stands in the broken program for `old`."""
    switch = 'caip_mutant("%s")' % name
    if new is None:  # `condition) {...`: the condition up to its parenthesis becomes false
        depth = 0
        for at, letter in enumerate(old):
            depth += letter == '('
            depth -= letter == ')'
            if depth < 0:
                return '!%s && (%s)%s' % (switch, old[:at], old[at:])
        return None
    if old.endswith(';'):
        return '{ if (%s) { %s } else { %s } }' % (switch, new, old) if '\n' not in old \
            else 'if (%s) { %s }\n  %s' % (switch, new, old)
    return None


def mutate(text, name, old, new):
    assert text.count(old) == 1, '%s: its text stands %d times' % (name, text.count(old))
    made = SPECIAL.get(name) or broken_text(name, old, new)
    if made is None:
        for head, tail in (('} else if (', ') {'), ('else if (', ')'), ('if (', None)):
            if old.startswith(head) and new.startswith(head):
                end_old, end_new = closing(old, len(head)), closing(new, len(head))
                made = '%s(caip_mutant("%s") ? bool(%s) : bool(%s))%s' % (
                    head, name, new[len(head):end_new], old[len(head):end_old], old[end_old:])
                break
    if made is None:
        made = '(caip_mutant("%s") ? (%s) : (%s))' % (name, new, old)
    return text.replace(old, made)


def closing(text, start):
    depth = 0
    for at in range(start, len(text)):
        depth += text[at] == '('
        depth -= text[at] == ')'
        if depth < 0:
            return at
    raise ValueError(text)


# For texts that are not expressions.
SPECIAL = {
    'chief_in_cluster_spec': 'caip_mutant("chief_in_cluster_spec"), true',
    'patch_ignores_etag': 'change.labels, caip_mutant("patch_ignores_etag") ? std::nullopt : etag)',
    'range_off_by_one': 'end - *first + (caip_mutant("range_off_by_one") ? 0 : 1)}',
    'suffix_from_start': 'caip_mutant("suffix_from_start") ? 0 : size - length, length}',
    'evaluator_in_cluster': 'text += ClusterText(facts.plan, facts.plan.uses_chief, '
                            'caip_mutant("evaluator_in_cluster"));\n  text += ", \\"task\\"',
    'completed_is_held': '(caip_mutant("completed_is_held") || StringOr(trial, "state") != "COMPLETED");\n}',
    'stopping_at_the_median': '(caip_mutant("stopping_at_the_median") ? *advice.value <= *advice.bar : '
                              '*advice.value < *advice.bar)\n : (caip_mutant("stopping_at_the_median") ? '
                              '*advice.value >= *advice.bar : *advice.value > *advice.bar)',
    'failed_trials_count': '.completed = progress_.succeeded + '
                           '(caip_mutant("failed_trials_count") ? progress_.failed : 0)}',
    'wrong_status_text': 'std::string text = std::to_string(status + caip_mutant("wrong_status_text"));',
}


def sources(root):
    """The product and the judge as they are: {path: bytes}."""
    names = subprocess.run(['git', 'ls-files', '-z', 'src', 'fakes', 'emulator', 'cmake', 'conformance',
                            'CMakeLists.txt', 'CMakePresets.json'], cwd=root, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split('\0')
    files = {}
    for name in filter(None, names):
        with open(os.path.join(root, name), 'rb') as source:
            files[name] = source.read()
    return files


def break_them(files, mutants):
    broken = set()
    for name, _, file, old, new in mutants:
        text = files[file].decode()
        files[file] = mutate(text if file in broken else SWITCH + text, name, old, new).encode()
        broken.add(file)


def write(target, data):
    """Only what changed, so that a second build is short."""
    if os.path.exists(target):
        with open(target, 'rb') as present:
            if present.read() == data:
                return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, 'wb') as out:
        out.write(data)


def use_fetched(root, tree):
    """What the build fetched for the tree itself is not fetched again."""
    fetched = os.path.join(root, 'build', 'deps')
    if os.path.isdir(fetched) and not os.path.exists(os.path.join(tree, 'build', 'deps')):
        os.makedirs(os.path.join(tree, 'build'), exist_ok=True)
        os.symlink(fetched, os.path.join(tree, 'build', 'deps'))


def build(tree):
    """With the flags of the release build, so that the compiler cache knows most of it."""
    subprocess.run(['cmake', '--preset', 'release', '-DCAIP_TESTS=OFF', '-DCAIP_BENCH=OFF'], cwd=tree,
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['cmake', '--build', OUT, '--target', 'caip', 'caip-conform'], cwd=tree, check=True)


def broken_program(root, tree, mutants):
    """The path of a program with all of `mutants`, below `tree`."""
    files = sources(root)
    break_them(files, mutants)
    for name, data in files.items():
        write(os.path.join(tree, name), data)
    use_fetched(root, tree)
    build(tree)
    return os.path.join(tree, OUT, 'caip')
