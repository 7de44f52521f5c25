#include "host/companions/companions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/files.h"
#include "host/companions/companion_launcher.h"
#include "host/process/child_process.h"
#include "places.h"
#include "tests/support/simulated_engine.h"

namespace caip::host {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Listens on --port=N as an emulator does, until it is killed.
constexpr const char* kListens = R"(#!/usr/bin/env python3
import http.server, sys
port = int([word for word in sys.argv if 'port=' in word][0].split('=')[1])
print('serving', port, flush=True)
http.server.HTTPServer(('127.0.0.1', port), http.server.SimpleHTTPRequestHandler).serve_forever()
)";

class CompanionsTest : public ::testing::Test {
 protected:
  Path sdk() const { return directory_.path() / "sdk"; }

  void Install(const Path& program, const std::string& text) {
    const Path file = sdk() / program;
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, text).ok());
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  CompanionOptions OptionsFor(std::vector<std::string> names) {
    CompanionOptions options;
    options.state = directory_.path() / "state";
    options.names = std::move(names);
    options.search.sdk_root = sdk();
    options.program = Path(CAIP_BINARY_DIR) / "caip-launcher";
    for (const auto& [name, value] : OwnEnvironment()) {
      if (name == "PATH") options.environment.emplace_back(name, value);
    }
    return options;
  }

  static CompanionsServed Ready(Companions& companions) {
    std::promise<CompanionsServed> promise;
    companions.WhenReady([&](const CompanionsServed& served) { promise.set_value(served); });
    auto future = promise.get_future();
    EXPECT_EQ(future.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    return future.get();
  }

  TemporaryDirectory directory_;
};

const Path kBigtable = "platform/bigtable-emulator/cbtemulator";
const Path kPubsub = "platform/pubsub-emulator/bin/cloud-pubsub-emulator";

TEST_F(CompanionsTest, AreFoundBelowTheSdkOrOnThePath) {
  Install(kBigtable, kListens);
  CompanionSearch search;
  search.sdk_root = sdk();
  EXPECT_EQ(FindCompanion("bigtable", search), sdk() / kBigtable);
  EXPECT_EQ(FindCompanion("pubsub", search), "");
  search.sdk_root = directory_.path() / "elsewhere";
  EXPECT_EQ(FindCompanion("bigtable", search), "");
  search.path = (sdk() / kBigtable).parent_path().string();
  EXPECT_EQ(FindCompanion("bigtable", search), sdk() / kBigtable);
}

TEST_F(CompanionsTest, TellWhereTheyServe) {
  Install(kBigtable, kListens);
  Install(kPubsub, kListens);
  Companions companions(OptionsFor({"bigtable", "pubsub"}));
  const CompanionsServed served = Ready(companions);
  EXPECT_THAT(served.warnings, IsEmpty());
  ASSERT_EQ(served.environment.size(), 2u);
  EXPECT_EQ(served.environment[0].first, "BIGTABLE_EMULATOR_HOST");
  EXPECT_EQ(served.environment[1].first, "PUBSUB_EMULATOR_HOST");
  EXPECT_THAT(served.environment[0].second, ::testing::StartsWith("127.0.0.1:"));
  EXPECT_NE(served.environment[0].second, served.environment[1].second);
  EXPECT_EQ(Ready(companions).environment, served.environment) << "they are started once";
  const auto log = ReadFile(directory_.path() / "state/companions/bigtable.log");
  EXPECT_THAT(*log, HasSubstr("serving"));
}

TEST_F(CompanionsTest, ThatAreNotThereOrFailAreWarnedAbout) {
  Install(kBigtable, "#!/bin/sh\necho no good\nexit 1\n");
  Companions companions(OptionsFor({"bigtable", "spanner"}));
  const CompanionsServed served = Ready(companions);
  EXPECT_THAT(served.environment, IsEmpty());
  ASSERT_EQ(served.warnings.size(), 2u);
  EXPECT_THAT(served.warnings[0], HasSubstr("ended before it served"));
  EXPECT_THAT(served.warnings[0], HasSubstr("no good"));
  EXPECT_THAT(served.warnings[1],
              HasSubstr("spanner emulator of the Cloud SDK is not on this host"));
}

TEST_F(CompanionsTest, ThatDoNotServeInTimeAreEnded) {
  Install(kBigtable, "#!/bin/sh\nexec sleep 600\n");
  CompanionOptions options = OptionsFor({"bigtable"});
  options.patience = std::chrono::milliseconds(300);
  Companions companions(std::move(options));
  const CompanionsServed served = Ready(companions);
  EXPECT_THAT(served.environment, IsEmpty());
  EXPECT_THAT(served.warnings, ::testing::ElementsAre(HasSubstr("did not serve within")));
}

TEST_F(CompanionsTest, AReplicaStartsOnceTheyServeAndKnowsThem) {
  Install(kBigtable, kListens);
  engine::ManualClock clock{Instant{}};
  engine::EventQueue events(clock);
  auto inner = std::make_unique<engine::ScriptedLauncher>(events);
  engine::MemoryLog log;
  std::promise<engine::ReplicaLaunch> launched;
  inner->on_launch = [&](const engine::ReplicaLaunch& launch) { launched.set_value(launch); };
  CompanionLauncher launcher(std::move(inner), OptionsFor({"bigtable", "spanner"}), log, clock);
  engine::ReplicaLaunch launch;
  launch.key.run = {"demo", "j1", ""};
  launch.environment = {{"A", "b"}};
  launcher.Launch(launch, {});
  auto future = launched.get_future();
  ASSERT_EQ(future.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  const engine::Environment environment = future.get().environment;
  ASSERT_EQ(environment.size(), 2u);
  EXPECT_EQ(environment[1].first, "BIGTABLE_EMULATOR_HOST");
  EXPECT_THAT(log.Of("j1", "service"), ::testing::ElementsAre(HasSubstr("spanner")));
}

TEST_F(CompanionsTest, AReplicaThatIsKilledWhileItWaitsEndsWithoutHavingRun) {
  Install(kBigtable, "#!/bin/sh\nexec sleep 600\n");
  engine::ManualClock clock{Instant{}};
  engine::EventQueue events(clock);
  auto inner = std::make_unique<engine::ScriptedLauncher>(events);
  engine::MemoryLog log;
  inner->on_launch = [&](const engine::ReplicaLaunch&) { ADD_FAILURE() << "it ran"; };
  CompanionLauncher launcher(std::move(inner), OptionsFor({"bigtable"}), log, clock);
  engine::ReplicaLaunch launch;
  launch.key.run = {"demo", "j1", ""};
  int exits = 0;
  launcher.Launch(launch, {nullptr, [&](const engine::ReplicaExit& exit) {
                             ++exits;
                             EXPECT_EQ(exit.signal, SIGKILL);
                           }});
  launcher.Kill(launch.key);
  EXPECT_EQ(exits, 1);
}

}  // namespace
}  // namespace caip::host
