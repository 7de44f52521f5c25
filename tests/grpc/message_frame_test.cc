#include "grpc/message_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/compression.h"
#include "tests/grpc/a_call.h"

namespace caip::grpc {
namespace {

using ::testing::HasSubstr;

using Metadata = std::vector<std::pair<std::string, std::string>>;

std::string Compressed(std::string message) {
  std::string frame = FrameMessage(message);
  frame[0] = 1;
  return frame;
}

Result<std::string> Read(const std::string& bytes, const Metadata& metadata = {}) {
  ACall call(bytes, metadata);
  return ReadOnlyMessage(call.request);
}

TEST(FrameMessage, BeginsWithFiveBytes) {
  EXPECT_EQ(FrameMessage(std::string(258, 'x')).substr(0, 6), std::string("\0\0\0\x01\x02x", 6));
}

TEST(ReadOnlyMessage, ReadsPlainAndCompressedMessages) {
  const std::string message = std::string(5000, 'm') + '\0';
  EXPECT_EQ(*Read(FrameMessage(message)), message);
  EXPECT_EQ(*Read(FrameMessage("")), "");
  EXPECT_EQ(*Read(FrameMessage(message), {{"grpc-encoding", "gzip"}}), message);
  EXPECT_EQ(*Read(Compressed(http::Gzip(message)), {{"grpc-encoding", "gzip"}}), message);
}

TEST(ReadOnlyMessage, RefusesBrokenFramesWithTheCodeOfGrpc) {
  const std::string gzip = http::Gzip("message");
  const std::string bomb = http::Gzip(std::string(kMessageBytesMax + 1, 'x'));
  const struct {
    std::string name;
    std::string bytes;
    Metadata metadata;
    Code code;
    std::string text;
  } cases[] = {
      {"no message", "", {}, Code::kUnimplemented, "has no message"},
      {"two messages", FrameMessage("a") + FrameMessage("b"), {}, Code::kUnimplemented, "several"},
      {"a cut head", std::string("\0\0\0", 3), {}, Code::kInternal, "ends before"},
      {"a cut message", FrameMessage("abcdef").substr(0, 8), {}, Code::kInternal, "ends before"},
      {"a flag", std::string("\2\0\0\0\0", 5), {}, Code::kInternal, "is 2."},
      {"large", std::string("\0\xff\xff\xff\xff", 5), {}, Code::kResourceExhausted, "4194304"},
      {"a bomb",
       Compressed(bomb),
       {{"grpc-encoding", "gzip"}},
       Code::kResourceExhausted,
       "4194304"},
      {"unnamed", Compressed(gzip), {}, Code::kInternal, "grpc-encoding"},
      {"identity", Compressed(gzip), {{"grpc-encoding", "identity"}}, Code::kInternal, "marked"},
      {"unknown", FrameMessage(""), {{"grpc-encoding", "br"}}, Code::kUnimplemented, "'br'"},
      {"not gzip", Compressed("text"), {{"grpc-encoding", "gzip"}}, Code::kInternal, "decompress"},
      {"cut gzip",
       Compressed(gzip.substr(0, gzip.size() - 3)),
       {{"grpc-encoding", "gzip"}},
       Code::kInternal,
       "decompress"},
      {"more than gzip",
       Compressed(gzip + "x"),
       {{"grpc-encoding", "gzip"}},
       Code::kInternal,
       "decompress"},
  };
  for (const auto& test : cases) {
    const auto read = Read(test.bytes, test.metadata);
    ASSERT_FALSE(read.ok()) << test.name;
    EXPECT_EQ(read.error().code, test.code) << test.name;
    EXPECT_THAT(read.error().message, HasSubstr(test.text)) << test.name;
  }
}

}  // namespace
}  // namespace caip::grpc
