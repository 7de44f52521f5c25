// The reports of a command: they are checked before it does anything, and written at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReportFlags : public ::testing::Test {
 protected:
  std::string In(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string Refusal(const std::string& file) const {
    const Status checked = CheckReports({{"--json", file}});
    return checked.ok() ? "" : checked.error().message;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  Io Streams() {
    return {[this](std::string_view text) { out_ += text; },
            [this](std::string_view text) { err_ += text; }};
  }
  int Explore(ExploreCommand command) {
    const Io io = Streams();
    command.emulator.state = In("state");
    command.command = {"true"};
    command.out = In("findings");
    return RunExplore(command, {io, nullptr, nullptr});
  }

  TemporaryDirectory directory_;
  std::string out_;
  std::string err_;
};

TEST_F(ReportFlags, MayNameANewFileAnOldOneOrNone) {
  ASSERT_TRUE(WriteFile(In("old.json"), "before").ok());
  EXPECT_EQ(Refusal(In("old.json")), "");
  EXPECT_EQ(Refusal(In("new.json")), "");
  EXPECT_EQ(Refusal("-"), "");
  EXPECT_TRUE(CheckReports({{"--json", std::nullopt}}).ok());
  EXPECT_EQ(*ReadFile(In("old.json")), "before");
  EXPECT_THAT(Files(), ::testing::ElementsAre("old.json"));
}

TEST_F(ReportFlags, NameTheFlagAndThePathThatCannotBeWritten) {
  const std::string lost = In("none/e.json");
  EXPECT_EQ(Refusal(lost),
            "argument --json: cannot write '" + lost + "': No such file or directory");
  EXPECT_EQ(Refusal(directory_.path().string()),
            "argument --json: cannot write '" + directory_.path().string() + "': Is a directory");
  EXPECT_THAT(Refusal(""), HasSubstr("cannot write ''"));
  ASSERT_TRUE(WriteFile(In("file"), "").ok());
  EXPECT_THAT(Refusal(In("file/e.json")), HasSubstr("Not a directory"));
  EXPECT_THAT(Refusal(In(std::string(250, 'n'))), HasSubstr("File name too long"));
}

TEST_F(ReportFlags, NeedAWritableFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to every folder";
  std::filesystem::create_directory(In("closed"));
  ::chmod(In("closed").c_str(), S_IRUSR | S_IXUSR);
  EXPECT_THAT(Refusal(In("closed/e.json")), HasSubstr("Permission denied"));
  EXPECT_FALSE(CheckFolder("--out", In("closed/a/b")).ok());
}

TEST_F(ReportFlags, AllowOneReportOnTheStandardOutput) {
  const Status both = CheckReports({{"--junit", std::nullopt}, {"--json", "-"}, {"--sarif", "-"}});
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().message, "At most one of --json=- | --sarif=- can be specified.");
  EXPECT_TRUE(CheckReports({{"--json", "-"}, {"--sarif", In("e.sarif")}}).ok());
}

TEST_F(ReportFlags, CheckAFolderThatMayBeMissing) {
  EXPECT_TRUE(CheckFolder("--out", In("a/b")).ok());
  EXPECT_THAT(Files(), IsEmpty());
  ASSERT_TRUE(WriteFile(In("file"), "").ok());
  const Status file = CheckFolder("--out", In("file"));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message,
            "argument --out: cannot write '" + In("file") + "': Not a directory");
  EXPECT_FALSE(CheckFolder("--out", In("file/a")).ok());
}

// A file of the same name would replace the device, and the link would lead nowhere.
TEST_F(ReportFlags, WriteIntoDevicesAndThroughLinks) {
  ASSERT_TRUE(WriteFile(In("target"), "a long text of an earlier report").ok());
  std::filesystem::create_symlink("target", In("link"));
  std::filesystem::create_symlink("/dev/null", In("device"));
  for (const char* name : {"link", "device"}) {
    EXPECT_EQ(Refusal(In(name)), "");
    EXPECT_TRUE(WriteReport(In(name), "report", Streams()).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(In(name))) << name;
  }
  EXPECT_EQ(*ReadFile(In("target")), "report");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(ReportFlags, OfAnExplorationAreCheckedBeforeItDoesAnything) {
  ExploreCommand unwritable;
  unwritable.sarif = In("none/e.sarif");
  EXPECT_EQ(Explore(unwritable), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("ERROR: (caip.explore) argument --sarif: cannot write '"));
  ExploreCommand printed;
  printed.json = printed.sarif = "-";
  EXPECT_EQ(Explore(printed), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("At most one of --json=- | --sarif=- can be specified."));
  EXPECT_EQ(out_, "");
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(ReportFlags, OfScenariosAreCheckedBeforeTheyRun) {
  const Io io = Streams();
  ScenarioRunCommand run;
  run.emulator.state = In("state");
  run.files = {In("none.yaml")};  // it is not read
  run.junit = run.json = "-";
  EXPECT_EQ(RunScenarioRun(run, {io, nullptr, nullptr}), kExitUsage);
  EXPECT_EQ(err_, "ERROR: (caip.scenario) At most one of --junit=- | --json=- can be specified.\n");
  EXPECT_EQ(out_, "");
}

}  // namespace
}  // namespace caip::cli
