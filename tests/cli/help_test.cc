// The pages of -h and --help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "emulator/app/settings/settings_table.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/arguments/help_text.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string PageOf(const std::vector<std::string>& words, size_t width) {
  const Command command = ParseArguments(words);
  const auto* help = std::get_if<HelpCommand>(&command);
  if (!help) return "no help: " + Join(words, " ");
  return help->kind == HelpKind::kLong ? LongHelp(*help->page, width)
                                       : ShortHelp(*help->page, width);
}

// All commands and groups, by their words.
void FindCommands(const CommandShape& shape, std::vector<std::string> path,
                  std::vector<std::vector<std::string>>& found) {
  found.push_back(path);
  for (const auto& child : shape.children) {
    path.push_back(child->name);
    FindCommands(*child, path, found);
    path.pop_back();
  }
}

std::vector<std::vector<std::string>> AllPaths() {
  std::vector<std::vector<std::string>> found;
  const Command help = ParseArguments({"help"});
  FindCommands(*std::get<HelpCommand>(help).page, {}, found);
  return found;
}

std::vector<std::string> With(std::vector<std::string> words, const std::string& more) {
  words.push_back(more);
  return words;
}

TEST(Help, OfACommandIsTheSameInBothForms) {
  EXPECT_GT(AllPaths().size(), 40u);
  for (const std::vector<std::string>& path : AllPaths()) {
    std::vector<std::string> asked = path;
    asked.insert(asked.begin(), "help");
    const std::string page = PageOf(asked, 80);
    EXPECT_THAT(page,
                HasSubstr("Usage: " + Join({"caip", Join(path, " ")}, path.empty() ? "" : " ")));
    EXPECT_EQ(page, PageOf(With(path, "--help"), 80));
  }
}

TEST(Help, FitsTheWindow) {
  const auto check = [](const std::string& page, size_t width) {
    // Examples keep their lines, and a name may be wider than the window.
    for (const std::string& line : Split(page.substr(0, page.find("\nExamples:")), '\n')) {
      const bool is_one_word = Trim(line).find(' ') == std::string::npos;
      if (is_one_word || Trim(line).starts_with("--")) continue;
      EXPECT_LE(report::TerminalColumns(line), width) << line;
    }
  };
  for (const size_t width : {40, 60, 80, 132}) {
    for (const std::vector<std::string>& path : AllPaths()) {
      check(PageOf(With(path, "--help"), width), width);
      check(PageOf(With(path, "-h"), width), width);
    }
    check(PageOf({"help", "settings"}, width), width);
  }
  EXPECT_EQ(PageOf({"jobs", "--help"}, 10), PageOf({"jobs", "--help"}, 40));
}

TEST(Help, WrapsTheTextOfAFlagBesideItsName) {
  EXPECT_THAT(PageOf({"ps", "--help"}, 60),
              HasSubstr("  --state DIR  State directory, with jobs, logs and buckets\n"
                        "               (default: $CAIP_STATE, else\n"));
  EXPECT_THAT(PageOf({"jobs", "update", "--help"}, 80),
              HasSubstr("  --update-labels KEY=VALUE,...  Labels to add or to change.\n"));
  EXPECT_THAT(PageOf({"jobs", "update", "--help"}, 50),
              HasSubstr("  --update-labels KEY=VALUE,...\n        Labels to add or to change.\n"));
}

TEST(Help, MarksWhatMustBeGiven) {
  EXPECT_THAT(PageOf({"local", "train", "--help"}, 80),
              AllOf(HasSubstr("Usage: caip local train --module-name=MODULE [flags]"),
                    HasSubstr("  --module-name MODULE        (required) Python module"),
                    HasSubstr("  --package-path DIR          Directory of")));
  EXPECT_THAT(PageOf({"jobs", "describe", "--help"}, 80),
              HasSubstr("\n  JOB          (required) Name of the job."));
  EXPECT_THAT(PageOf({"local", "train", "-h"}, 80),
              HasSubstr("  --module-name MODULE        (required) Python module"));
}

