// Which setup.py does nothing that depends on the sources.
#include "client/setup_script.h"

#include <gtest/gtest.h>

#include <string>

namespace caip::client {
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

}  // namespace
}  // namespace caip::client
