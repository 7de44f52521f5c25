#include "host/python/interpreters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/python/runtime_environments.h"

namespace caip::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An interpreter that answers every question with the same version. It is a program to the scan
// only when it is configured, since it is a script.
void WritePython(const Path& path, const std::string& version, const std::string& more = "") {
  ASSERT_TRUE(MakeDirectories(path.parent_path()).ok());
  ASSERT_TRUE(WriteFile(path, "#!/bin/sh\necho asked >> '" + path.string() + ".asked'\n" +
                                  "echo '{\"version\": \"" + version + "\", \"executable\": \"" +
                                  path.string() + "\", \"pip\": \"23.0\"" + more + "}'\n")
                  .ok());
  ::chmod(path.c_str(), 0755);
}

class InterpretersTest : public testing::Test {
 protected:
  InterpreterSearch Search(std::vector<std::pair<std::string, std::string>> pythons) {
    InterpreterSearch search;
    search.system_directories.clear();  // what this host has must not matter
    for (const auto& [name, version] : pythons) {
      WritePython(root_.path() / name, version);
      search.configured.push_back(root_.path() / name);
    }
    search.cache_file = root_.path() / "interpreters.json";
    return search;
  }
  int TimesAsked(const std::string& name) {
    const auto text = ReadFile(root_.path() / (name + ".asked"));
    return text.ok() ? static_cast<int>(text->size() / 6) : 0;
  }
  TemporaryDirectory root_;
};

TEST(PythonMinor, IsReadFromVersions) {
  EXPECT_EQ(ParsePythonMinor("3.7"), (PythonMinor{3, 7}));
  EXPECT_EQ(ParsePythonMinor("3.11.2"), (PythonMinor{3, 11}));
  for (const char* text : {"", "3", "3.", ".7", "3.x", "three", "3.7rc1", "33333.1"}) {
    EXPECT_EQ(ParsePythonMinor(text), std::nullopt) << text;
  }
}

TEST(Fitness, IsExactThenTheNearestNewerThenTheNearestOlder) {
  std::vector<InterpreterCandidate> candidates;
  for (const int minor : {6, 5, 12, 7, 9, 7}) {
    const std::string name = "/" + std::to_string(candidates.size());
    candidates.push_back({name, PythonMinor{3, minor}});
  }
  candidates.push_back({"/unknown", std::nullopt});
  std::vector<std::string> order;
  for (const auto& candidate : InOrderOfFitness(candidates, {3, 7})) {
    order.push_back(candidate.path);
  }
  EXPECT_THAT(order, ElementsAre("/unknown", "/3", "/5", "/4", "/2", "/0", "/1"));
}

TEST_F(InterpretersTest, TheAskedVersionComesWithoutAWarning) {
  Interpreters interpreters(Search({{"b/python3.8", "3.8.1"}, {"a/python3.7", "3.7.16"}}), {});
  const auto choice = interpreters.Choose({"2.4", "3.7"});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->interpreter.version, "3.7.16");
  EXPECT_EQ(choice->warning, "");
  EXPECT_EQ(TimesAsked("b/python3.8"), 0);  // its name was enough to see that it is second
}

TEST_F(InterpretersTest, PythonThreeSevenIsMeantWhereTheJobNamesNoPython) {
  Interpreters interpreters(Search({{"a/python3.8", "3.8.1"}, {"b/python3.7", "3.7.16"}}), {});
  EXPECT_EQ(interpreters.Choose({"", ""})->interpreter.version, "3.7.16");
}

TEST_F(InterpretersTest, TheNearestComesWithAWarningThatSaysWhy) {
  Interpreters interpreters(Search({{"a/python3.12", "3.12.1"}, {"b/python3.9", "3.9.18"}}), {});
  const auto choice = interpreters.Choose({"2.4", "3.7"});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->interpreter.version, "3.9.18");
  EXPECT_THAT(choice->warning, HasSubstr("Python 3.7 was asked for; running 3.9.18"));
  EXPECT_THAT(choice->warning, HasSubstr("b/python3.9"));
  EXPECT_THAT(choice->warning, HasSubstr("because this host has no Python 3.7"));
}

