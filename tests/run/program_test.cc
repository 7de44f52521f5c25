#include "run/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CommandLine, OfAnImageIsItsProgramAndTheArguments) {
  ContainerImage image{"gcr.io/p/i:1", {"sh", "-c"}, {}, {"true"}};
  EXPECT_THAT(CommandLine(image, "", {"--x"}), ElementsAre("sh", "-c", "true", "--x"));
  image.command = {"train"};
  EXPECT_THAT(CommandLine(image, "", {"--x"}), ElementsAre("train", "true", "--x"));
}

TEST(CommandLine, NeverTakesAnArgumentOfAnUnknownImageForAProgram) {
  const ContainerImage image{"gcr.io/p/i:1", {}, {}, {"touch", "/x"}};
  EXPECT_THAT(CommandLine(image, "", {"--x"}), IsEmpty());
}

// The table of Docker and Kubernetes for ENTRYPOINT and CMD.
TEST(CommandLine, UsesTheImagesOwnArgumentsOnlyIfTheJobHasNone) {
  const auto line = [](std::vector<std::string> command, std::vector<std::string> args,
                       const std::vector<std::string>& added) {
    return CommandLine(ContainerImage{"gcr.io/p/i:1", {"/ep"}, command, args, {"cmd"}}, "", added);
  };
  EXPECT_THAT(line({}, {}, {}), ElementsAre("/ep", "cmd"));
  EXPECT_THAT(line({}, {"a"}, {}), ElementsAre("/ep", "a"));
  EXPECT_THAT(line({}, {}, {"--x"}), ElementsAre("/ep", "--x"));
  EXPECT_THAT(line({"/c"}, {}, {}), ElementsAre("/c"));
  EXPECT_THAT(line({"/c"}, {"a"}, {"--x"}), ElementsAre("/c", "a", "--x"));
}

TEST(CommandLine, OfAnImageWithoutAnEntrypointIsItsArguments) {
  const ContainerImage image{"gcr.io/p/i:1", {}, {}, {}, {"sh", "-c", "true"}};
  EXPECT_THAT(CommandLine(image, "", {}), ElementsAre("sh", "-c", "true"));
  EXPECT_THAT(CommandLine(image, "", {"/run", "--x"}), ElementsAre("/run", "--x"));
}

TEST(CommandLine, OfAModuleBeginsWithTheInterpreter) {
  EXPECT_THAT(
      CommandLine(PythonModule{"trainer.task", {}, "2.11", "3.7"}, "/usr/bin/python3", {"a"}),
      ElementsAre("/usr/bin/python3", "-m", "trainer.task", "a"));
}

}  // namespace
}  // namespace caip::run
