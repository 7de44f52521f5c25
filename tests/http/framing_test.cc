#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "http/connection/request_body.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Settled(std::string text) {
  ResolveFraming({text.data(), text.size()});
  return text;
}

TEST(Framing, IdentityIsNoCodingInWhateverSpelling) {
  EXPECT_EQ(Settled("PUT / HTTP/1.1\r\nTransfer-Encoding: identity\r\nA: b\r\n\r\n"),
            "PUT / HTTP/1.1\r\nxxansfer-Encoding: identity\r\nA: b\r\n\r\n");
  EXPECT_EQ(Settled("transfer-encoding:  Identity \r\n\r\n"),
            "xxansfer-encoding:  Identity \r\n\r\n");
}

TEST(Framing, ChunksOverrideALength) {
  EXPECT_EQ(Settled("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "xxntent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(Framing, LeavesOtherCodingsBodiesAndHalfHeadersAlone) {
  for (const char* text : {"A: b\r\nTransfer-Encoding: chunked\r\n\r\n",
                           "A: b\r\nTransfer-Encoding: identity, chunked\r\n\r\n",
                           "A: b\r\nContent-Length: 5\r\n\r\nTransfer-Encoding: chunked\r\n\r\n",
                           "A: b\r\nTransfer-Encoding: identity\r\n", "\r\n\r\n", ""}) {
    EXPECT_EQ(Settled(text), text);
  }
}

std::string Answer(const std::string& header, const std::string& body) {
  const Served served(
      [](const Request& request) { return Text("<" + *request.ReadBody(9) + ">"); });
  return served.Ask("PUT /upload HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n" + body);
}

TEST(Framing, ServesAnEmptyUploadAsTensorFlowSendsIt) {
  EXPECT_THAT(
      Answer("Content-Length: 0\r\nTransfer-Encoding: identity\r\nConnection: close\r\n", ""),
      AllOf(StartsWith("HTTP/1.1 200"), EndsWith("<>")));
}

TEST(Framing, ServesAnUploadAsTensorFlowSendsItAndClosesTheConnection) {
  EXPECT_THAT(
      Answer("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "5\r\nhello\r\n0\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close"), EndsWith("<hello>")));
}

TEST(Framing, StillRefusesTwoLengthsBesideChunks) {
  EXPECT_THAT(Answer("Transfer-Encoding: chunked\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
                     "0\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST(Framing, RefusesCodingsThatTheServerDoesNotUndo) {
  const std::string body = "5\r\nhello\r\n0\r\n\r\n";
  const std::pair<const char*, const char*> refused[] = {
      {"Transfer-Encoding: gzip, chunked\r\n", "501"},
      {"Transfer-Encoding: identity, chunked\r\n", "501"},
      {"Transfer-Encoding: gzip\r\n", "501"},
      {"Transfer-Encoding: chunked, chunked\r\n", "501"},
      {"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "400"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "400"},
      {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "400"},
      {"Transfer-Encoding: identity\r\nTransfer-Encoding: identity\r\n", "400"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n", "400"},
  };
  for (const auto& [header, status] : refused) {
    EXPECT_THAT(Answer(header, body), StartsWith("HTTP/1.1 " + std::string(status))) << header;
  }
}

}  // namespace
}  // namespace caip::http