TEST_F(InterpretersTest, StrictJobsAreRefusedInsteadAndToldOfTheNearest) {
  Interpreters interpreters(Search({{"a/python3.9", "3.9.18"}}), {});
  const auto choice = interpreters.Choose({"2.4", "3.7", true});
  ASSERT_FALSE(choice.ok());
  EXPECT_THAT(choice.error().message, HasSubstr("the nearest is 3.9.18"));
  EXPECT_THAT(choice.error().message, HasSubstr("runtimes:"));
}

TEST_F(InterpretersTest, PythonTwoIsSaidNotToBeSupported) {
  Interpreters interpreters(Search({{"a/python3.9", "3.9.18"}}), {});
  const auto choice = interpreters.Choose({"1.15", "2.7"});
  ASSERT_FALSE(choice.ok());
  EXPECT_THAT(choice.error().message, HasSubstr("caip runs Python 3 only"));
}

TEST_F(InterpretersTest, TheConfigurationIsObeyed) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  WritePython(root_.path() / "mine/python", "3.10.1");
  const std::string mine = (root_.path() / "mine/python").string();
  const std::string broken = (root_.path() / "broken").string();
  Interpreters interpreters(search, {{"2.4", mine}, {"2.7", mine}, {"2.5", broken}});
  const auto by_runtime = interpreters.Choose({"2.4", "3.7", true});
  ASSERT_TRUE(by_runtime.ok()) << by_runtime.error().message;
  EXPECT_EQ(by_runtime->interpreter.version, "3.10.1");
  EXPECT_THAT(by_runtime->warning, HasSubstr("the configuration maps '2.4' to it"));
  EXPECT_EQ(interpreters.Choose({"1.15", "2.7"})->interpreter.version, "3.10.1");
  const auto is_broken = interpreters.Choose({"2.5", "3.7"});
  ASSERT_FALSE(is_broken.ok());
  EXPECT_THAT(is_broken.error().message, HasSubstr("not a working Python"));
}

TEST_F(InterpretersTest, OneMayBeForAllJobs) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  WritePython(root_.path() / "mine/python", "3.10.1");
  search.python = (root_.path() / "mine/python").string();
  Interpreters interpreters(search, {{"2.4", (root_.path() / "a/python3.7").string()}});
  const auto choice = interpreters.Choose({"2.4", "3.7", true});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->interpreter.version, "3.10.1");
  EXPECT_THAT(choice->warning, HasSubstr("Python 3.7 was asked for; running 3.10.1"));
  EXPECT_THAT(choice->warning, HasSubstr("--python"));
  search.python = (root_.path() / "none").string();
  const auto missing = Interpreters(search, {}).Choose({"2.4", "3.7"});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("--python"));
}

TEST_F(InterpretersTest, TheActiveVirtualEnvironmentIsPreferred) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  WritePython(root_.path() / "venv/bin/python3", "3.10.1");
  search.active_environment = root_.path() / "venv";
  Interpreters interpreters(search, {});
  const auto choice = interpreters.Choose({"2.4", "3.7"});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->interpreter.version, "3.10.1");
  EXPECT_THAT(choice->warning, HasSubstr("its virtual environment is active"));
  EXPECT_EQ(interpreters.Choose({"2.4", ""})->warning, "");
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7", true})->interpreter.version, "3.7.16");
  search.active_environment = root_.path() / "deleted";
  EXPECT_EQ(Interpreters(search, {}).Choose({"2.4", "3.7"})->interpreter.version, "3.7.16");
}

TEST_F(InterpretersTest, AnInstalledRuntimeServesTheJobsOfItsVersion) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  search.installed_runtimes = root_.path() / "runtimes";
  WritePython(root_.path() / "runtimes/2.11/bin/python3", "3.11.2");
  Interpreters interpreters(search, {});
  EXPECT_EQ(interpreters.Choose({"2.11", "3.7"})->interpreter.version, "3.7.16");
  ASSERT_TRUE(KeepRuntime({.root = root_.path() / "runtimes/2.11",
                           .version = "2.11",
                           .wanted_python = "3.7",
                           .python_version = "3.11.2",
                           .packages = {{"tensorflow", "tensorflow", "2.11.0", "2.12.0"}}})
                  .ok());
  const auto choice = interpreters.Choose({"2.11", "3.7"});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->interpreter.version, "3.11.2");
  EXPECT_EQ(choice->warning, "");
  EXPECT_EQ(choice->note,
            "Runtime version 2.11 as installed here has Python 3.11.2 (3.7), tensorflow 2.12.0 "
            "(2.11.0); the service's versions are in parentheses.");
  EXPECT_EQ(interpreters.Choose({"2.10", "3.7"})->interpreter.version, "3.7.16");
}

