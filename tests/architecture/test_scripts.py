#!/usr/bin/env python3
"""Every test that is written in Python is run: the tests of a build (ctest --show-only) name its file.
scripts/quickstart builds the programs that caip starts.

usage: test_scripts.py BUILD_DIRECTORY"""

import fnmatch
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def named_by(command, directory):
    """The paths and patterns of the scripts that a command of ctest runs."""
    for word in command:
        if word.endswith('.py'):
            yield str(pathlib.Path(directory, word).resolve())
    if '-m' in command and 'discover' in command:
        start, pattern = command[command.index('-s') + 1], command[command.index('-p') + 1]
        yield str(pathlib.Path(directory, start, pattern).resolve())
    elif '-m' in command:
        yield str(pathlib.Path(directory, command[-1] + '.py').resolve())


def programs_not_built_by_quickstart():
    """`caip conform` starts caip-conform, which lies beside caip."""
    lines = (ROOT / 'scripts' / 'quickstart').read_text().splitlines()
    [line] = [line for line in lines if line.startswith('./scripts/build ')]
    return {'caip', 'caip-conform'} - set(line.split('|')[0].split())


def main(build):
    listed = subprocess.run(['ctest', '--show-only=json-v1'], cwd=build, stdout=subprocess.PIPE, check=True)
    patterns = set()
    for test in json.loads(listed.stdout)['tests']:
        places = [value['value'] for value in test['properties'] if value['name'] == 'WORKING_DIRECTORY']
        patterns.update(named_by(test.get('command', []), places[0] if places else build))
    scripts = [*ROOT.glob('tests/*/test_*.py'), *ROOT.glob('tests/*/*_test.py')]
    assert len(scripts) > 10, f'the tests are not below {ROOT}'
    left = [script for script in scripts
            if not any(fnmatch.fnmatch(str(script), pattern) for pattern in patterns)]
    for script in sorted(left):
        print(f'{script.relative_to(ROOT)}: no test of ctest runs it')
    missing = programs_not_built_by_quickstart()
    for program in sorted(missing):
        print(f'scripts/quickstart: it does not build {program}')
    return 1 if left or missing else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
