#include "emulator/front/trust_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/front/replica_network.h"

namespace caip::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ListSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine> lines) override {
    for (engine::LogLine& line : lines) written.push_back(std::move(line));
  }
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
  std::vector<engine::LogLine> written;
};

struct TrustWorld {
  TrustWorld() {
    metadata::Machine machine;
    machine.project_id = "demo";
    machine.job = "census_1";
    machine.replica = "worker-replica-1";
    machine.attributes["trial_id"] = "2";
    machines.Put("a listener", machine);
  }
  void Reject(const std::string& listener, const std::string& user_agent = "TSL") {
    warnings.Warn({"127.0.0.1:5", listener, "storage.googleapis.com", "unknown_ca", user_agent});
  }
  metadata::MachineTable machines{metadata::Machine{}};
  SystemClock clock;
  ListSink log;
  TrustWarnings warnings{{machines, log, clock}, "/state/ca/bundle.pem"};
};

TEST(TrustWarnings, NameTheClientAndTheRemedyInTheLogOfTheReplica) {
  TrustWorld world;
  world.Reject("a listener");
  ASSERT_EQ(world.log.written.size(), 1u);
  const engine::LogLine& line = world.log.written[0];
  EXPECT_EQ(line.run, (engine::RunKey{"demo", "census_1", "2"}));
  EXPECT_EQ(line.task, "worker-replica-1");
  EXPECT_EQ(line.severity, engine::Severity::kWarning);
  EXPECT_THAT(line.message, HasSubstr("The client 'TSL' in this replica does not trust caip's "
                                      "certificate for storage.googleapis.com (TLS alert "
                                      "unknown_ca)"));
  EXPECT_THAT(line.message, HasSubstr("/state/ca/bundle.pem"));
  EXPECT_THAT(line.message, HasSubstr("--isolation machine"));
}

// The path on the host is of no use there.
TEST(TrustWarnings, NameTheFileOfAMachineToProgramsThere) {
  TrustWorld world;
  world.machines.PutShared("of all", [](const std::string&) { return "a listener"; });
  world.Reject("of all");
  ASSERT_EQ(world.log.written.size(), 1u);
  const std::string& message = world.log.written[0].message;
  EXPECT_THAT(message, HasSubstr(std::string("Make it trust the file ") + kBundleOnMachines));
  EXPECT_THAT(message, Not(HasSubstr("/state/")));
  EXPECT_THAT(message, Not(HasSubstr("--isolation")));
}

TEST(TrustWarnings, ComeOnceForEachReplica) {
  TrustWorld world;
  for (int i = 0; i < 3; ++i) world.Reject("a listener", "");
  ASSERT_EQ(world.log.written.size(), 1u);
  EXPECT_THAT(world.log.written[0].message, HasSubstr("A client in this replica"));
}

TEST(TrustWarnings, AreNotWrittenForClientsThatAreNoReplicas) {
  TrustWorld world;
  world.Reject("");
  world.Reject("an unknown listener");
  EXPECT_TRUE(world.log.written.empty());
}

}  // namespace
}  // namespace caip::front