TEST_F(InterpretersTest, NobodyIsWarnedOfAVersionThatWasNotAskedFor) {
  Interpreters interpreters(Search({{"a/python3.9", "3.9.18"}}), {});
  for (const PythonRequest& request :
       {PythonRequest{"2.11", ""}, PythonRequest{"2.11", "3.7", false, true}}) {
    const auto choice = interpreters.Choose(request);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice->warning, "");
  }
  EXPECT_FALSE(interpreters.Choose({"2.11", "", true}).ok());
}

TEST(ActiveEnvironment, IsThatOfTheShell) {
  EXPECT_EQ(ActiveEnvironment({{"VIRTUAL_ENV", "/a"}, {"CONDA_PREFIX", "/b"}}), "/a");
  EXPECT_EQ(ActiveEnvironment({{"CONDA_PREFIX", "/b"}}), "/b");
  EXPECT_EQ(ActiveEnvironment({{"VIRTUAL_ENV", "relative"}}), "");
}

TEST_F(InterpretersTest, ABrokenOneIsPassedOver) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.1"}, {"b/python3.8", "3.8.1"}});
  ASSERT_TRUE(WriteFile(root_.path() / "a/python3.7", "#!/bin/sh\nexit 1\n").ok());
  ::chmod((root_.path() / "a/python3.7").c_str(), 0755);
  Interpreters interpreters(search, {});
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.8.1");
}

TEST_F(InterpretersTest, ASilentOneIsPassedOverWithAWarning) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.1"}, {"b/python3.8", "3.8.1"}});
  search.patience = std::chrono::milliseconds(1500);  // the others answer in time
  const Path silent = root_.path() / "a/python3.7";
  ASSERT_TRUE(WriteFile(silent, "#!/bin/sh\nread line <>/dev/ptmx\n").ok());
  ::chmod(silent.c_str(), 0755);
  Interpreters interpreters(search, {{"2.5", silent.string()}});
  const auto choice = interpreters.Choose({"2.4", "3.7"});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->interpreter.version, "3.8.1");
  EXPECT_THAT(choice->warning, HasSubstr("python3.7' did not report its version within 1500 ms"));
  EXPECT_THAT(interpreters.Choose({"2.5", "3.7"}).error().message, HasSubstr("did not report"));
}

TEST_F(InterpretersTest, IfTheOnlyOneIsSilentTheErrorSaysSo) {
  InterpreterSearch search = Search({{"a/python3.7", "3.7.1"}});
  search.patience = std::chrono::milliseconds(1500);  // the others answer in time
  const Path silent = root_.path() / "a/python3.7";
  ASSERT_TRUE(WriteFile(silent, "#!/bin/sh\nread line <>/dev/ptmx\n").ok());
  ::chmod(silent.c_str(), 0755);
  Interpreters interpreters(search, {});
  EXPECT_THAT(interpreters.Choose({"2.4", "3.7"}).error().message, HasSubstr("did not report"));
  WritePython(silent, "3.7.2");  // later it answers
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.7.2");
}

TEST_F(InterpretersTest, ANameThatLiesIsNotBelieved) {
  Interpreters interpreters(Search({{"a/python3.7", "3.12.0"}, {"b/python3.8", "3.8.1"}}), {});
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.8.1");
}

TEST_F(InterpretersTest, NoneAtAllIsSaidWithWhatToInstall) {
  Interpreters interpreters(Search({{"a/python2.7", "2.7.18"}}), {});
  EXPECT_THAT(interpreters.Choose({"2.4", "3.7"}).error().message, HasSubstr("apt-get install"));
}

