// Environments that are made from earlier ones. Real setuptools and pip, without a network.

#include "host/python/source_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/packages.h"
#include "tests/host/launch_world.h"
#include "tests/host/python/archive_maker.h"

namespace caip::host {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUpdated =
    "Only sources of the packages have changed: they were replaced without pip.";

using Members = std::map<std::string, std::string>;

const Members kPlain = {{"t-0.1/PKG-INFO", "Name: t\nVersion: 0.1\n"},
                        {"t-0.1/setup.py", "from setuptools import setup\nsetup(name='t')\n"},
                        {"t-0.1/t/__init__.py", ""},
                        {"t-0.1/t/task.py", "print(1)\n"}};

void WriteSdist(const Path& file, const Members& members) {
  std::vector<ArchiveMember> list;
  for (const auto& [name, bytes] : members) list.push_back({name, bytes});
  MakeArchive(file, list);
}

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

// gs://b/NAME is a file of a directory.
class BucketSource final : public PackageSource {
 public:
  explicit BucketSource(Path directory) : directory_(std::move(directory)) {}
  Result<Facts> Describe(const std::string& uri) override {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(FileOf(uri)));
    return Facts{std::to_string(std::hash<std::string>()(bytes))};
  }
  Status Fetch(const std::string& uri, const Path& destination) override {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(FileOf(uri)));
    return WriteFile(destination, bytes);
  }

 private:
  Path FileOf(const std::string& uri) const { return directory_ / uri.substr(uri.rfind('/') + 1); }
  Path directory_;
};

InterpreterSearch UsrBin() {
  InterpreterSearch search;
  search.path = "/usr/bin";
  return search;
}

/// The files of a tree with their bytes. Compiled files have the time of their source inside: only
/// their names count.
Members FilesOf(const Path& root) {
  Members files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root);
    if (entry.is_symlink()) {
      files[name] = "-> " + std::filesystem::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      const auto mode = static_cast<unsigned>(entry.status().permissions());
      const auto bytes = ReadFile(entry.path());
      files[name] = entry.path().extension() == ".pyc"
                        ? ""
                        : std::to_string(mode) + " " + (bytes.ok() ? *bytes : "?");
    }
  }
  return files;
}

class SourceUpdateTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto all = interpreters_.All();
    const bool can_install =
        !all.empty() && !all[0].pip.empty() && !all[0].setuptools.empty() && !all[0].wheel.empty();
    if (!can_install) GTEST_SKIP() << "needs /usr/bin/python3 with pip, setuptools and wheel";
    python_ = all[0];
    options_.state = root_.path() / "state";
    options_.own_environment = {{"PATH", "/usr/bin:/bin"},
                                {"HOME", (root_.path() / "home").string()},
                                {"PIP_NO_INDEX", "1"}};
    ASSERT_TRUE(MakeDirectories(root_.path() / "bucket").ok());
    Write("setup.py",
          "from setuptools import setup\n"
          "setup(name='trainer', version='0.1', packages=['trainer'], package_dir={'': 'src'},\n"
          "      entry_points={'console_scripts': ['train=trainer.task:main']})\n");
    Write("src/trainer/__init__.py", "");
    Write("src/trainer/other.py", "name = 'other'\n");
    Write("src/trainer/task.py", Task("old"));
  }
  static std::string Task(const std::string& word) {
    return "from trainer import other\ndef main(): print('" + word + "', other.name)\n" +
           "if __name__ == '__main__': main()\n";
  }
  void Write(const std::string& name, const std::string& text) {
    const Path file = root_.path() / "project" / name;
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, text).ok());
  }
  /// pip can install the requirement "extra".
  void OfferRequirement() {
    ASSERT_TRUE(MakeDirectories(root_.path() / "links").ok());
    MakeArchive(
        root_.path() / "links/extra-1.0-py3-none-any.whl",
        {{"extra.py", "name = 'extra'\n"},
         {"extra-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: extra\nVersion: 1.0"},
         {"extra-1.0.dist-info/WHEEL",
          "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
         {"extra-1.0.dist-info/RECORD", ""}});
    options_.own_environment.emplace_back("PIP_FIND_LINKS", (root_.path() / "links").string());
  }
  /// Builds an sdist of the project, and prepares an environment with it.
  engine::Prepared Prepare(const std::string& job) {
    std::vector<std::string> argv = {python_.executable, "setup.py", "-q"};
    argv.insert(argv.end(), build_arguments_.begin(), build_arguments_.end());
    for (const std::string& word : {std::string("sdist"), std::string("-d")}) argv.push_back(word);
    argv.push_back((root_.path() / "bucket").string());
    const auto built = CaptureTool({.argv = std::move(argv),
                                    .environment = options_.own_environment,
                                    .directory = (root_.path() / "project").string()});
    EXPECT_TRUE(built.ok() && built->result.ok()) << (built.ok() ? built->err : "");
    PackagerOnHost packager(options_, interpreters_, source_, log_, clock_);
    engine::PrepareRequest request;
    request.run = {"p", job, ""};
    request.package_uris = uris_;
    request.software_version = "2.11";
    request.python_version = Text(python_.minor);
    request.log_tasks = {"master-replica-0"};
    std::promise<engine::Prepared> promise;
    packager.Prepare(request, [&](engine::Prepared done) { promise.set_value(std::move(done)); });
    engine::Prepared prepared = promise.get_future().get();
    EXPECT_FALSE(prepared.failure) << prepared.failure->traceback;
    return prepared;
  }
  static Path TreeOf(const engine::Prepared& prepared) {
    return Path(prepared.interpreter).parent_path().parent_path();
  }
  /// All files that pip installed, in every directory of the environment.
  static Members InstalledIn(const engine::Prepared& prepared) {
    Members files = FilesOf(TreeOf(prepared));
    std::erase_if(files, [](const auto& file) {
      return file.first == ".ready" || file.first.starts_with(".packages/");
    });
    return files;
  }
  /// The lines of RECORD without those of files that name the environment's key.
  std::vector<std::string> RecordOf(const engine::Prepared& prepared) const {
    std::vector<std::string> lines;
    for (const auto& [name, text] : FilesOf(TreeOf(prepared) / "lib")) {
      if (!name.ends_with("trainer-0.1.dist-info/RECORD")) continue;
      for (const std::string& line : Split(text, '\n')) {
        const bool names_the_key = line.find("direct_url.json,") != std::string::npos ||
                                   line.find("bin/train,") != std::string::npos;
        if (!names_the_key) lines.push_back(line);
      }
    }
    return lines;
  }
  // RECORD and direct_url.json name the digest of the sdist, in which times differ.
  static void ExpectSame(const Members& files, const Members& wanted) {
    const auto names = [](const Members& members) {
      std::vector<std::string> list;
      for (const auto& [name, bytes] : members) list.push_back(name);
      return list;
    };
    EXPECT_EQ(names(files), names(wanted));
    for (const auto& [name, bytes] : files) {
      const auto other = wanted.find(name);
      const bool names_the_key = name.ends_with("RECORD") || name.ends_with("direct_url.json") ||
                                 bytes.find("/bin/python") != std::string::npos;
      if (!names_the_key && other != wanted.end()) {
        EXPECT_EQ(bytes, other->second) << name;
      }
    }
  }
  std::string Output(std::vector<std::string> argv) const {
    const auto said = CaptureTool(
        {.argv = std::move(argv), .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/tmp"}}});
    return said.ok() ? said->out + said->err : said.error().message;
  }
  std::vector<std::string> LinesOf(const std::string& job) {
    std::vector<std::string> lines;
    for (const engine::LogLine& line : log_.Lines()) {
      if (line.run.job_id == job) lines.push_back(line.message);
    }
    return lines;
  }

  TemporaryDirectory root_;
  std::vector<std::string> uris_ = {"gs://b/trainer-0.1.tar.gz"};
  std::vector<std::string> build_arguments_;
  BucketSource source_{root_.path() / "bucket"};
  Interpreters interpreters_{UsrBin(), {}};
  Interpreter python_;
  RecordingSink log_;
  SystemClock clock_;
  PackagerOptions options_;
};

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
  EXPECT_THAT(LinesOf("three"), Not(Contains(kUpdated)));  // RECORD has no compiled file of it
  EXPECT_EQ(Output({three.interpreter, "-m", "trainer.task"}), "repaired other\n");
}

}  // namespace
}  // namespace caip::host