TEST(Help, ListsSettingsOnlyOnItsOwnPage) {
  const std::string settings = PageOf({"help", "settings"}, 80);
  for (const app::Setting& setting : app::Settings()) {
    if (setting.flag.empty()) continue;
    const std::string flag = "\n  " + std::string(setting.flag) + " ";
    EXPECT_THAT(settings, HasSubstr(flag));
    for (const auto& path : AllPaths()) {
      // The commands with a --seed of their own.
      if (setting.flag == "--seed" && !path.empty() &&
          (path.front() == "scenario" || path.size() == 1)) {
        continue;
      }
      // An interpreter for the installation, not for jobs.
      if (setting.flag == "--python" && !path.empty() && path.front() == "runtimes") continue;
      EXPECT_THAT(PageOf(With(path, "--help"), 80), Not(HasSubstr(flag)));
    }
  }
  const std::string unbroken = PageOf({"help", "settings"}, 5000);
  for (const auto& path : {std::vector<std::string>{"serve"}, {"jobs", "list"}, {"check"}}) {
    EXPECT_THAT(PageOf(With(path, "--help"), 200), HasSubstr("caip help settings\n"));
    EXPECT_THAT(unbroken, HasSubstr("caip " + Join(path, " ")));
  }
  EXPECT_THAT(PageOf({"version", "--help"}, 80), Not(HasSubstr("settings")));
}

TEST(Help, ShowsThatAKindOfTrainerIsRequired) {
  EXPECT_THAT(PageOf({"init", "-h"}, 80), StartsWith("Usage: caip init KIND [FOLDER] [flags]\n"));
}

TEST(Help, HasALineForEachWayOfUse) {
  const std::string usage =
      "Usage: caip explore [flags] -- COMMAND ...\n"
      "       caip explore FILE... [flags]\n"
      "       caip explore [flags] -- JOB_FLAGS ... [-- TRAINER_ARGS ...]\n";
  EXPECT_THAT(PageOf({"explore", "--help"}, 80), HasSubstr("\n" + usage));
  const std::string page = PageOf({"explore", "--help"}, 500);
  for (const char* word : {"COMMAND is", "JOB_FLAGS are", "TRAINER_ARGS go", "  FILE  "}) {
    EXPECT_THAT(page, HasSubstr(word));
  }
  EXPECT_THAT(PageOf({"explore", "-h"}, 80), StartsWith(usage));
}

TEST(Help, OfOneLetterHasOneLineForEachOfTheMostUsedFlags) {
  const std::string page = PageOf({"jobs", "submit", "training", "-h"}, 80);
  EXPECT_THAT(page,
              StartsWith("Usage: caip jobs submit training JOB [flags] [-- USER_ARGS ...]\n"));
  EXPECT_THAT(page, AllOf(HasSubstr("\n  --region REGION   "), Not(HasSubstr("--kms-key")),
                          Not(HasSubstr("Examples:")), Not(HasSubstr("--parameter-server-count")),
                          HasSubstr("caip jobs submit training --help\n")));
  for (const std::string& line : Split(page, '\n')) {
    EXPECT_TRUE(line.empty() || line.starts_with("  ") || line.find("caip") != line.npos) << line;
  }
  EXPECT_THAT(PageOf({"-h"}, 80),
              AllOf(HasSubstr("\n  jobs     "), Not(HasSubstr("--trace-token"))));
}

TEST(Help, OfWhatDoesNotExistIsAnError) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"help", "jbos"}, {"help", "jobs", "settings"}, {"help", "settings", "x"}}) {
    const Command command = ParseArguments(words);
    ASSERT_TRUE(std::holds_alternative<PrintCommand>(command));
    EXPECT_EQ(std::get<PrintCommand>(command).exit_code, kExitUsage);
  }
}

}  // namespace
}  // namespace caip::cli
