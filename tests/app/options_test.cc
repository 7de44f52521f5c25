#include "emulator/app/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/app/config_file.h"

namespace caip::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Options : public ::testing::Test {
 protected:
  Result<EmulatorOptions> Read(const std::string& config, EmulatorFlags flags = {}) {
    EXPECT_TRUE(WriteFile(directory_.path() / "config.yaml", config).ok());
    return ReadOptions(flags, directory_.path());
  }
  TemporaryDirectory directory_;
};

TEST_F(Options, HaveDefaultsAndASeedOfTheirOwn) {
  const auto options = ReadOptions({}, directory_.path());
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->address, "127.0.0.1");
  EXPECT_EQ(options->queue_delay, run::DelayModel(run::NoDelay{}));
  EXPECT_NE(options->seed, ReadOptions({}, directory_.path())->seed);
}

TEST_F(Options, TheConfigFileInTheStateDirectoryIsRead) {
  const auto options = Read(
      "queue_delay: constant:20m\n"
      "seed: 7\n"
      "gpus: share\n"
      "jobs_max: 2\n"
      "grace: 5s\n"
      "create_buckets: true\n"
      "durability: relaxed\n"
      "images:\n"
      "  gcr.io/p/trainer:v1: python3 '/my src/train.py'\n"
      "  gcr.io/p/other:v1: [sh, -c, exit 0]\n"
      "runtimes: {\"2.11\": /usr/bin/python3}\n");
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->queue_delay, run::DelayModel(run::ConstantDelay{std::chrono::minutes(20)}));
  EXPECT_EQ(options->seed, 7u);
  EXPECT_EQ(options->gpus, GpuMode::kShare);
  EXPECT_EQ(options->jobs_max, 2);
  EXPECT_EQ(options->grace, std::chrono::seconds(5));
  EXPECT_TRUE(options->create_buckets);
  EXPECT_FALSE(options->durable_storage);
  EXPECT_THAT(options->images.at("gcr.io/p/trainer:v1"),
              ElementsAre("python3", "/my src/train.py"));
  EXPECT_THAT(options->images.at("gcr.io/p/other:v1"), ElementsAre("sh", "-c", "exit 0"));
  EXPECT_EQ(options->runtimes.at("2.11"), "/usr/bin/python3");
}

TEST_F(Options, IsolationIsOffUnlessAskedFor) {
  EXPECT_EQ(Read("")->isolation, Isolation::kNone);
  EXPECT_EQ(Read("isolation: namespaces\n")->isolation, Isolation::kNamespaces);
  EmulatorFlags flags;
  flags.isolation = "none";
  EXPECT_EQ(Read("isolation: namespaces\n", flags)->isolation, Isolation::kNone);
  flags.isolation = "vm";
  EXPECT_THAT(Read("", flags).error().message,
              HasSubstr("--isolation: 'vm' is not one of: none, namespaces"));
}

TEST_F(Options, IsolationLeavesNoWayToCompanions) {
  const auto options = Read("isolation: namespaces\ncompanions: [bigtable]\n");
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("'companions'"));
}

TEST_F(Options, FlagsWinOverTheFile) {
  EmulatorFlags flags;
  flags.seed = "9";
  flags.gpus = "cpu";
  flags.map_images = {"a/b=sh -c 'exit 1'"};
  const auto options = Read("seed: 7\ngpus: queue\nimages: {a/b: sh}\n", flags);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->seed, 9u);
  EXPECT_EQ(options->gpus, GpuMode::kCpu);
  EXPECT_THAT(options->images.at("a/b"), ElementsAre("sh", "-c", "exit 1"));
}

TEST_F(Options, AllMistakesOfTheFileAreToldWithTheirPlace) {
  const auto options = Read(
      "queue_dellay: constant:20m\n"
      "jobs_max: -1\n"
      "images:\n"
      "  x/y: {a: b}\n");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 4u) << options.error().message;
  EXPECT_THAT(options.error().message, HasSubstr("config.yaml:1:"));
  EXPECT_THAT(options.error().message, HasSubstr("queue_dellay is no setting of caip"));
  EXPECT_THAT(options.error().message, HasSubstr("config.yaml:2:"));
  EXPECT_THAT(options.error().message, HasSubstr("config.yaml:4:"));
}

TEST_F(Options, AllMistakesOfTheFlagsAreToldAtOnce) {
  EmulatorFlags flags;
  flags.gpus = "many";
  flags.addressing = "wifi";
  flags.seed = "x";
  flags.map_images = {"nothing"};
  const auto options = ReadOptions(flags, directory_.path());
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 4u) << options.error().message;
  EXPECT_THAT(options.error().message,
              HasSubstr("--gpus: 'many' is not one of: queue, share, cpu"));
}

TEST_F(Options, AConfigFileThatIsNamedMustBeThere) {
  EmulatorFlags flags;
  flags.config = (directory_.path() / "missing.yaml").string();
  EXPECT_EQ(ReadOptions(flags, directory_.path()).error().code, Code::kNotFound);
}

TEST(ShellWords, SplitAsAShellDoes) {
  EXPECT_THAT(*ShellWords("a  'b c' \"d e\"f g\\ h ''"),
              ElementsAre("a", "b c", "d ef", "g h", ""));
  EXPECT_TRUE(ShellWords("")->empty());
  EXPECT_FALSE(ShellWords("'open"));
}

}  // namespace
}  // namespace caip::app
