#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Response EchoBody(const Request& request) {
  const auto body = request.ReadBody(1 << 20);
  return body.ok() ? Text("[" + *body + "]") : JsonResponse(400, body.error().message);
}

std::string Chunked(const std::string& chunks) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks;
}

TEST(Chunks, MayHaveExtensionsAndTrailersAndAnyCase) {
  const Served served(EchoBody);
  const std::string good[] = {
      "3\r\nabc\r\n0\r\n\r\n",
      "003;name=value\r\nabc\r\n0;last\r\nX: y\r\nZ: w\r\n\r\n",
      "1\r\na\r\n2 \r\nbc\r\n0\r\n\r\n",
  };
  for (const std::string& chunks : good) {
    const std::string answers = served.Ask(Chunked(chunks) + LastGetRequest("/next"));
    EXPECT_THAT(answers, AllOf(HasSubstr("[abc]"), HasSubstr("[]"))) << chunks;
  }
  EXPECT_THAT(served.Ask(Chunked("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n") +
                         LastGetRequest("/next")),
              HasSubstr("[01234567890123456789]"));
}

TEST(Chunks, AreRefusedWhereTheyCouldBeReadInTwoWays) {
  const Served served(EchoBody);
  std::string trailers;
  for (int i = 0; i < 1000; ++i) trailers += "X: y\r\n";
  const std::string bad[] = {
      "\r\nabc\r\n0\r\n\r\n",                        // no size
      "0x3\r\nabc\r\n0\r\n\r\n",                     // another language's hexadecimal
      "-3\r\nabc\r\n0\r\n\r\n",                      // negative
      "3z\r\nabc\r\n0\r\n\r\n",                      // more than a number
      "11111111111111111\r\nabc\r\n0\r\n\r\n",       // more than 64 bits
      "3\nabc\r\n0\r\n\r\n",                         // bare LF
      "3\r\nabcd\r\n0\r\n\r\n",                      // longer than its size
      "3\r\nabc0\r\n\r\n",                           // no line end after the data
      "3;" + std::string(100'000, 'x') + "\r\nabc",  // an endless extension
      "0\r\n" + trailers + "\r\n",                   // endless trailers
  };
  for (const std::string& chunks : bad) {
    EXPECT_THAT(
        served.Ask(Chunked(chunks)),
        AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("malformed"), HasSubstr("Connection: close")))
        << chunks.substr(0, 40);
  }
}

TEST(Chunks, ThatEndEarlyAreNoBody) {
  const Served served(EchoBody);
  for (const char* chunks : {"", "3", "3\r\nab", "3\r\nabc\r\n", "3\r\nabc\r\n0\r\n"}) {
    RawPeer peer(served->port());
    peer.Send(Chunked(chunks));
    peer.EndWrites();
    EXPECT_THAT(peer.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("whole body")))
        << chunks;
  }
}

}  // namespace
}  // namespace caip::http
