#pragma once
// What tests of environments that are made from earlier ones share: a project, whose sdists real
// setuptools and pip build and install, without a network.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/packages.h"
#include "tests/host/launch_world.h"
#include "tests/host/python/archive_maker.h"

namespace caip::host {

/// The log has this line if pip has not run.
inline constexpr const char* kUpdated =
    "Only sources of the packages have changed: they were replaced without pip.";

/// gs://b/NAME is a file of a directory.
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

/// The interpreters of the system.
inline InterpreterSearch UsrBin() {
  InterpreterSearch search;
  search.path = "/usr/bin";
  return search;
}

/// The files of a tree with their bytes. Compiled files have the time of their source inside: only
/// their names count.
inline Members FilesOf(const Path& root) {
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

/// A trainer in src/, of which each job (Prepare) makes an environment.
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

}  // namespace caip::host
