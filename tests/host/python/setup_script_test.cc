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
       }) {
    EXPECT_TRUE(IsPlainSetup(text)) << text;
  }
}

TEST(SetupScript, IsNotPlainIfItMayReadOrRunMore) {
  const std::string import = "from setuptools import setup, find_packages\n";
  for (const std::string rest : {
           "",
           "setup(name='t', long_description=open('README.md').read())",
           "with open('README.md') as file:\n  text = file.read()\nsetup(name='t')",
           "setup(name='t', entry_points={'console_scripts': ['t=t.task:main']})",
           "setup(name='t', version=__import__('t').__version__)",
           "setup(name='t', version=f'{1 + 1}')",
           "setup(name='t', version='.'.join(['1', '0']))",
           "setup(name='t', cmdclass={})",
           "setup(name='t', use_scm_version=True)",
           "setup(name='t', setup_requires=['setuptools_scm'])",
           "setup(name='t', ext_modules=[])",
           "setup(name='t', package_dir={'': 'src'}, packages=find_packages(where='src'))",
           "setup(**{})",
           "setup(name=[n for n in ['t']][0])",
           "import os\nsetup(name='t')",
           "from t import version\nsetup(name='t')",
           "from setuptools import *\nsetup(name='t')",
           "from setuptools import setup as find_packages\nsetup(name='t')",
           "from setuptools.command.build_py import build_py\nsetup(name='t')",
           "setup = find_packages\nsetup()",
           "def setup2():\n  pass\nsetup(name='t')",
           "exec('x')\nsetup(name='t')",
           "(lambda: 1)()\nsetup(name='t')",
           "x = [setup][0](name='t')",
           "setup(name='t'",
           "setup(name='t\n')",
           "@x\nsetup(name='t')",
           "setup(name='t', version='%s' % 1)",
       }) {
    EXPECT_FALSE(IsPlainSetup(import + rest)) << rest;
  }
  EXPECT_FALSE(IsPlainSetup(""));
  EXPECT_FALSE(IsPlainSetup("\xef\xbb\xbfsetup(name='t')"));
}

const std::string kImport = "from setuptools import setup, find_packages\n";

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