TEST_F(InterpretersTest, EachIsAskedOnceAndRememberedUntilItChanges) {
  const InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  for (int i = 0; i < 3; ++i) {
    Interpreters interpreters(search, {});
    EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.7.16");
    EXPECT_EQ(interpreters.asked(), i == 0 ? 1 : 0);
  }
  EXPECT_EQ(TimesAsked("a/python3.7"), 1);
  const Path python = root_.path() / "a/python3.7";
  const auto before = std::filesystem::last_write_time(python);
  WritePython(python, "3.7.17");  // upgraded
  std::filesystem::last_write_time(python, before + std::chrono::seconds(1));
  Interpreters interpreters(search, {});
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.7.17");
}

TEST_F(InterpretersTest, ABrokenMemoryIsForgotten) {
  const InterpreterSearch search = Search({{"a/python3.7", "3.7.16"}});
  ASSERT_TRUE(WriteFile(search.cache_file, "[{\"path\": ").ok());
  Interpreters interpreters(search, {});
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.7.16");
}

TEST_F(InterpretersTest, OfPyenvAreFoundByTheirDirectories) {
  WritePython(root_.path() / "versions/3.7.16/bin/python3.7", "3.7.16");
  WritePython(root_.path() / "versions/3.10.13/bin/python3.10", "3.10.13");
  WritePython(root_.path() / "versions/2.7.18/bin/python2.7", "2.7.18");
  InterpreterSearch search;
  search.pyenv_roots = {root_.path(), root_.path()};
  std::vector<std::string> found;
  for (const auto& candidate : ScanForInterpreters(search)) {
    const std::string path = candidate.path;
    if (path.starts_with(root_.path().string())) {
      found.push_back(path.substr(root_.path().string().size()) + " " + Text(*candidate.presumed));
    }
  }
  EXPECT_THAT(found, ElementsAre("/versions/3.10.13/bin/python3.10 3.10",
                                 "/versions/3.7.16/bin/python3.7 3.7"));
}

TEST_F(InterpretersTest, OfOneVersionAreFoundWithoutTheOthers) {
  for (const char* version : {"3.7.16", "3.12.1", "3.7.1"}) {
    const std::string minor = Text(*ParsePythonMinor(version));
    WritePython(root_.path() / "versions" / version / "bin" / ("python" + minor), version);
  }
  InterpreterSearch search;
  search.pyenv_roots = {root_.path()};
  search.system_directories = {};
  std::vector<std::string> found;
  for (const auto& candidate : ScanForInterpreters(search, PythonMinor{3, 7})) {
    found.push_back(candidate.path.lexically_relative(root_.path() / "versions"));
  }
  EXPECT_THAT(found,
              ::testing::UnorderedElementsAre("3.7.16/bin/python3.7", "3.7.1/bin/python3.7"));
}

TEST_F(InterpretersTest, OfAnotherVersionIsTakenWhenTheOneAskedForLies) {
  Interpreters interpreters(
      Search({{"a/python3", "3.6.1"}, {"b/python3.7", "3.6.9"}, {"c/python3.8", "3.8.1"}}), {});
  EXPECT_EQ(interpreters.Choose({"2.4", "3.7"})->interpreter.version, "3.8.1");
  EXPECT_EQ(interpreters.asked(), 3);
}

TEST_F(InterpretersTest, ShimsOnPathAreNoInterpreters) {
  WritePython(root_.path() / "shims/python3", "3.7.1");
  InterpreterSearch search;
  search.path = (root_.path() / "shims").string();
  for (const auto& candidate : ScanForInterpreters(search)) {
    EXPECT_NE(candidate.path, root_.path() / "shims/python3");
  }
}

TEST_F(InterpretersTest, TheHostsOwnTellsWhatItIs) {
  InterpreterSearch search;
  search.path = "/usr/bin";
  Interpreters interpreters(search, {});
  const auto all = interpreters.All();
  if (all.empty()) GTEST_SKIP() << "this host has no Python on /usr/bin";
  EXPECT_TRUE(all[0].executable.is_absolute());
  EXPECT_EQ(all[0].minor.major, 3);
  EXPECT_EQ(all[0].parent_packages, "");
}

}  // namespace
}  // namespace caip::host
