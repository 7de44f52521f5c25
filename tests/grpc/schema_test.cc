#include "grpc/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::grpc {
namespace {

using ::testing::HasSubstr;

constexpr char kEntries[] = "google.logging.v2.ListLogEntriesResponse";

// The entries of a page of the REST API after they were a message.
Json EntriesOverGrpc(const Json& entries) {
  const auto bytes = Schema::Served().FromJson(kEntries, CompactJson(Json{{"entries", entries}}));
  if (!bytes.ok()) return bytes.error().message;
  return (*ParseJson(*Schema::Served().ToJson(kEntries, *bytes)))["entries"];
}

TEST(Schema, KnowsAuditLogs) {
  const Json entries = {{{"logName", "a"},
                         {"protoPayload",
                          {{"@type", "type.googleapis.com/google.cloud.audit.AuditLog"},
                           {"serviceName", "storage.googleapis.com"},
                           {"request", {{"a", 1.0}}}}}}};
  EXPECT_EQ(EntriesOverGrpc(entries), entries);
}

TEST(Schema, LeavesOutPayloadsThatItCannotReadAndKeepsTheirEntries) {
  const Json unknown = {{"@type", "type.googleapis.com/x.Unknown"}, {"a", 1}};
  const Json malformed = {{"@type", "type.googleapis.com/google.cloud.audit.AuditLog"},
                          {"status", "none"}};
  const Json with_inner = {{"@type", "type.googleapis.com/google.cloud.audit.AuditLog"},
                           {"methodName", "m"},
                           {"status", {{"code", 5}, {"details", {unknown}}}},
                           {"serviceData", unknown}};
  const Json entries = {{{"insertId", "1"}, {"protoPayload", unknown}},
                        {{"insertId", "2"}, {"protoPayload", malformed}},
                        {{"insertId", "3"}, {"protoPayload", with_inner}},
                        {{"insertId", "4"}, {"protoPayload", "x"}},
                        {{"insertId", "5"}, {"jsonPayload", unknown}}};
  const Json read = EntriesOverGrpc(entries);
  ASSERT_EQ(read.size(), 5u) << read;
  EXPECT_EQ(read[0], (Json{{"insertId", "1"}}));
  EXPECT_EQ(read[1], (Json{{"insertId", "2"}}));
  EXPECT_EQ(read[2]["protoPayload"]["methodName"], "m");
  EXPECT_EQ(read[2]["protoPayload"]["status"], (Json{{"code", 5}}));
  EXPECT_FALSE(read[2]["protoPayload"].contains("serviceData"));
  EXPECT_EQ(read[3], (Json{{"insertId", "4"}}));
  EXPECT_EQ(read[4], entries[4]);
}

// protobuf itself writes to the standard error about some of them, unless its handler is removed.
TEST(Schema, WritesNothingAboutMessagesThatItCannotRead) {
  const std::string not_utf8("\x62\x02\xff\xfe", 4);  // logName
  ::testing::internal::CaptureStderr();
  const auto json = Schema::Served().ToJson("google.logging.v2.LogEntry", not_utf8);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(json.ok()) << *json;
  EXPECT_EQ(json.error().code, Code::kInternal) << "gRPC's code for a message that is not valid";
}

TEST(Schema, StillRefusesOtherFieldsOfAWrongForm) {
  EXPECT_THAT(EntriesOverGrpc({{{"timestamp", "never"}}}).get<std::string>(),
              HasSubstr("has no form as"));
}

// Values that are valid in the binary form, and that JSON cannot express.
TEST(Schema, RefusesValuesWithoutAJsonForm) {
  const struct {
    std::string type;
    std::string bytes;
  } cases[] = {
      {"google.protobuf.Duration",  // 1 s, -1 ns
       std::string("\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13)},
      {"google.protobuf.Value", std::string("\x11\x00\x00\x00\x00\x00\x00\xf8\x7f", 9)},  // NaN
      {"google.protobuf.Value",
       std::string("\x11\x00\x00\x00\x00\x00\x00\xf0\x7f", 9)},  // infinite
  };
  for (const auto& test : cases) {
    const auto json = Schema::Served().ToJson(test.type, test.bytes);
    ASSERT_FALSE(json.ok()) << *json;
    EXPECT_EQ(json.error().code, Code::kInvalidArgument);
    EXPECT_THAT(json.error().message, HasSubstr(test.type));
  }
  EXPECT_EQ(*Schema::Served().ToJson("google.protobuf.Duration", std::string("\x08\x01\x10\x01")),
            "\"1.000000001s\"");
}

}  // namespace
}  // namespace caip::grpc
