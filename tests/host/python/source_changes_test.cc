// Changes between two sdists of a package that are made without pip.

#include "host/python/source_changes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tests/host/python/archive_maker.h"

namespace caip::host {
namespace {

const Members kPlain = {{"t-0.1/PKG-INFO", "Name: t\nVersion: 0.1\n"},
                        {"t-0.1/setup.py", "from setuptools import setup\nsetup(name='t')\n"},
                        {"t-0.1/t/__init__.py", ""},
                        {"t-0.1/t/task.py", "print(1)\n"}};

/// The names of the changed sources, or "more".
std::string Changed(const Members& before, const Members& after) {
  const TemporaryDirectory directory;
  const PackageUpdate update{0, directory.path() / "a.tar.gz", directory.path() / "b.tar.gz"};
  WriteSdist(update.before, before);
  WriteSdist(update.after, after);
  const auto changed = ChangedSources(update);
  if (!changed.ok()) return changed.error().message;
  if (!*changed) return "more";
  std::string names;
  for (const ChangedSource& source : **changed) names += source.member + " ";
  return names;
}

Members With(Members members, const std::string& name, const std::string& bytes) {
  members[name] = bytes;
  return members;
}

TEST(ChangedSources, AreFoundIfNothingElseDiffers) {
  const auto edited = With(kPlain, "t-0.1/t/task.py", "print(2)\n");
  EXPECT_EQ(Changed(kPlain, edited), "t/task.py ");
  EXPECT_EQ(Changed(kPlain, kPlain), "");
  const Members pyproject = With(kPlain, "t-0.1/pyproject.toml",
                                 "[build-system]\nrequires = ['setuptools>=61', \"wheel\"]\n");
  EXPECT_EQ(Changed(pyproject, With(pyproject, "t-0.1/t/__init__.py", "x = 1\n")),
            "t/__init__.py ");
}

TEST(ChangedSources, AreNoneIfMoreDiffersOrTheBuildMayDoMore) {
  for (const auto& [name, bytes] : Members{{"t-0.1/t/sub/__init__.py", ""},
                                           {"t-0.1/more.py", ""},
                                           {"t-0.1/t/more.txt", ""},
                                           {"t-0.1/PKG-INFO", "Name: t\nVersion: 0.2\n"},
                                           {"t-0.1/setup.py", "import os\n"},
                                           {"t-0.1/t/data.txt", "1"},
                                           {"u-0.1/t/task.py", ""}}) {
    EXPECT_EQ(Changed(kPlain, With(kPlain, name, bytes)), "more") << name;
  }
  for (const auto& [name, bytes] :
       Members{{"t-0.1/setup.py", "setup(name='t', cmdclass={})\n"},
               {"t-0.1/setup.cfg", "[options]\ncmdclass = x\n"},
               {"t-0.1/pyproject.toml", "[build-system]\nrequires = ['hatchling']\n"}}) {
    const Members odd = With(kPlain, name, bytes);
    EXPECT_EQ(Changed(odd, With(odd, "t-0.1/t/task.py", "print(2)\n")), "more") << name;
  }
  Members bare = kPlain;
  bare.erase("t-0.1/PKG-INFO");
  EXPECT_EQ(Changed(bare, With(bare, "t-0.1/t/task.py", "print(2)\n")), "more");
}

// pip runs setup.py again, and reads the settings again: PKG-INFO does not show all that they say.
TEST(ChangedSources, AreNoneIfTheBuildMayReadThem) {
  const std::string import = "from setuptools import setup\n";
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"setup.py", import + "import re\ndeps = re.findall('x', open('t/deps.py').read())\n"
                                 "setup(name='t', install_requires=deps)\n"},
           {"setup.py", import + "from t import version\nsetup(name='t', version=version)\n"},
           {"setup.py", import + "setup(name='t', scripts=['t/task.py'])\n"},
           {"setup.py", import + "setup(name='t', data_files=[('share/t', ['t/task.py'])])\n"},
           {"setup.cfg", "[metadata]\nversion = attr: t.__version__\n"},
           {"setup.cfg", "[options]\nsetup_requires = plugin\n"},
           {"setup.cfg", "[options]\ninstall_requires = file: t/task.py\n"},
           {"setup.cfg", "[options.entry_points]\ndistutils.commands =\n  build_py = t:Build\n"},
           {"pyproject.toml",
            "[project]\nname = 't'\n[tool.setuptools.dynamic]\nversion = {attr = 't.version'}\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = []\nbuild-backend = 'b'\nbackend-path = ['.']\n"},
           {"pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = 'flit_core.api'\n"},
           {"pyproject.toml", "[tool.setuptools_scm]\n"},
           {"setup.cfg", "[options]\npackage_dir =\n  t=t\n  other=t\n"},
           {"setup.cfg", "[options]\npackage_dir =\n  =src\n  other=t\npackages = t\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = ['setuptools']\n[tool.setuptools]\n"
            "package-dir = {'t' = 't', 'other' = 't'}\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = ['setuptools']\n[tool.setuptools.package-dir]\n"
            "'' = 'src'\nother = 't'\n"}}) {
    const Members odd = With(kPlain, "t-0.1/" + name, bytes);
    EXPECT_EQ(Changed(odd, With(odd, "t-0.1/t/task.py", "print(2)\n")), "more") << bytes;
  }
}

