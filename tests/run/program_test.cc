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

TEST(CommandLine, OfAModuleBeginsWithTheInterpreter) {
  EXPECT_THAT(
      CommandLine(PythonModule{"trainer.task", {}, "2.11", "3.7"}, "/usr/bin/python3", {"a"}),
      ElementsAre("/usr/bin/python3", "-m", "trainer.task", "a"));
}

}  // namespace
}  // namespace caip::run
