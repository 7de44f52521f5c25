#include "engine/run_note.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::engine {
namespace {

RunNote ANote() {
  RunNote note;
  note.names.cluster_id = "e118e0f997";
  note.names.tenant_project = "w93a1503672d4dd09-ml";
  note.attempt = 2;
  note.queued_until = Instant(std::chrono::nanoseconds(1'644'429'600'123'456'789));
  note.loss_restarts = 4;
  note.failed_tries = 3;
  note.out_of_stock = true;
  note.addresses = {"127.0.0.2:2222", "127.0.0.3:2222"};
  note.replicas[{"master", 0}] = {1, 0, true};
  note.replicas[{"ps", 1}] = {4, 3, false};
  note.images = {{"gcr.io/p/command:1", {{"python3", "t.py"}, ""}},
                 {"gcr.io/p/file:1", {{}, "/images/file.tar"}}};
  note.failing = FailingEnd{{"worker", 2}, "no luck", run::EndCause::kReplicaFailed};
  note.ending = Ending{run::JobEvent::kGaveUp, "because", run::EndCause::kOutOfStock};
  return note;
}

TEST(RunNote, IsReadAsItWasWritten) {
  const RunNote note = ANote();
  const auto read = ParseRunNote(ToJson(note));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(CompactJson(ToJson(*read)), CompactJson(ToJson(note)));
  EXPECT_EQ(read->queued_until, note.queued_until);
  EXPECT_EQ(read->replicas.at({"ps", 1}).restarts, 3);
  EXPECT_TRUE(read->replicas.at({"master", 0}).finished);
  EXPECT_EQ(read->images, note.images);
  EXPECT_EQ(read->ending->message, "because");
  EXPECT_EQ(read->ending->cause, run::EndCause::kOutOfStock);
  EXPECT_EQ(read->loss_restarts, 4);
  EXPECT_EQ(read->failing->replica, (run::ReplicaId{"worker", 2}));
  EXPECT_EQ(read->failing->message, "no luck");
  EXPECT_EQ(read->failing->cause, run::EndCause::kReplicaFailed);
}

TEST(RunNote, EveryEndingSurvives) {
  for (auto as : {run::JobEvent::kSucceeded, run::JobEvent::kGaveUp, run::JobEvent::kAllStopped}) {
    RunNote note = ANote();
    note.ending->as = as;
    const auto read = ParseRunNote(ToJson(note));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->ending->as, as);
  }
}

TEST(RunNote, WhatIsBrokenIsNamed) {
  const std::pair<const char*, Json> kBroken[] = {{"clusterId", ""},
                                                  {"attempt", 0},
                                                  {"queuedUntil", "noon"},
                                                  {"addresses", 1},
                                                  {"replicas", "many"},
                                                  {"images", {{"gcr.io/p/i", 7}}},
                                                  {"ending", {{"as", "BORED"}}}};
  for (const auto& [name, value] : kBroken) {
    Json json = ToJson(ANote());
    json[name] = value;
    const auto read = ParseRunNote(json);
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_EQ(read.error().code, Code::kDataLoss);
    EXPECT_NE(read.error().message.find(name), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(ParseRunNote(Json()).ok());
}

}  // namespace
}  // namespace caip::engine
