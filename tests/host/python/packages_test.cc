// Real pip on this host's Python, without a network.

#include "host/python/packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>

#include "host/process/child_process.h"
#include "host/python/packages_build.h"
#include "tests/host/launch_world.h"
#include "tests/host/python/archive_maker.h"

namespace caip::host {
namespace {

using engine::Prepared;
using engine::PrepareRequest;
using engine::RunKey;
using engine::Severity;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::chrono::seconds kPatience{240};

// gs://b/NAME is a file of a directory.
class DirectorySource final : public PackageSource {
 public:
  explicit DirectorySource(Path directory) : directory_(std::move(directory)) {}
  Result<Facts> Describe(const std::string& uri) override {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(FileOf(uri)));
    if (!has_digests) return Facts{};
    return Facts{std::to_string(bytes.size()) + "-" +
                 std::to_string(std::hash<std::string>()(bytes))};
  }
  Status Fetch(const std::string& uri, const Path& destination) override {
    ++fetches;
    if (on_fetch) on_fetch();
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(FileOf(uri)));
    return WriteFile(destination, bytes);
  }
  std::atomic<int> fetches{0};
  std::function<void()> on_fetch;
  bool has_digests = true;

 private:
  Path FileOf(const std::string& uri) const { return directory_ / uri.substr(uri.rfind('/') + 1); }
  Path directory_;
};

InterpreterSearch HostPython() {
  InterpreterSearch search;
  search.path = "/usr/bin";
  return search;
}

class PackagerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto all = interpreters_.All();
    const bool can_install =
        !all.empty() && !all[0].pip.empty() && !all[0].setuptools.empty() && !all[0].wheel.empty();
    if (!can_install) GTEST_SKIP() << "needs /usr/bin/python3 with pip, setuptools and wheel";
    python_ = Text(all[0].minor);
    options_.state = root_.path() / "state";
    options_.pip_line_each = std::chrono::hours(1);  // pip is slow on a busy host
    options_.own_environment = {{"PATH", "/usr/bin:/bin"},
                                {"HOME", (root_.path() / "home").string()},
                                {"PIP_NO_INDEX", "1"}};
    ASSERT_TRUE(MakeDirectories(root_.path() / "bucket").ok());
    Restart();
  }
  void Restart() {
    packager_.reset();
    packager_ = std::make_unique<PackagerOnHost>(options_, interpreters_, source_, log_, clock_);
  }

  // A sdist is a setup.py in a tar, as setuptools would have packed it.
  std::string Sdist(const std::string& name, const std::string& setup_arguments = "",
                    const std::string& code = "print('hello')\n") {
    const std::string file = name + "-0.1.tar.gz";
    const std::string top = name + "-0.1/";
    MakeArchive(root_.path() / "bucket" / file,
                {{top + "setup.py", "from setuptools import setup\nsetup(name='" + name +
                                        "', version='0.1', packages=['" + name + "'], " +
                                        setup_arguments + ")\n"},
                 {top + name + "/__init__.py", ""},
                 {top + name + "/task.py", code}});
    return "gs://b/" + file;
  }
  std::string Raw(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(WriteFile(root_.path() / "bucket" / name, bytes).ok());
    return "gs://b/" + name;
  }

  PrepareRequest Request(const std::string& job, std::vector<std::string> uris) {
    PrepareRequest request;
    request.run = {"p", job, ""};
    request.attempt = 3;
    request.package_uris = std::move(uris);
    request.software_version = "2.11";
    request.python_version = python_;
    request.log_tasks = {"master-replica-0"};
    return request;
  }
  std::future<Prepared> Begin(PrepareRequest request) {
    auto promise = std::make_shared<std::promise<Prepared>>();
    std::future<Prepared> future = promise->get_future();
    packager_->Prepare(std::move(request),
                       [promise](Prepared prepared) { promise->set_value(std::move(prepared)); });
    return future;
  }
  Prepared Prepare(const std::string& job, std::vector<std::string> uris) {
    std::future<Prepared> future = Begin(Request(job, std::move(uris)));
    if (future.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return future.get();
  }
  std::string RunModule(const Prepared& prepared, const std::string& module) {
    Variables environment = prepared.environment;
    environment.emplace_back("PATH", prepared.path_prefix + ":/usr/bin:/bin");
    environment.emplace_back("HOME", (root_.path() / "replica-home").string());
    const auto said = CaptureTool(
        {.argv = {prepared.interpreter, "-m", module}, .environment = std::move(environment)});
    if (!said.ok()) return said.error().message;
    return said->out + said->err;
  }
  std::vector<std::string> LinesOf(const std::string& job) {
    std::vector<std::string> lines;
    for (const engine::LogLine& line : log_.Lines()) {
      if (line.run.job_id == job) lines.push_back(line.message);
    }
    return lines;
  }

  TemporaryDirectory root_;
  DirectorySource source_{root_.path() / "bucket"};
  Interpreters interpreters_{HostPython(), {}};
  RecordingSink log_;
  SystemClock clock_;
  PackagerOptions options_;
  std::string python_;
  std::unique_ptr<PackagerOnHost> packager_;
};

