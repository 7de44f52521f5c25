// A trainer's control sequences on a terminal and in pipes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <fstream>

#include "base/text.h"
#include "base/yaml.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Writes the clipboard, sets the title, asks for the cursor's position, and hides a text. The last
// sequence begins with CSI in UTF-8.
constexpr char kHostile[] =
    "\x1b[35mmagenta\x1b[0m \x1b]52;c;ZXZpbA==\x07\x1b]0;owned\x1b\\\x1b[6n hidden\rshown\x7f "
    "\xc2\x9b"
    "2J";
constexpr char kNotUtf8[] = "\xff";

bool HasControls(std::string_view text) {
  return RE2::PartialMatch(text, R"([\x00-\x08\x0b-\x1f\x7f])") ||
         RE2::PartialMatch(text, "[\u0080-\u009f]") || !IsUtf8(text);
}

class Terminals : public ::testing::Test {
 protected:
  Terminals() {
    // A replica sees the directory of its program, but never that of the state directory.
    const Path directory = caip_.state().parent_path() / "program";
    std::filesystem::create_directories(directory);
    const Path text = directory / "hostile.txt";
    std::ofstream(text) << "Traceback (most recent call last):\n  File \"task.py\", line 1, in f\n"
                        << "ValueError: " << kHostile << kNotUtf8 << "\n";
    script_ = directory / "trainer.sh";
    std::ofstream(script_) << "#!/bin/sh\ncat " << text.string() << "\ncat " << text.string()
                           << " >&2\nexit 3\n";
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
  }

  std::vector<std::string> Submit(const std::string& job) const {
    return {"jobs",
            "submit",
            "training",
            job,
            "--region",
            "us-central1",
            "--master-image-uri",
            "gcr.io/demo/probe:v1",
            "--map-image",
            "gcr.io/demo/probe:v1=" + script_.string(),
            "--stream-logs"};
  }
  /// A job whose resource has the text, as an argument of its trainer.
  std::vector<std::string> SubmitWithArgument(const std::string& job) const {
    std::vector<std::string> words = Submit(job);
    words.insert(words.end(), {"--", kHostile});
    return words;
  }

  CaipCommand caip_;
  Path script_;
};

TEST_F(Terminals, GetOnlyColoursFromATrainer) {
  const std::string shown = caip_.RunOnTerminal(Submit("hostile"));
  EXPECT_THAT(shown, HasSubstr("\x1b[35mmagenta\x1b[0m"));
  EXPECT_THAT(shown, HasSubstr("\\x1b]52;c;ZXZpbA==\\x07"));
  EXPECT_THAT(shown, HasSubstr("\\u009b2J"));
  std::string without_colours = shown;
  RE2::GlobalReplace(&without_colours, R"(\x1b\[[0-9;:]*m)", "");
  EXPECT_FALSE(HasControls(without_colours)) << shown;
}

TEST_F(Terminals, GetNoControlsFromAResource) {
  caip_.Run(SubmitWithArgument("hostile"));
  EXPECT_EQ(caip_.Describe("hostile")["trainingInput"]["args"], Json::array({kHostile}))
      << "the resource must have what is to be escaped";
  for (const char* format :
       {"yaml", "json", "value(trainingInput.args)", "table(trainingInput.args)",
        "csv(trainingInput.args)", "list", "flattened", "text"}) {
    const std::string shown =
        caip_.RunOnTerminal({"jobs", "describe", "hostile", "--format", format});
    EXPECT_THAT(shown, HasSubstr("52;c;")) << format;
    EXPECT_FALSE(HasControls(shown)) << format << "\n" << shown;
  }
  EXPECT_FALSE(HasControls(caip_.RunOnTerminal({"jobs", "describe", "hostile", "--summarize"})));
}

TEST_F(Terminals, LeavePipesUnchanged) {
  const Transcript run = caip_.Run(SubmitWithArgument("hostile"));
  EXPECT_THAT(run.err, HasSubstr("\x1b]52;c;ZXZpbA==\x07"));
  const auto yaml = ParseYaml(caip_.Run({"jobs", "describe", "hostile"}).out, "describe");
  ASSERT_TRUE(yaml.ok()) << yaml.error().message;
  EXPECT_EQ(yaml->value.at("trainingInput").at("args"), Json::array({kHostile}));
  const Transcript value =
      caip_.Run({"jobs", "describe", "hostile", "--format", "value(trainingInput.args)"});
  EXPECT_EQ(value.out, std::string(kHostile) + "\n");
}

}  // namespace
}  // namespace caip::testing
