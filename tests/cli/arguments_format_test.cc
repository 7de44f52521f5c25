// The values of --format that each command accepts.
#include <gtest/gtest.h>

#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Arguments, AFormatIsForCommandsThatPrintResources) {
  const auto run = [](Words words, const char* format) {
    words.insert(words.end(), {"--format", format});
    const Command command = ParseArguments(words);
    const auto* print = std::get_if<PrintCommand>(&command);
    return print ? print->exit_code : kExitSuccess;
  };
  for (const Words& words : {Words{"jobs", "describe", "j"}, Words{"jobs", "list"},
                             Words{"jobs", "cancel", "j"}, Words{"jobs", "update", "j"}}) {
    EXPECT_EQ(run(words, "flattened(jobId)"), kExitSuccess) << words[1];
    EXPECT_EQ(run(words, "bogus"), kExitUsage) << words[1];
  }
  const Words predict = {"local", "predict", "--model-dir=m", "--json-request=-"};
  EXPECT_EQ(run(predict, "table(predictions)"), kExitSuccess);
  EXPECT_EQ(run(predict, "table"), kExitUsage);
  EXPECT_EQ(run({"doctor"}, "json"), kExitSuccess);
  EXPECT_EQ(run({"doctor"}, "yaml"), kExitUsage);
  for (const Words& words : {Words{"jobs", "stream-logs", "j"},
                             Words{"local", "train", "--module-name=t"}, Words{"serve"}}) {
    EXPECT_EQ(run(words, "json"), kExitUsage) << words[0];
  }
}

}  // namespace
}  // namespace caip::cli