TEST_F(PackagerTest, InstallsInOrderAndFindsTheSameEnvironmentAgainWithoutAnyProcess) {
  const std::vector<std::string> uris = {
      Sdist("base_lib", "", "name = 'base_lib'\n"),
      Sdist("trainer", "install_requires=['base_lib'], scripts=[]",
            "from base_lib.task import name\nprint('hello from', name)\n")};
  const Prepared first = Prepare("job_1", uris);
  ASSERT_FALSE(first.failure) << first.failure->traceback << first.failure->refusal;
  EXPECT_EQ(first.run.job_id, "job_1");
  EXPECT_EQ(first.attempt, 3);
  EXPECT_EQ(RunModule(first, "trainer.task"), "hello from base_lib\n");

  std::vector<std::string> ours;
  for (const std::string& line : LinesOf("job_1")) {
    if (line.find("the package: ") != std::string::npos) ours.push_back(line);
  }
  EXPECT_THAT(
      ours,
      ElementsAre("Downloading the package: " + uris[0], "Installing the package: " + uris[0],
                  "Downloading the package: " + uris[1], "Installing the package: " + uris[1]));
  // Of both pip commands for a package, the last line remains, once.
  EXPECT_THAT(LinesOf("job_1"),
              ElementsAre(ours[0], ours[1], "Successfully installed base-lib-0.1", ours[2], ours[3],
                          "Successfully installed trainer-0.1"));
  for (const engine::LogLine& line : log_.Lines()) {
    EXPECT_EQ(line.task, "master-replica-0");
    EXPECT_EQ(line.severity, Severity::kInfo) << line.message;
  }
  EXPECT_TRUE(std::filesystem::is_empty(options_.state / "packages"));

  // From now on any start of that Python leaves a trace.
  const Path trap = root_.path() / "was-run";
  const Path python = first.interpreter;
  std::filesystem::remove(python);
  ASSERT_TRUE(WriteFile(python, "#!/bin/sh\ntouch " + trap.string() + "\nexit 1\n").ok());
  ::chmod(python.c_str(), 0755);
  const int fetches = source_.fetches;
  const int asked = interpreters_.asked();
  Restart();
  const Prepared second = Prepare("job_2", uris);
  ASSERT_FALSE(second.failure);
  EXPECT_EQ(second.interpreter, first.interpreter);
  ASSERT_EQ(second.packages.size(), 2u);
  EXPECT_EQ(Path(second.packages[0]).filename(), Path(uris[0]).filename());
  EXPECT_EQ(second.packages, first.packages);
  EXPECT_FALSE(second.needs.empty());
  EXPECT_EQ(second.needs, first.needs);
  EXPECT_TRUE(std::filesystem::exists(second.packages[1]));
  EXPECT_FALSE(std::filesystem::exists(trap));
  EXPECT_EQ(source_.fetches, fetches);
  EXPECT_EQ(interpreters_.asked(), asked);
  EXPECT_THAT(
      LinesOf("job_2"),
      ElementsAre("Downloading the package: " + uris[0], "Installing the package: " + uris[0],
                  "Downloading the package: " + uris[1], "Installing the package: " + uris[1],
                  "The packages are unchanged: their environment is used again."));
}

TEST_F(PackagerTest, TheLauncherOfVertexAiQuotesItsCommands) {
  PrepareRequest request = Request("job", {Sdist("trainer")});
  request.run.location = "us-central1";  // only its jobs have one
  std::future<Prepared> prepared = Begin(request);
  ASSERT_EQ(prepared.wait_for(kPatience), std::future_status::ready);
  for (const auto& line : LauncherLines("gs://b/trainer-0.1.tar.gz"))
    EXPECT_THAT(LinesOf("job"), Contains(line.text));
}

TEST_F(PackagerTest, AMissingDependencyFailsTheJobWithPipsWordsAfterTwoTries) {
  const Prepared prepared =
      Prepare("job", {Sdist("trainer", "install_requires=['surely-not-there-4711']")});
  ASSERT_TRUE(prepared.failure);
  EXPECT_EQ(prepared.failure->exit_code, 1);
  EXPECT_EQ(prepared.failure->refusal, "");
  EXPECT_THAT(prepared.failure->traceback,
              AllOf(StartsWith("Command 'pip3 install trainer-0.1.tar.gz' returned non-zero exit "
                               "status 1."),
                    HasSubstr("No matching distribution found for surely-not-there-4711")));
  EXPECT_LE(prepared.failure->traceback.size(), 2048u);
  int errors = 0;
  for (const engine::LogLine& line : log_.Lines()) {
    if (line.message.find("No matching distribution") == std::string::npos) continue;
    EXPECT_EQ(line.severity, Severity::kError);
    ++errors;
  }
  EXPECT_EQ(errors, 2);
  // Nothing half-made is ever found again.
  EXPECT_TRUE(std::filesystem::is_empty(options_.state / "environments"));
}

