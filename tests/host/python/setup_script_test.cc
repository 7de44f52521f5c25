// Which setup.py does nothing that depends on the sources.
#include "host/python/setup_script.h"

#include <gtest/gtest.h>

#include <string>

namespace caip::host {
namespace {

TEST(SetupScript, IsPlainIfItCallsSetupWithConstants) {
  for (const std::string text : {
           "from setuptools import setup\nsetup(name='t', version=\"0.1\", packages=['t'])\n",
           "import setuptools\nsetuptools.setup(name='t', packages=setuptools.find_packages())\n",
           "from distutils.core import setup\nsetup(name='t', packages=['t'])",
           "# -*- coding: utf-8 -*-\n'''A text with open('x').'''\nfrom setuptools import setup\n"
           "from setuptools import find_packages\nVERSION = '0.1'\nNEEDED = ['a>=1'] + [\n"
           "    'b',  # open('x')\n]\nif __name__ == '__main__':\n"
           "    setup(name='t', version=VERSION, install_requires=NEEDED,\n"
           "          packages=find_packages(exclude=['tests']), zip_safe=False,\n"
           "          extras_require={'gpu': ['c']}, package_data={'t': [r'*.json']})\n",
           "from setuptools import setup\nsetup(name='it\\'s', description=\"\"\"a \"b\" c\"\"\")",
           "from setuptools import setup\ndef setup2():\n  pass\nsetup(name='t')",
           "from setuptools import setup\nsetup(name='t', version='.'.join(['1', '0']))",
           "from setuptools import setup\nsetup(name=[n for n in ['t']][0], version='%s' % 1)",
       }) {
    EXPECT_TRUE(IsPlainSetup(text)) << text;
  }
}

TEST(SetupScript, IsNotPlainIfItMayReadOrRunMore) {
  const std::string import = "from setuptools import setup, find_packages\n";
  for (const std::string rest : {
           "",
           "setup(name='t', entry_points={'console_scripts': ['t=t.task:main']})",
           "setup(name='t', version=__import__('t').__version__)",
           "setup(name='t', version=f'{1 + 1}')",
           "setup(name='t', cmdclass={})",
           "setup(name='t', use_scm_version=True)",
           "setup(name='t', setup_requires=['setuptools_scm'])",
           "setup(name='t', ext_modules=[])",
           "setup(name='t', package_dir={'': 'src'}, packages=find_packages(where='src'))",
           "setup(**{})",
           "from t import version\nsetup(name='t')",
           "from setuptools import *\nsetup(name='t')",
           "from setuptools import setup as find_packages\nsetup(name='t')",
           "from setuptools.command.build_py import build_py\nsetup(name='t')",
           "setup = find_packages\nsetup()",
           "exec('x')\nsetup(name='t')",
           "(lambda: 1)()\nsetup(name='t')",
           "x = [setup][0](name='t')",
           "setup(name='t'",
           "setup(name='t\n')",
           "@x\nsetup(name='t')",
       }) {
    EXPECT_FALSE(IsPlainSetup(import + rest)) << rest;
  }
  EXPECT_FALSE(IsPlainSetup(""));
  EXPECT_FALSE(IsPlainSetup("\xef\xbb\xbfsetup(name='t')"));
}

const std::string kImport = "from setuptools import setup, find_packages\n";

// They read files beside setup.py, whose bytes count for a build and for an installation.
TEST(SetupScript, MayReadFilesBesideIt) {
  const std::string setup = "setup(name='t', long_description=text, install_requires=needed)\n";
  const std::string needed = "needed = ['a>=1']\n";
  const std::string text = "text = ''\n";
  for (const std::string& rest : {
           "import os\n" + text + needed + setup,
           "text = open('README.md', encoding='utf-8').read()\n" + needed + setup,
           "with open('README.md', 'rt') as file:\n    text = file.read()\n" + needed + setup,
           "import io, codecs\ntext = io.open('README.md', mode='r').read()\n"
           "needed = codecs.open('needed.txt', 'r', 'utf-8').read().split('\\n')\n" +
               setup,
           "import os\nhere = os.path.abspath(os.path.dirname(__file__))\n"
           "with open(os.path.join(here, 'README.md'), encoding='utf-8') as f:\n"
           "    text = f.read()\n" +
               needed + setup,
           "from os import path\nhere = path.dirname(path.abspath(__file__))\n"
           "README = 'README.md'\n"
           "with open(path.join(here, README)) as f, open('needed.txt') as g:\n"
           "    text = '\\n' + f.read()\n    needed = list(g)\n" +
               setup,
           "from os.path import dirname, join as joined\n"
           "text = open(joined(dirname(__file__), 'README.md')).read()\n" +
               needed + setup,
           "import pathlib\nhere = pathlib.Path(__file__).parent.resolve()\n"
           "text = (here / 'README.md').read_text(encoding='utf-8')\n"
           "needed = (here / 'needed.txt').read_text().splitlines()\n" +
               setup,
           "from pathlib import Path\n"
           "text = Path(__file__).parent.joinpath('README.md').read_text()\n"
           "with Path('needed.txt').open() as file:\n    needed = file.readlines()\n" +
               setup,
           text + "needed = [l.strip() for l in open('needed.txt')]\n" + setup,
           text +
               "needed = [\n    line.strip() for line in open('needed.txt').readlines()\n"
               "    if line.strip() and not line.startswith('#')\n]\n" +
               setup,
           text +
               "with open('needed.txt') as f:\n  needed = [r for r in f.read().splitlines() if r]\n"
               "extras = {'gpu': ['c']}\nextras['all'] = needed + extras['gpu']\n"
               "needed += ['b' if len(needed) > 1 else 'c']\nneeded.append('d')\n" +
               setup,
           "import os\n\ndef read(name: str, mode='r') -> str:\n    '''Reads.'''\n"
           "    path = os.path.join(os.path.dirname(__file__), name)\n"
           "    with open(path, mode) as file:\n        return file.read()\n\n"
           "text = read('README.md') + read(name='CHANGES.md', mode='rb').decode('utf-8')\n"
           "needed = read('needed.txt').split()\n" +
               setup,
           "def unused(name):\n    return open(name, 'w').write(name)\n" + text + needed + setup,
       }) {
    EXPECT_TRUE(IsPlainSetup(kImport + rest)) << rest;
    const std::string script = "from __future__ import print_function\n" + kImport + rest;
    EXPECT_TRUE(InstallsWithoutReadingSources(script)) << rest;
  }
}

TEST(SetupScript, MayReadFilesInDirectoriesForAnInstallationOnly) {
  for (const std::string rest : {
           "text = open('texts/a.md').read()\n",
           "import os\nhere = os.path.dirname(__file__)\n"
           "text = open(os.path.join(here, 'texts', 'a.md')).read()\n",
           "import pathlib\nhere = pathlib.Path(__file__).parent\n"
           "text = (here / 'texts' / 'a.md').read_text()\n",
           // setup.py may be a link in a source tree. There are none in a distribution.
           "import pathlib\nhere = pathlib.Path(__file__).resolve().parent\n"
           "text = (here / 'a.md').read_text()\n",
           "import os\nhere = os.path.dirname(os.path.realpath(__file__))\n"
           "text = open(os.path.join(here, 'a.md')).read()\n",
       }) {
    const std::string script = kImport + rest + "setup(name='t', long_description=text)\n";
    EXPECT_FALSE(IsPlainSetup(script)) << rest;
    EXPECT_TRUE(InstallsWithoutReadingSources(script)) << rest;
  }
}

void ExpectNotPlain(const std::string& script) {
  EXPECT_FALSE(IsPlainSetup(script)) << script;
  EXPECT_FALSE(InstallsWithoutReadingSources(script)) << script;
}

// Each computes `text` from something other than files with constant names.
TEST(SetupScript, IsNotPlainIfAValueMayDependOnMoreThanFiles) {
  for (const std::string rest : {
           "import os\ntext = os.environ['X']\n",
           "import os\ntext = os.getenv('X', '')\n",
           "from os import environ\ntext = environ['X']\n",
           "import os\ntext = str(os.listdir('.'))\n",
           "import os\ntext = os.popen('git describe').read()\n",
           "import os\ntext = os.path.abspath('.')\n",
           "import os\ntext = os.path.dirname(os.path.abspath(__file__))\n",
           "text = '%s' % __file__\n",
           "text = 'at {}'.format(__file__)\n",
           "text = str([__file__])\n",
           "text = __file__ + ''\n",
           "import pathlib\ntext = str(pathlib.Path(__file__).parent)\n",
           "import pathlib\nhere = pathlib.Path(__file__).parent\ntext = ''.join(c for c in "
           "here)\n",
           "import pathlib\ntext = str(list(pathlib.Path('t').glob('*.md')))\n",
           "import glob\ntext = str(glob.glob('*'))\n",
           "import subprocess\ntext = subprocess.check_output(['git', 'describe'])\n",
           "from subprocess import check_output\ntext = check_output(['git', 'describe'])\n",
           "import datetime\ntext = str(datetime.datetime.now())\n",
           "import time\ntext = time.strftime('%Y')\n",
           "import sys\ntext = sys.argv[0]\n",
           "import sys\ntext = sys.version\n",
           "import socket\ntext = socket.gethostname()\n",
           "text = input()\n",
           "text = str({'a', 'b'})\n",
           "text = str(open)\n",
           "text = str(open('README.md'))\n",
           "text = open('README.md').name\n",
           "import pkg_resources\ntext = str(pkg_resources.working_set)\n",
           "import versioneer\ntext = versioneer.get_version()\n",
           "from t import version\ntext = version\n",
           "import t\ntext = t.__version__\n",
           "text = __import__('t').__version__\n",
           "about = {}\nexec(open('VERSION').read(), about)\ntext = about['x']\n",
           "text = eval(open('VERSION').read())\n",
           "text = (lambda: 'x')()\n",
           "class A:\n    text = 'x'\ntext = A.text\n",
           "try:\n    text = open('README.md').read()\nexcept IOError:\n    text = ''\n",
           "text = ''\nif True:\n    text = 'x'\n",
           "text = ''\nfor c in 'abc':\n    text += c\n",
           "def f(x):\n    if x:\n        return 'a'\n    return 'b'\ntext = f(1)\n",
           "import os\ndef f():\n    return os.environ['X']\ntext = f()\n",
           "def f():\n    return f()\ntext = f()\n",
           "def f():\n    return 'a'\n    yield 'b'\ntext = str(f())\n",
           "def f():\n    return 'a' ** 2\ntext = f()\n",
           "def f(x):\n    return x\ntext = f(__file__)\n",
           "text = f'{1}'\n",
       }) {
    ExpectNotPlain(rest + kImport + "setup(name='t', description=text)\n");
  }
}

// Each opens a file that may be a source, is elsewhere, or changes when it is opened.
TEST(SetupScript, IsNotPlainIfItMayOpenAnotherFile) {
  for (const std::string rest : {
           "text = open('t/version.py').read()\n",
           "text = open('version.py').read()\n",
           "text = open('setup.py').read()\n",
           "text = open('t.egg-info/SOURCES.txt').read()\n",
           "text = open('../README.md').read()\n",
           "text = open('texts/../../README.md').read()\n",
           "text = open('/etc/hostname').read()\n",
           "text = open(0).read()\n",
           "text = open('t/version.' + 'py').read()\n",
           "text = open('t/version.%s' % 'py').read()\n",
           "text = open('t/version.' 'py').read()\n",
           "text = open('t/version.\\x70y').read()\n",
           "text = open(open('NAME').read()).read()\n",
           "name = 'README.md'\nname += 'x'\ntext = open(name).read()\n",
           "name = 'README.md'\nd = {}\nname, d['k'] = 't/x.py', 1\ntext = open(name).read()\n",
           "name = 'README.md'\n[name] = ['t/x.py']\ntext = open(name).read()\n",
           "text = ''.join([open(name).read() for name in ['a', 'b']])\n",
           "name = 'README.md'\ntext = ''.join(open(name).read() for name in ['t/x.py'])\n",
           "def read(name):\n    return open(name).read()\ntext = read('t/x.py')\n",
           "def read(*names):\n    return open(names[0]).read()\ntext = read('README.md')\n",
           "name = 'a'\ndef read(file=name):\n  return open(file).read()\nname = 'b'\ntext = "
           "read()\n",
           "read = open\ntext = read('README.md').read()\n",
           "text = open('README.md', 'w').read()\n",
           "text = open('README.md', mode='a').read()\n",
           "mode = 'r'\nmode += '+'\ntext = open('README.md', mode).read()\n",
           "text = open('README.md', opener=print).read()\n",
           "import os\ntext = open(os.path.join(os.path.dirname(__file__), '..', 'a')).read()\n",
           "import os\ntext = open(os.path.join(os.path.dirname(__file__), '/etc/issue')).read()\n",
           "import os\ntext = open(os.path.join('t', 'version.py')).read()\n",
           "import os\ntext = open(os.path.dirname(os.path.dirname(__file__)) + '/a').read()\n",
           "import os\ntext = open(os.path.expanduser('~/a')).read()\n",
           "import pathlib\ntext = (pathlib.Path(__file__).parent / 't/version.py').read_text()\n",
           "import pathlib\ntext = (pathlib.Path(__file__).parent.parent / 'a').read_text()\n",
           "import pathlib\ntext = pathlib.Path(__file__).read_text()\n",
           "import pathlib\ntext = pathlib.Path('a').with_suffix('.py').read_text()\n",
           "import pathlib\ntext = pathlib.Path.home().joinpath('a').read_text()\n",
           "import pathlib\nname = 'a' + '.py'\ntext = (pathlib.Path() / name).read_text()\n",
       }) {
    ExpectNotPlain(kImport + rest + "setup(name='t', description=text)\n");
  }
}

TEST(SetupScript, IsNotPlainIfSetupMayDoMore) {
  for (const std::string rest : {
           "setup(name='t', package_dir={'': 'src', 'b': 'src/a'})",
           "dirs = {'': 'src'}\ndirs['b'] = 'src/a'\nsetup(name='t', package_dir=dirs)",
           "setup('t')",
           "setup(**{'name': 't'})",
           "setup(name='t', packages=find_packages(where='../t'))",
           "setup(name='t', long_description=open('README.md'))",
           "setup(name='t', cmdclass={})",
           "setup(name='t', ext_modules=[])",
           "setup(name='t', setup_requires=[])",
           "setup(name='t', distclass=None)",
           "__name__ = 't'\nif __name__ == '__main__':\n  setup(name='t')",
           "if __name__ == 't':\n  setup(name='t')",
           "def main():\n  setup(name='t')\n",
       }) {
    ExpectNotPlain(kImport + rest);
  }
}

// Python takes a part of the comment for a statement.
TEST(SetupScript, IsNotPlainIfItsTextMayMeanMore) {
  const std::string setup = kImport + "setup(name='t')\n";
  for (const std::string begin :
       {"# coding: utf-8\r\n", "#!/usr/bin/python\n# -*- coding: latin-1 -*-\n"}) {
    EXPECT_TRUE(IsPlainSetup(begin + setup)) << begin;
  }
  for (const std::string begin : {"# coding: utf-7\n", "#\n# vim: fileencoding=gbk\n",
                                  "# A comment.\rimport time\n", "\f", "x = 1; y = 2\n"}) {
    ExpectNotPlain(begin + setup);
  }
  ExpectNotPlain(std::string("# \0\n", 4) + setup);
  ExpectNotPlain("def f():\n  return 'x'\n\fimport os\n" + setup);
}

TEST(SetupScript, MayCallSetupInAFunction) {
  EXPECT_TRUE(IsPlainSetup(kImport + "def main():\n  setup(name='t')\n\n"
                                     "if __name__ == '__main__':\n  main()\n"));
}

// Functions that call functions may need years, and many brackets may need all of the stack.
TEST(SetupScript, IsNotPlainIfItIsTooLarge) {
  std::string calls = kImport + "def f0():\n  return 'x'\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "f" + std::to_string(i - 1) + "()";
    calls += "def f" + std::to_string(i) + "():\n  return " + before + " + " + before + "\n";
  }
  EXPECT_TRUE(IsPlainSetup(calls + "setup(name=f3())\n"));
  EXPECT_FALSE(IsPlainSetup(calls + "setup(name=f39())\n"));
  const std::string open(100'000, '[');
  const std::string close(100'000, ']');
  EXPECT_FALSE(IsPlainSetup(kImport + "x = " + open + close + "\nsetup(name='t')\n"));
}

TEST(SetupScript, InstallsWithoutReadingSourcesIfItReadsOtherFiles) {
  for (const std::string rest : {
           "setup(name='t', packages=find_packages())",
           "setup(name='t', package_dir={'': 'src'}, packages=find_packages(where='src'))",
           "setup(name='t', entry_points={'console_scripts': ['t=t.task:main']})",
           "setup(name='t', scripts=['bin/t'], data_files=[('share/t', ['conf/words.json'])])",
           "setup(name='t', long_description=open('README.md', encoding='utf-8').read())",
           "with open('requirements.txt') as file:\n    needed = file.read().splitlines()\n"
           "setup(name='t', install_requires=needed, version=open(\"VERSION\").read().strip())",
       }) {
    EXPECT_TRUE(InstallsWithoutReadingSources(kImport + rest)) << rest;
  }
}

TEST(SetupScript, DoesNotInstallWithoutReadingSourcesIfItMayReadThem) {
  for (const std::string rest : {
           "setup(name='t', install_requires=open('t/needed.py').read().split())",
           "setup(name='t', version=open('t/version' '.py').read())",
           "setup(name='t', version=open('t/version' + '.py').read())",
           "setup(name='t', version=open('t/version.\\x70y').read())",
           "file = 't/version.py'\nsetup(name='t', version=open(file).read())",
           "read = open\nsetup(name='t', version=read('t/version.py').read())",
           "open = read\nsetup(name='t')",
           "exec(open('VERSION').read())\nsetup(name='t')",
           "import re\ndeps = re.findall('x', open('t/deps.py').read())\nsetup(name='t')",
           "from t import version\nsetup(name='t', version=version)",
           "import glob\nsetup(name='t', scripts=glob.glob('t/*.py'))",
           "setup(name='t', package_dir={'a': 'src', 'b': 'src'})",
           "setup(name='t', package_dir={'': 'src', 'b': 'src/a'})",
           "setup(name='t', cmdclass={})",
           "setup(name='t', setup_requires=['x'])",
           "setup(name='t', version=open('VERSION').name)",
       }) {
    EXPECT_FALSE(InstallsWithoutReadingSources(kImport + rest)) << rest;
  }
}

}  // namespace
}  // namespace caip::host
