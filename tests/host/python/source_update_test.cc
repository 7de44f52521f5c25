// Environments that are made from earlier ones. Real setuptools and pip, without a network.

#include "host/python/source_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/python/source_update_world.h"

namespace caip::host {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(SourceUpdateTest, LeavesTheFilesThatPipLeaves) {
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared by_pip = Prepare("by_pip");
  const Path environment = Path(by_pip.interpreter).parent_path().parent_path();
  const Members wanted = FilesOf(environment / "lib");
  const Members wanted_scripts = FilesOf(environment / "bin");
  RemoveTree(options_.state);

  Write("src/trainer/task.py", Task("old"));
  const engine::Prepared earlier = Prepare("earlier");
  ASSERT_TRUE(WriteFile(root_.path() / "project/src/trainer/task.py", Task("new")).ok());
  const engine::Prepared updated = Prepare("updated");
  EXPECT_THAT(LinesOf("updated"), Contains(kUpdated));
  EXPECT_THAT(LinesOf("updated"), Not(Contains(HasSubstr("Processing "))));
  EXPECT_EQ(Output({updated.interpreter, "-m", "trainer.task"}), "new other\n");
  EXPECT_EQ(Output({updated.path_prefix + "/train"}), "new other\n");
  EXPECT_EQ(Output({earlier.interpreter, "-m", "trainer.task"}), "old other\n");
  EXPECT_EQ(Output({updated.interpreter, "-c",
                    "import importlib.metadata as m, hashlib, base64\n"
                    "for f in m.files('trainer'):\n"
                    "  if f.hash:\n"
                    "    sum = hashlib.sha256(f.read_binary()).digest()\n"
                    "    text = base64.urlsafe_b64encode(sum).decode().rstrip('=')\n"
                    "    if text != f.hash.value: print('wrong', f)\n"}),
            "");