TEST_F(PackagerTest, ABrokenSetupFailsTheJobWithItsTraceback) {
  const Prepared prepared = Prepare("job", {Sdist("trainer", "**no_such_name")});
  ASSERT_TRUE(prepared.failure);
  EXPECT_NE(prepared.failure->exit_code, 0);
  EXPECT_THAT(prepared.failure->traceback,
              HasSubstr("NameError: name 'no_such_name' is not defined"));
}

TEST_F(PackagerTest, AnArchiveWithPathsOutsideIsRefusedBeforePipSeesIt) {
  MakeArchive(root_.path() / "bucket/evil-0.1.tar.gz",
              {{"evil-0.1/setup.py", "x"}, {"evil-0.1/../../evil.py", "y"}});
  const Prepared prepared = Prepare("job", {"gs://b/evil-0.1.tar.gz"});
  ASSERT_TRUE(prepared.failure);
  EXPECT_THAT(prepared.failure->refusal, AllOf(HasSubstr("gs://b/evil-0.1.tar.gz"),
                                               HasSubstr("member 'evil-0.1/../../evil.py'")));
  EXPECT_THAT(LinesOf("job"), ElementsAre("Downloading the package: gs://b/evil-0.1.tar.gz"));
}

TEST_F(PackagerTest, WhatIsNoArchiveFailsAsWhatPipRefuses) {
  const Prepared prepared = Prepare("job", {Raw("trainer.tar.gz", "hello")});
  ASSERT_TRUE(prepared.failure);
  EXPECT_EQ(prepared.failure->refusal, "");
  EXPECT_EQ(prepared.failure->exit_code, 1);
  EXPECT_THAT(prepared.failure->traceback, HasSubstr("not a readable sdist or wheel"));
}

TEST_F(PackagerTest, WhatCannotBeReadFailsTheJob) {
  for (const char* uri : {"gs://b/missing.tar.gz", "gs://b/", "gs://b/.."}) {
    const Prepared prepared = Prepare("job", {uri});
    ASSERT_TRUE(prepared.failure) << uri;
    EXPECT_EQ(prepared.failure->exit_code, 1);
    EXPECT_THAT(prepared.failure->traceback, HasSubstr(uri));
  }
}

TEST_F(PackagerTest, NoPackagesNeedNoPip) {
  source_.on_fetch = [] { ADD_FAILURE() << "there is nothing to fetch"; };
  for (const char* job : {"first", "again"}) {
    const Prepared prepared = Prepare(job, {});
    ASSERT_FALSE(prepared.failure);
    EXPECT_THAT(LinesOf(job), ElementsAre("No packages to install."));
    const Path hook = FindVariable(prepared.environment, "PYTHONPATH").value();
    EXPECT_TRUE(std::filesystem::exists(hook / "__pycache__")) << "the hook is not compiled";
    EXPECT_THAT(RunModule(prepared, "this"), StartsWith("The Zen of Python"));
  }
}

