// The words that a shell offers for completion.
#include <gtest/gtest.h>

#include "base/files.h"
#include "emulator/cli/arguments/arguments.h"
#include "host/process/child_process.h"

namespace caip::cli {
namespace {

// The words that bash itself would offer.
TEST(Completion, OffersTheValuesOfAFlag) {
  const auto script = std::get<PrintCommand>(ParseArguments({"completion", "bash"})).out;
  const auto offered = [&](const std::string& words) {
    const std::string command = script + "COMP_WORDS=(caip " + words +
                                ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_caip\n"
                                "echo \"${COMPREPLY[*]}\"\n";
    TemporaryDirectory directory;
    EXPECT_TRUE(WriteFile(directory.path() / "script", command).ok());
    std::string line;
    const auto ran = host::RunTool(
        {.argv = {"bash", directory.path() / "script"},
         .environment = {{"PATH", "/usr/bin:/bin"}},
         .on_line = [&line](host::ToolStream, std::string_view said) { line += said; }});
    EXPECT_TRUE(ran.ok() && ran->ok()) << words << ": " << line;
    return line;
  };
  EXPECT_EQ(offered("jobs submit training j --scale-tier b"), "basic basic-gpu basic-tpu");
  EXPECT_EQ(offered("jobs submit training j --scale-tier = basic-t"), "basic-tpu");
  EXPECT_EQ(offered("jobs list --format js"), "json");
  EXPECT_EQ(offered("jobs list --verbosity w"), "warning");
  EXPECT_EQ(offered("jobs submit training j --isolation m"), "machine");
  EXPECT_EQ(offered("jobs li"), "list");
  EXPECT_EQ(offered("images im"), "import");
  EXPECT_EQ(offered("images import --na"), "--name");
}

}  // namespace
}  // namespace caip::cli
