// Changed packages that pip must install again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/python/source_update_world.h"

namespace caip::host {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(SourceUpdateTest, IsLeftToPipIfSetupReadsTheDescriptionFromASource) {
  Write("setup.py",
        "import os\nfrom setuptools import setup\nhere = os.path.dirname(__file__)\nabout = {}\n"
        "with open(os.path.join(here, 'src', 'trainer', 'about.py')) as f:\n"
        "    exec(f.read(), about)\n"
        "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
        "      description=about['text'])\n");
  Write("src/trainer/about.py", "text = 'one'\n");
  Prepare("one");
  Write("src/trainer/about.py", "text = 'two'\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
  EXPECT_EQ(Output({two.interpreter, "-c",
                    "import importlib.metadata as m; print(m.metadata('trainer')['Summary'])"}),
            "two\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfSetupReadsTheRequirementsFromASource) {
  OfferRequirement();
  Write("setup.py",
        "import re\nfrom setuptools import setup\n"
        "deps = re.findall(r'\"(.*?)\"', open('src/trainer/deps.py').read())\n"
        "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
        "      install_requires=deps)\n");
  Write("src/trainer/deps.py", "DEPS = []\n");
  // As `--package-path` builds. The sdist then has no requires.txt.
  build_arguments_ = {"egg_info", "--egg-base", (root_.path() / "links").string()};
  Prepare("one");
  Write("src/trainer/deps.py", "DEPS = [\"extra\"]\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_EQ(Output({two.interpreter, "-c", "import extra; print(extra.name)"}), "extra\n");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
}

TEST_F(SourceUpdateTest, IsLeftToPipIfALaterPackageHasTheFile) {
  WriteSdist(root_.path() / "bucket/second-0.1.tar.gz",
             {{"second-0.1/PKG-INFO", "Metadata-Version: 1.0\nName: second\nVersion: 0.1\n"},
              {"second-0.1/setup.py",
               "from setuptools import setup\n"
               "setup(name='second', version='0.1', packages=['trainer'])\n"},
              {"second-0.1/trainer/__init__.py", ""},
              {"second-0.1/trainer/other.py", "name = 'other'\n"}});
  uris_.push_back("gs://b/second-0.1.tar.gz");
  Prepare("one");
  Write("src/trainer/other.py", "name = 'changed'\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_EQ(Output({two.interpreter, "-m", "trainer.task"}), "old other\n") << "the last one wins";
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared three = Prepare("three");
  EXPECT_THAT(LinesOf("three"), Contains(kUpdated)) << "only the first package has it";
  EXPECT_EQ(Output({three.interpreter, "-m", "trainer.task"}), "new other\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfANewSourceMayNotBeInstalled) {
  Write("src/scripts/tool.py", "print('tool')\n");
  Write("MANIFEST.in", "graft src/scripts\n");
  Prepare("one");
  Write("src/scripts/second.py", "print('second')\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
  EXPECT_EQ(Output({two.interpreter, "-m", "trainer.task"}), "old other\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfTwoDirectoriesHaveTheNameOfThePackage) {
  Write("tests/trainer/__init__.py", "");
  Write("MANIFEST.in", "graft tests\n");
  Prepare("one");
  Write("tests/trainer/test_task.py", "");
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
  EXPECT_EQ(Output({two.interpreter, "-m", "trainer.task"}), "old other\n");
  EXPECT_THAT(Output({two.interpreter, "-c", "import trainer.test_task"}), HasSubstr("No module"));
  Write("tests/trainer/__init__.py", "x = 1\n");
  const engine::Prepared three = Prepare("three");
  EXPECT_EQ(Output({three.interpreter, "-c", "import trainer; print(hasattr(trainer, 'x'))"}),
            "False\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfTheMetadataChanges) {
  Prepare("one");
  Write("setup.py",
        "from setuptools import setup\n"
        "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
        "      description='changed')\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
  EXPECT_EQ(Output({two.interpreter, "-m", "trainer.task"}), "old other\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfASourceDoesNotCompile) {
  Prepare("one");
  Write("src/trainer/task.py", "def main(:\n");
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));
  EXPECT_THAT(Output({two.interpreter, "-m", "trainer.task"}), HasSubstr("SyntaxError"));
  Write("src/trainer/task.py", Task("repaired"));
  const engine::Prepared three = Prepare("three");
  EXPECT_THAT(LinesOf("three"), Contains(kUpdated));  // from the environment of "one"
  EXPECT_EQ(Output({three.interpreter, "-m", "trainer.task"}), "repaired other\n");
}

TEST_F(SourceUpdateTest, IsLeftToPipIfNoEarlierSourceDidCompile) {
  Write("src/trainer/task.py", "def main(:\n");
  Prepare("one");
  Write("src/trainer/task.py", Task("repaired"));
  const engine::Prepared two = Prepare("two");
  EXPECT_THAT(LinesOf("two"), Not(Contains(kUpdated)));  // RECORD has no compiled file of it
  EXPECT_EQ(Output({two.interpreter, "-m", "trainer.task"}), "repaired other\n");
}

}  // namespace
}  // namespace caip::host