TEST_F(PackagerTest, RunsThatWantTheSameAtTheSameTimeShareOneInstallation) {
  std::promise<void> let_go;
  std::promise<void> fetching;
  std::shared_future<void> gate = let_go.get_future().share();
  source_.on_fetch = [&, first = true]() mutable {
    if (std::exchange(first, false)) fetching.set_value();
    gate.wait();
  };
  const std::string uri = Sdist("trainer");
  std::future<Prepared> one = Begin(Request("one", {uri}));
  ASSERT_EQ(fetching.get_future().wait_for(kPatience), std::future_status::ready);
  std::future<Prepared> two = Begin(Request("two", {uri}));
  std::future<Prepared> three = Begin(Request("three", {uri}));
  packager_->Abandon({"p", "three", ""});
  // A late watcher gets the earlier lines.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (LinesOf("two").empty() && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  ASSERT_FALSE(LinesOf("two").empty()) << "it never joined";
  let_go.set_value();
  ASSERT_EQ(one.wait_for(kPatience), std::future_status::ready);
  ASSERT_EQ(two.wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(one.get().failure);
  EXPECT_FALSE(two.get().failure);
  EXPECT_EQ(source_.fetches, 1);
  EXPECT_THAT(LinesOf("two"), Contains("Installing the package: " + uri));
  packager_.reset();
  EXPECT_EQ(three.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_THROW(three.get(), std::future_error);  // `done` was dropped uncalled
}

TEST_F(PackagerTest, AbandonEndsPipLeavesNothingAndTheNextJobStartsAfresh) {
  const Path temporary = root_.path() / "temporary";
  ASSERT_TRUE(MakeDirectories(temporary).ok());
  options_.own_environment.emplace_back("TMPDIR", temporary.string());
  Restart();
  const Path mark = root_.path() / "pip-is-at-it";
  const std::string slow =
      Sdist("trainer", "url='' if __import__('os').path.exists('" + mark.string() +
                           "') else (open('" + mark.string() +
                           "', 'w').write(str(__import__('subprocess').Popen(['setsid', 'sleep', "
                           "'1000']).pid)), __import__('time').sleep(600)) and ''");
  const auto daemon = [&mark] {
    const auto text = ReadFile(mark);
    return text.ok() ? std::atoi(text->c_str()) : 0;
  };
  std::future<Prepared> one = Begin(Request("one", {slow}));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (daemon() == 0 && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  ASSERT_NE(daemon(), 0) << "pip never came to setup.py";
  packager_->Abandon({"p", "one", ""});
  const Prepared two = Prepare("two", {slow});
  EXPECT_FALSE(two.failure) << two.failure->traceback;
  packager_.reset();
  EXPECT_THROW(one.get(), std::future_error);
  EXPECT_EQ(::kill(daemon(), 0), -1) << "what pip started lives";
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  EXPECT_TRUE(std::filesystem::is_empty(options_.state / "tmp"));
}

TEST_F(PackagerTest, OtherBytesUnderTheSameNameAreAnotherEnvironment) {
  source_.has_digests = false;  // the packager must read them itself
  const std::string uri = Sdist("trainer", "", "print('old')\n");
  const Prepared old = Prepare("one", {uri});
  ASSERT_EQ(Sdist("trainer", "", "print('new')\n"), uri);
  const Prepared renewed = Prepare("two", {uri});
  EXPECT_EQ(RunModule(old, "trainer.task"), "old\n");
  EXPECT_EQ(RunModule(renewed, "trainer.task"), "new\n");
}

TEST_F(PackagerTest, APyprojectThatWantsSetuptoolsBuildsWithoutANetwork) {
  MakeArchive(root_.path() / "bucket/modern-0.1.tar.gz",
              {{"modern-0.1/pyproject.toml",
                "[build-system]\nrequires = [\"setuptools\", \"wheel\"]\n"
                "build-backend = \"setuptools.build_meta\"\n"},
               {"modern-0.1/setup.py",
                "from setuptools import setup\n"
                "setup(name='modern', version='0.1', py_modules=['modern'])\n"},
               {"modern-0.1/modern.py", "print('modern')\n"}});
  const Prepared prepared = Prepare("job", {"gs://b/modern-0.1.tar.gz"});
  ASSERT_FALSE(prepared.failure) << prepared.failure->traceback;
  EXPECT_EQ(RunModule(prepared, "modern"), "modern\n");
}

TEST_F(PackagerTest, WhatATrainerInstallsItselfStaysOutOfTheSharedEnvironment) {
  const std::string inner = (root_.path() / "bucket/inner-0.1.tar.gz").string();
  Sdist("inner");
  const std::string uri =
      Sdist("trainer", "",
            "import subprocess, sys\n"
            "sys.exit(subprocess.call([sys.executable, '-m', 'pip', 'install', '-q', '" +
                inner + "']))\n");
  const Prepared prepared = Prepare("job", {uri});
  ASSERT_FALSE(prepared.failure) << prepared.failure->traceback;
  EXPECT_EQ(RunModule(prepared, "trainer.task"), "");
  EXPECT_EQ(RunModule(prepared, "inner.task"), "hello\n");  // from the replica's $HOME
  const Path environment = Path(prepared.path_prefix).parent_path();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(environment)) {
    EXPECT_NE(entry.path().filename(), "inner");
  }
}

TEST_F(PackagerTest, AnotherPythonThanAskedForIsToldOnceToTheJobsLog) {
  PrepareRequest request = Request("job", {});
  request.python_version = "3.99";
  std::future<Prepared> future = Begin(request);
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(future.get().failure);
  ASSERT_FALSE(log_.Lines().empty());
  EXPECT_EQ(log_.Lines()[0].task, "service");
  EXPECT_EQ(log_.Lines()[0].severity, Severity::kWarning);
  EXPECT_THAT(log_.Lines()[0].message, StartsWith("Python 3.99 was asked for; running "));
  options_.strict_runtime = true;
  Restart();
  std::future<Prepared> strict = Begin(request);
  ASSERT_EQ(strict.wait_for(kPatience), std::future_status::ready);
  EXPECT_THAT(strict.get().failure->refusal, HasSubstr("--strict-runtime"));
}

}  // namespace
}  // namespace caip::host