TEST(ChangedSources, AreFoundIfTheBuildReadsOtherFiles) {
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"setup.py",
            "from setuptools import setup\nsetup(name='t',\n"
            "      long_description=open('README.md').read(), scripts=['bin/t'],\n"
            "      entry_points={'console_scripts': ['t=t.task:main']})\n"},
           {"setup.py",
            "import os\nfrom setuptools import setup\nhere = os.path.dirname(__file__)\n"
            "with open(os.path.join(here, 'texts', 'words.md')) as f:\n    text = f.read()\n"
            "setup(name='t', long_description=text)\n"},
           {"setup.cfg", "[options]\ninstall_requires =\n  attrs\n[egg_info]\ntag_date = 0\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
            "[project]\ndependencies = ['attrs']\n[tool.setuptools.packages.find]\n"},
           {"setup.cfg", "[options]\npackage_dir =\n    =src\npackages = find:\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = ['setuptools']\n[tool.setuptools]\n"
            "package-dir = {'' = 'src'}\n"},
           {"pyproject.toml",
            "[build-system]\nrequires = ['setuptools']\n[tool.setuptools.package-dir]\n"
            "\"\" = \"src\"\n"}}) {
    const Members odd = With(kPlain, "t-0.1/" + name, bytes);
    EXPECT_EQ(Changed(odd, With(odd, "t-0.1/t/task.py", "print(2)\n")), "t/task.py ") << bytes;
  }
}

// A usual form. {} is the file.
const std::string kReader =
    "from setuptools import setup\nimport pathlib\nhere = pathlib.Path(__file__).parent.resolve()\n"
    "setup(name='t', long_description=(here / '{}').read_text(encoding='utf-8'))\n";

TEST(ChangedSources, AreNoneIfAFileThatSetupReadsHasChanged) {
  for (const std::string file : {"README.md", "texts/README.md", "t/version.txt"}) {
    const Members reader =
        With(With(kPlain, "t-0.1/setup.py", ReplaceAll(kReader, "{}", file)), "t-0.1/" + file, "1");
    const Members edited = With(reader, "t-0.1/t/task.py", "print(2)\n");
    EXPECT_EQ(Changed(reader, edited), "t/task.py ") << file;
    // A README that is made from a source changes with it.
    EXPECT_EQ(Changed(reader, With(edited, "t-0.1/" + file, "2")), "more") << file;
  }
  for (const std::string file : {"t/version.py", "t/__init__.py", "version.py"}) {
    const Members reader =
        With(With(kPlain, "t-0.1/setup.py", ReplaceAll(kReader, "{}", file)), "t-0.1/" + file, "1");
    EXPECT_EQ(Changed(reader, With(reader, "t-0.1/" + file, "2")), "more") << file;
  }
}

TEST(ChangedSources, AreNoneIfALinkMayNameThem) {
  const TemporaryDirectory directory;
  const PackageUpdate update{0, directory.path() / "a.tar.gz", directory.path() / "b.tar.gz"};
  for (const Path& file : {update.before, update.after}) {
    std::vector<ArchiveMember> members = {{"t-0.1/t/alias.py", "", "task.py"}};
    for (const auto& [name, bytes] : kPlain) members.push_back({name, bytes});
    if (file == update.after) members.back().bytes = "print(2)\n";
    MakeArchive(file, members);
  }
  const auto changed = ChangedSources(update);
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_FALSE(changed->has_value());
}

TEST(ChangedSources, CanBeNewOrGone) {
  const std::string list = "t-0.1/t.egg-info/SOURCES.txt";
  const Members plain = With(kPlain, list, "setup.py\nt/__init__.py\nt/task.py");
  const Members more = With(With(plain, "t-0.1/t/more.py", "x = 1\n"), list,
                            "setup.py\nt/__init__.py\nt/more.py\nt/task.py");
  EXPECT_EQ(Changed(plain, more), "t/more.py ");
  EXPECT_EQ(Changed(more, plain), "t/more.py ");
  EXPECT_EQ(Changed(plain, With(more, list, "setup.py\nt/data.txt\nt/more.py")), "more");
  Members bare = plain;
  bare.erase("t-0.1/t/__init__.py");
  EXPECT_EQ(Changed(plain, bare), "more") << "it makes the package";
  Members empty = bare;
  empty.erase("t-0.1/t/task.py");
  EXPECT_EQ(Changed(bare, empty), "more") << "the directory is gone";
  const std::string setup =
      "from setuptools import setup\nsetup(name='t', py_modules=['t.task', 't.__init__'])\n";
  EXPECT_EQ(Changed(With(plain, "t-0.1/setup.py", setup), With(more, "t-0.1/setup.py", setup)),
            "more");
}

}  // namespace
}  // namespace caip::host
