// The bodies of a stream of HTTP/2, without a connection.
#include "http/http2/http2_stream.h"

#include <gtest/gtest.h>

#include <string>

namespace caip::http {
namespace {

constexpr size_t kKibibyte = 1 << 10;

// Bytes that differ at each place within a few hundred kibibytes.
std::string SomeBytes(size_t count, uint32_t seed) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

std::string ReadBytes(Http2Stream& stream, size_t count) {
  std::string bytes(count, '\0');
  size_t at = 0;
  while (at < count) {
    const auto read = stream.Read(bytes.data() + at, count - at);
    if (!read.ok() || *read == 0) break;
    at += *read;
  }
  return bytes.substr(0, at);
}

// What the handler has read is dropped from time to time, and not one byte of the rest.
TEST(Http2Stream, GivesEveryByteOfABodyThatArrivesFasterThanItIsRead) {
  const Http2Alarm alarm;
  Http2Stream stream(1, alarm, 5);
  const std::string body = SomeBytes(3000 * kKibibyte, 7);
  std::string read;
  size_t sent = 0;
  size_t counted = 0;
  const auto send = [&](size_t count) {
    ASSERT_TRUE(stream.ReceiveBody(std::string_view(body).substr(sent, count)));
    sent += count;
  };
  send(1000 * kKibibyte);
  for (const size_t part : {100, 157, 1, 300, 400, 41}) {  // around the 256 KiB that are kept
    read += ReadBytes(stream, part * kKibibyte);
    counted += stream.TakeReadCount();
    EXPECT_EQ(counted, read.size());
    send(333 * kKibibyte);
  }
  send(2 * kKibibyte);
  stream.EndBody();
  ASSERT_EQ(sent, body.size());
  read += ReadBytes(stream, body.size());
  EXPECT_TRUE(read == body);
  char more = 0;
  EXPECT_EQ(*stream.Read(&more, 1), 0u);
}

// The connection's window gets back what no handler will read.
TEST(Http2Stream, CountsWhatIsLeftOfAnAbandonedBody) {
  const Http2Alarm alarm;
  Http2Stream stream(1, alarm, 5);
  ASSERT_TRUE(stream.ReceiveBody(SomeBytes(600 * kKibibyte, 7)));
  ReadBytes(stream, 300 * kKibibyte);
  ASSERT_TRUE(stream.ReceiveBody(SomeBytes(10 * kKibibyte, 8)));
  stream.Abandon();
  EXPECT_FALSE(stream.ReceiveBody("x"));
  EXPECT_EQ(stream.TakeReadCount(), 610 * kKibibyte);
  EXPECT_EQ(stream.TakeReadCount(), 0u);
}

}  // namespace
}  // namespace caip::http