  const Path tree = Path(updated.interpreter).parent_path().parent_path();
  ExpectSame(FilesOf(tree / "lib"), wanted);
  ExpectSame(FilesOf(tree / "bin"), wanted_scripts);
}

TEST_F(SourceUpdateTest, AnotherProjectHasAPackageOfTheSameName) {
  const std::string setup = *ReadFile(root_.path() / "project/setup.py");
  Prepare("first");
  Write("setup.py",
        "from setuptools import setup\n"
        "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
        "      entry_points={'console_scripts': ['serve=trainer.task:main']})\n");
  Write("src/trainer/task.py", Task("served"));
  Prepare("other");
  EXPECT_THAT(LinesOf("other"), Not(Contains(kUpdated)));

  Write("setup.py", setup);
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared again = Prepare("again");
  EXPECT_THAT(LinesOf("again"), Contains(kUpdated));
  EXPECT_EQ(Output({again.path_prefix + "/train"}), "new other\n");
  EXPECT_FALSE(std::filesystem::exists(TreeOf(again) / "bin/serve"));
}

TEST_F(SourceUpdateTest, LeavesTheFilesThatPipLeavesOfNewAndRemovedSources) {
  Write("src/trainer/added.py", "name = 'added'\n");
  Write("src/trainer/task.py", "from trainer.added import name\ndef main(): print(name)\nmain()\n");
  std::filesystem::remove(root_.path() / "project/src/trainer/other.py");
  const engine::Prepared by_pip = Prepare("by_pip");
  const Members wanted = FilesOf(TreeOf(by_pip) / "lib");
  const auto record = RecordOf(by_pip);
  RemoveTree(options_.state);

  const std::string changed = *ReadFile(root_.path() / "project/src/trainer/task.py");
  std::filesystem::remove(root_.path() / "project/src/trainer/added.py");
  Write("src/trainer/other.py", "name = 'other'\n");
  Write("src/trainer/task.py", Task("old"));
  const engine::Prepared earlier = Prepare("earlier");
  Write("src/trainer/added.py", "name = 'added'\n");
  Write("src/trainer/task.py", changed);
  std::filesystem::remove(root_.path() / "project/src/trainer/other.py");
  const engine::Prepared updated = Prepare("updated");
  EXPECT_THAT(LinesOf("updated"), Contains(kUpdated));
  EXPECT_EQ(Output({updated.interpreter, "-m", "trainer.task"}), "added\n");
  EXPECT_EQ(Output({earlier.interpreter, "-m", "trainer.task"}), "old other\n");
  ExpectSame(FilesOf(TreeOf(updated) / "lib"), wanted);
  EXPECT_EQ(RecordOf(updated), record);
}

TEST_F(SourceUpdateTest, LeavesTheFilesThatPipLeavesInAllDirectories) {
  Write("setup.py",
        "from setuptools import setup\n"
        "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
        "      data_files=[('share/trainer', ['conf/words.json']), ('etc', ['conf/etc.ini']),\n"
        "                  ('', ['conf/top.txt'])],\n"
        "      headers=['conf/trainer.h'], scripts=['conf/tool', 'conf/script.py'])\n");
  Write("MANIFEST.in", "graft conf\n");
  for (const char* name : {"words.json", "etc.ini", "top.txt", "trainer.h"}) {
    Write(std::string("conf/") + name, name);
  }
  Write("conf/tool", "#!/usr/bin/python3\nimport trainer.task as t; t.main()\n");
  Write("conf/script.py", "#!python\nimport trainer.task as t; t.main()\n");
  Write("src/trainer/task.py", Task("new"));
  const Members wanted = InstalledIn(Prepare("by_pip"));
  RemoveTree(options_.state);

  Write("src/trainer/task.py", Task("old"));
  Prepare("earlier");
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared updated = Prepare("updated");
  EXPECT_THAT(LinesOf("updated"), Contains(kUpdated));
  for (const char* name : {"share/trainer/words.json", "etc/etc.ini", "top.txt"}) {
    EXPECT_TRUE(wanted.count(name)) << name;
  }
  ExpectSame(InstalledIn(updated), wanted);
  EXPECT_EQ(Output({updated.path_prefix + "/tool"}), "new other\n");
  EXPECT_EQ(Output({updated.path_prefix + "/script.py"}), "new other\n");
}

// The usual forms of reading a README, a version and requirements.
constexpr const char* kReadingSetup =
    "from __future__ import print_function\n"
    "import io\nimport os\nfrom setuptools import find_packages, setup\n\n"
    "here = os.path.abspath(os.path.dirname(__file__))\n\n\n"
    "def read(name):\n"
    "    return io.open(os.path.join(here, name), encoding='utf-8').read()\n\n\n"
    "with open(os.path.join(here, 'requirements.txt')) as f:\n"
    "    needed = [line.strip() for line in f if line.strip() and not line.startswith('#')]\n\n"
    "if __name__ == '__main__':\n"
    "    setup(name='trainer', version=read('VERSION').strip(), install_requires=needed,\n"
    "          long_description=read('texts/words.md'), packages=find_packages('src'),\n"
    "          long_description_content_type='text/markdown', package_dir={'': 'src'})\n";

TEST_F(SourceUpdateTest, LeavesTheFilesThatPipLeavesIfSetupReadsOtherFiles) {
  OfferRequirement();
  Write("setup.py", kReadingSetup);
  Write("MANIFEST.in", "include texts/words.md requirements.txt VERSION\n");
  Write("VERSION", "0.1\n");
  Write("texts/words.md", "# First words\n");
  Write("requirements.txt", "# none but:\n\nextra>=1.0\n");
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared by_pip = Prepare("by_pip");
  const Members wanted = InstalledIn(by_pip);
  const auto record = RecordOf(by_pip);
  RemoveTree(options_.state);

  Write("src/trainer/task.py", Task("old"));
  Prepare("earlier");
  Write("src/trainer/task.py", Task("new"));
  const engine::Prepared updated = Prepare("updated");
  EXPECT_THAT(LinesOf("updated"), Contains(kUpdated));
  ExpectSame(InstalledIn(updated), wanted);
  EXPECT_EQ(RecordOf(updated), record);
  const std::string facts =
      "import extra, importlib.metadata as m\n"
      "print(extra.name, m.metadata('trainer').get_payload().strip())\n";
  EXPECT_EQ(Output({updated.interpreter, "-c", facts}), "extra # First words\n");

  Write("src/trainer/task.py", Task("newer"));
  Write("texts/words.md", "# Other words\n");
  const engine::Prepared reread = Prepare("reread");
  EXPECT_THAT(LinesOf("reread"), Not(Contains(kUpdated)));
  EXPECT_EQ(Output({reread.interpreter, "-c", facts}), "extra # Other words\n");
  EXPECT_EQ(Output({reread.interpreter, "-m", "trainer.task"}), "newer other\n");
}

}  // namespace
}  // namespace caip::host
