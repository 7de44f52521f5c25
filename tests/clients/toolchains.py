"""Clients that are not installed by pip or npm, each installed once below the build folder.

Used by the scripts here, like support.py.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest

import support


def inside(**environments):
    """Runs this script in virtual environments, each a list of requirements named by a keyword.

    Returns only inside of one. Outside, it ends the process: with 1 if one of the environments' runs
    failed, with 77 if nothing could be run in any.
    """
    if os.environ.get('CAIP_CLIENT_ENVIRONMENT') in environments:
        return
    codes = [_run_inside(name, requirements) for name, requirements in environments.items()]
    ran = [code for code in codes if code != support.SKIPPED]
    sys.exit(next((code for code in ran if code), 0) if ran else support.SKIPPED)


def _run_inside(name, requirements):
    try:
        interpreter = support.virtualenv(name, *requirements)
    except unittest.SkipTest as reason:
        print(f'SKIPPED {name}: {reason}', flush=True)
        return support.SKIPPED
    print(f'in {name}: {", ".join(requirements)}', flush=True)
    return subprocess.run([interpreter, *sys.argv], check=False, env={
        **os.environ, 'CAIP': str(support.caip_binary()),
        'CAIP_CLIENTS': str(support.clients_directory()),
        'CAIP_CLIENT_ENVIRONMENT': name, 'PYTHONDONTWRITEBYTECODE': '1'}).returncode


def debian_program(package, program):
    """The path of a program of a Debian package: the installed one, or else one unpacked here."""
    if shutil.which(program):
        return shutil.which(program)
    support.need('apt-get', 'dpkg-deb')
    with support.installing(f'debian-{package}', package) as (directory, fresh):
        if fresh:
            support.install(['apt-get', '-q', 'download', package], support.clean_environment(), 300,
                            cwd=directory)
            archive = next(directory.glob('*.deb'))
            support.install(['dpkg-deb', '-x', archive, directory], None, 300)
            archive.unlink()
    return str(directory / 'usr/bin' / program)


def go_program(name, source, *modules, timeout=1500):
    """A program built from Go source text with these modules (`path@version`)."""
    support.need('go')
    recipe = json.dumps([source, modules])
    home = support.clients_directory() / 'go'
    env = {**support.clean_environment(), **support.installation, 'GOMODCACHE': str(home / 'mod'),
           'GOCACHE': str(home / 'cache'), 'GOFLAGS': '-modcacherw'}
    with support.installing(f'go-{name}', recipe) as (directory, fresh):
        if fresh:
            (directory / 'main.go').write_text(source)
            for words in (['mod', 'init', 'client.test/main'], ['get', *modules],
                          ['mod', 'tidy']):
                support.install(['go', *words], env, timeout, cwd=directory)
            # A program that does not compile is an error of the test, not a reason to skip.
            support.run(['nice', 'go', 'build', '-p', '1', '-o', 'client', '.'], env=env,
                        timeout=timeout, cwd=directory)
    return directory / 'client'


_POM = '''<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>client.test</groupId><artifactId>main</artifactId><version>1</version>
  <properties><maven.compiler.source>17</maven.compiler.source>
  <maven.compiler.target>17</maven.compiler.target>
  <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
  <dependencies>%s</dependencies>
</project>
'''


def java_program(name, source, *artifacts, timeout=1500):
    """The command that runs class Main of this source text with these artifacts (`group:artifact:version`)."""
    support.need('java', 'javac', 'mvn')
    recipe = json.dumps([source, artifacts])
    home = support.clients_directory() / 'maven'
    with support.installing(f'java-{name}', recipe) as (directory, fresh):
        jars = directory / 'jars'
        if fresh:
            fields = ('groupId', 'artifactId', 'version')
            (directory / 'pom.xml').write_text(_POM % ''.join(
                '<dependency>' + ''.join(f'<{f}>{v}</{f}>' for f, v in zip(fields, a.split(':')))
                + '</dependency>' for a in artifacts))
            (directory / 'Main.java').write_text(source)
            env = {**support.clean_environment(), **support.installation}
            support.install(['mvn', '-q', '-B', '-U', f'-Dmaven.repo.local={home}',
                             'dependency:copy-dependencies', f'-DoutputDirectory={jars}'], env,
                            timeout, cwd=directory)
            support.run(['javac', '-cp', f'{jars}/*', '-d', directory, directory / 'Main.java'],
                        timeout=timeout)
    return ['java', '-Xmx512m', '-cp', f'{jars}/*:{directory}', 'Main']
