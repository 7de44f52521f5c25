"""The examples of the help and of the documents: what is there, so that no test has to list it."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAIP = str(pathlib.Path(os.environ['CAIP']).resolve())

COMMAND = re.compile(r'(^|[|(] ?|&& )caip( |$|\))')
FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r'\s+# .*$')


def page(*words):
    """A page of help, without a line break that the width of a window makes."""
    environment = {**os.environ, 'COLUMNS': '5000'}
    done = subprocess.run([CAIP, *words], env=environment, text=True, stdout=subprocess.PIPE, timeout=60, check=True)
    return done.stdout


def children(text):
    """The names below `Commands:`."""
    below = re.search(r'^Commands:\n((?:  .*\n)+)', text, re.MULTILINE)
    return re.findall(r'^  (\S+)', below.group(1), re.MULTILINE) if below else []


def commands(path=()):
    """All commands and groups, by their words, with their pages."""
    text = page('help', *path)
    yield path, text
    for name in children(text):
        yield from commands((*path, name))


def joined(lines):
    """Lines without continuations, indentation and comments."""
    text = '\n'.join(line.strip() for line in lines)
    return [COMMENT.sub('', line) for line in re.sub(r' *\\\n', ' ', text).splitlines()]


def of_help():
    """(page, command) for each example of the help."""
    for path, text in commands():
        lines = text.partition('\nExamples:\n')[2].splitlines()
        for line in joined(lines):
            if line and not line.endswith(':'):
                yield ' '.join(('caip', *path)), line


def of_documents():
    """(document, number of the block, commands) for each block of a shell with a command of caip. In a block with
    prompts, lines without one are output. commands.md is made of the help.
    """
    written = [path for path in sorted((ROOT / 'docs').glob('*.md')) if path.name != 'commands.md']
    for path in [ROOT / 'README.md', *written]:
        for number, (language, text) in enumerate(FENCE.findall(path.read_text())):
            if language not in ('', 'sh', 'bash', 'console', 'shell'):
                continue
            lines = joined(text.splitlines())
            if any(line.startswith('$ ') for line in lines):
                lines = [line[2:] for line in lines if line.startswith('$ ')]
            if any(COMMAND.search(line) for line in lines):
                yield path.relative_to(ROOT).as_posix(), number, [line for line in lines if line]
