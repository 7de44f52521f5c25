// The manual pages and docs/commands.md name every command and flag.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/arguments/help_parts.h"
#include "emulator/cli/output.h"
#include "emulator/cli/reference/man_pages.h"
#include "emulator/cli/reference/markdown.h"
#include "tests/support/golden.h"

namespace caip::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::shared_ptr<const CommandShape> AllCommands() {
  const Command command = ParseArguments({"help", "--markdown"});
  return std::get<ReferenceCommand>(command).root;
}

std::string ManPageNamed(const std::string& file) {
  for (const ManPage& page : ManPages(*AllCommands(), "1.2.3")) {
    if (page.file == file) return page.text;
  }
  return "no page " + file;
}

// Calls `check` for each command that is not a group, with the word after `caip`.
void ForEachCommand(const CommandShape& shape, const std::string& first,
                    const std::function<void(const CommandShape&, const std::string&)>& check) {
  if (!shape.is_group) check(shape, first.empty() ? shape.name : first);
  for (const auto& child : shape.children) {
    ForEachCommand(*child, first.empty() ? child->name : first, check);
  }
}

TEST(Reference, IsTheCheckedInPage) {
  testing::ExpectGolden("../../docs/commands.md", MarkdownReference(*AllCommands()));
}

TEST(Reference, HasEachCommandAndFlag) {
  const std::string page = MarkdownReference(*AllCommands());
  size_t flags = 0;
  ForEachCommand(*AllCommands(), "", [&](const CommandShape& command, const std::string&) {
    EXPECT_THAT(page, HasSubstr("# " + command.path + "\n"));
    EXPECT_THAT(page, HasSubstr("\n" + Join(UsageLines(command), "\n") + "\n"));
    for (const FlagShape& flag : command.flags) {
      EXPECT_THAT(page, HasSubstr("| `" + ReplaceAll(HeadOf(flag), "|", "\\|") + "` |"));
      ++flags;
    }
  });
  EXPECT_GT(flags, 500u);
}

TEST(Reference, LinksToThePagesThatTextsName) {
  const std::string page = MarkdownReference(*AllCommands());
  EXPECT_THAT(page, AllOf(HasSubstr("[formats.md](formats.md)"), Not(HasSubstr("See docs/"))));
}

TEST(ManPages, AreOneForEachCommandOrGroup) {
  std::set<std::string> files;
  for (const ManPage& page : ManPages(*AllCommands(), "1.2.3")) files.insert(page.file);
  EXPECT_EQ(files.size(), AllCommands()->children.size() + 2);
  for (const char* file : {"caip.1", "caip-settings.1", "caip-jobs.1", "caip-conform.1"}) {
    EXPECT_TRUE(files.contains(file)) << file;
  }
}

TEST(ManPages, HaveEachCommandAndItsFlags) {
  ForEachCommand(*AllCommands(), "", [](const CommandShape& command, const std::string& first) {
    const std::string page = ManPageNamed("caip-" + first + ".1");
    for (const std::string& line : UsageLines(command)) {
      EXPECT_THAT(page, HasSubstr(ReplaceAll(line, "-", "\\-")));
    }
    for (const FlagSection& section : PartsOf(command).sections) {
      for (const FlagShape* flag : section.flags) {
        const std::string name = flag->name.substr(flag->name.find("--"));
        EXPECT_THAT(page, HasSubstr("\\fB" + ReplaceAll(name, "-", "\\-") + "\\fR"));
      }
    }
  });
}

TEST(ManPages, KeepTheCharactersThatAReaderCopies) {
  EXPECT_THAT(ManPageNamed("caip-jobs.1"),
              HasSubstr("\ncaip jobs list \\-\\-filter \\(aqstate=FAILED AND labels.team:vision"
                        "\\(aq\n"));
  EXPECT_THAT(ManPageNamed("caip-env.1"), HasSubstr("\neval \\(dq$(caip env)\\(dq\n"));
  EXPECT_THAT(ManPageNamed("caip-jobs.1"), HasSubstr(" \\e\n"));  // a line that continues
}

TEST(ManPages, BeginWithTheLinesThatIndexesRead) {
  EXPECT_THAT(ManPageNamed("caip-jobs.1"),
              StartsWith(".\\\" Made by `caip help --man`.\n.TH CAIP\\-JOBS 1 \"\" \"caip 1.2.3\" "
                         "\"caip manual\"\n.SH NAME\ncaip\\-jobs \\- submits, shows and stops "
                         "training jobs\n.SH SYNOPSIS\n"));
}

TEST(ReferenceCommand, WritesTheManualPagesIntoADirectory) {
  const TemporaryDirectory folder;
  std::string out;
  const Io io{[&](Output text) { out += text.text; }, [&](Output text) { out += text.text; }};
  const Command command = ParseArguments({"help", "--man", folder.path() / "share/man1"});
  EXPECT_EQ(RunReference(std::get<ReferenceCommand>(command), Surroundings{io, {}, {}}),
            kExitSuccess);
  EXPECT_EQ(out, "");
  const auto page = ReadFile(folder.path() / "share/man1/caip-serve.1");
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(*page, HasSubstr("\n.SH SYNOPSIS\ncaip serve [flags]\n"));
}

TEST(ReferenceCommand, FailsWhereNoDirectoryCanBe) {
  std::string err;
  const Io io{[](Output) {}, [&](Output text) { err += text.text; }};
  const Command command = ParseArguments({"help", "--man", "/dev/null/man1"});
  EXPECT_EQ(RunReference(std::get<ReferenceCommand>(command), Surroundings{io, {}, {}}),
            kExitFailure);
  EXPECT_THAT(err, AllOf(StartsWith("ERROR: (caip.help) "), HasSubstr("/dev/null/man1")));
}

TEST(ReferenceCommand, HasOneFormAtATime) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"help", "--man", "x", "--markdown"}, {"help", "jobs", "--markdown"}}) {
    const Command command = ParseArguments(words);
    ASSERT_TRUE(std::holds_alternative<PrintCommand>(command));
    EXPECT_EQ(std::get<PrintCommand>(command).exit_code, kExitUsage);
    EXPECT_THAT(std::get<PrintCommand>(command).err, HasSubstr("COMMAND | --man | --markdown"));
  }
}

}  // namespace
}  // namespace caip::cli
