// Container images that bring their own program: what the engine asks the packager for, and what
// replicas then run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sleepers_api.h"
#include "tests/support/small_world.h"

namespace caip::engine {
namespace {

using run::JobState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr char kBed[] = "registry/bed:1";

struct OwnImages : ::testing::Test {
  OwnImages() {
    world.launcher.images[kBed] = {};
    world.launcher.on_launch = [this](const ReplicaLaunch& launch) { launches.push_back(launch); };
    world.Boot();
  }
  Json Nap(int sleepers) { return {{"name", "nap"}, {"sleepers", sleepers}, {"image", kBed}}; }
  PreparedImage& Bring(std::vector<std::string> entrypoint) {
    const auto image = std::make_shared<PreparedImage>();
    image->layers = {"/layers/base", "/layers/bed"};
    image->entrypoint = std::move(entrypoint);
    image->environment = {{"PATH", "/image/bin"}, {"SLEEPERS", "none"}, {"PILLOW", "soft"}};
    image->working_directory = "/house";
    world.packager.images[kBed] = image;
    return *image;
  }
  const ReplicaLaunch& LaunchOne() {
    EXPECT_TRUE(world.Submit(Nap(1)).ok());
    EXPECT_TRUE(world.RunUntilState("nap", JobState::kRunning));
    return launches.at(0);
  }

  SleepersApi api;
  MemoryStore store;
  SmallWorld world{api, store, kMorning};
  std::vector<ReplicaLaunch> launches;
};

TEST_F(OwnImages, ArePreparedOnceForAllReplicas) {
  Bring({"/bin/bed"});
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  world.RunUntilIdle();
  ASSERT_EQ(world.packager.requests().size(), 1u);
  EXPECT_THAT(world.packager.requests()[0].images, ElementsAre(Pair(kBed, "")));
  EXPECT_EQ(world.packager.requests()[0].python_module, "") << "there are no packages";
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_THAT(launches[1].image->layers, ElementsAre("/layers/base", "/layers/bed"));
  EXPECT_EQ(world.StateOf("nap"), JobState::kSucceeded);
}

TEST_F(OwnImages, RunTheirEntrypointInTheirDirectory) {
  Bring({"/bin/bed", "--soft"});
  const ReplicaLaunch& launch = LaunchOne();
  EXPECT_THAT(launch.Argv(), ElementsAre("/bin/bed", "--soft", "--bed=0"));
  EXPECT_EQ(launch.working_directory, "/house");
}

TEST_F(OwnImages, RunTheFirstArgumentIfTheyNameNoProgram) {
  Bring({});
  EXPECT_THAT(LaunchOne().Argv(), ElementsAre("--bed=0"));
}

TEST_F(OwnImages, RunTheFirstArgumentOfTheJobInsteadOfTheirOwn) {
  Bring({}).default_args = {"/bin/sh"};
  EXPECT_THAT(LaunchOne().Argv(), ElementsAre("--bed=0"));
}

TEST_F(OwnImages, BringVariablesThatTheJobMayReplace) {
  Bring({"/bin/bed"});
  const ReplicaLaunch& launch = LaunchOne();
  EXPECT_THAT(launch.environment, Contains(Pair("PILLOW", "soft")));
  EXPECT_THAT(launch.environment, Contains(Pair("SLEEPERS", "1")));
  EXPECT_THAT(launch.environment, Not(Contains(Pair("SLEEPERS", "none"))));
}

TEST_F(OwnImages, KeepTheirOwnPath) {
  Bring({"/bin/bed"});
  EXPECT_THAT(LaunchOne().environment, Contains(Pair("PATH", "/image/bin")));
}

TEST_F(OwnImages, AreNotPreparedWhereTheLauncherKnowsACommand) {
  world.launcher.images[kBed] = {"/usr/bin/bed"};
  const ReplicaLaunch& launch = LaunchOne();
  EXPECT_THAT(world.packager.requests(), IsEmpty());
  EXPECT_EQ(launch.image, nullptr);
  EXPECT_THAT(launch.Argv(), ElementsAre("/usr/bin/bed", "--bed=0"));
}

TEST_F(OwnImages, ThatAreMissingEndTheJobWithTheReason) {
  world.packager.fails = [](const PrepareRequest&) {
    return Prepared::Failure{1, "", "The image does not exist."};
  };
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("nap"), JobState::kFailed);
  EXPECT_EQ(world.engine->Get("p", "nap")->error_message, "The image does not exist.");
  EXPECT_THAT(launches, IsEmpty());
}

TEST_F(OwnImages, ArePreparedAgainAfterTheEmulatorWasKilled) {
  Bring({"/bin/bed"});
  LaunchOne();
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(world.packager.requests().size(), 2u);
  EXPECT_NE(launches.back().image, nullptr);
  EXPECT_EQ(world.StateOf("nap"), JobState::kSucceeded);
}

}  // namespace
}  // namespace caip::engine
