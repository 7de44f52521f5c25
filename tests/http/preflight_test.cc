#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Preflight(const std::string& origin) {
  return "OPTIONS /v1/projects/p/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: "
         "close\r\nOrigin: " +
         origin +
         "\r\nAccess-Control-Request-Method: PATCH\r\n"
         "Access-Control-Request-Headers: content-type\r\n\r\n";
}

TEST(Preflight, OfOurOwnPagesIsAllowedWithoutAskingTheHandler) {
  const Served served([](const Request&) { return Text("the handler"); });
  EXPECT_THAT(served.Ask(Preflight("http://localhost")),
              AllOf(StartsWith("HTTP/1.1 204"),
                    HasSubstr("Access-Control-Allow-Origin: http://localhost\r\n"),
                    HasSubstr("Access-Control-Allow-Methods: PATCH\r\n"),
                    HasSubstr("Access-Control-Allow-Headers: content-type\r\n")));
}

TEST(Preflight, OfOtherPagesIsRefused) {
  const Served served([](const Request&) { return Text("the handler"); });
  EXPECT_THAT(served.Ask(Preflight("https://evil.example")),
              AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("Access-Control-Allow"))));
}

TEST(Preflight, IsNoPreflightWithoutTheQuestion) {
  const Served served([](const Request&) { return Text("the handler"); });
  EXPECT_THAT(served.Ask("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              HasSubstr("the handler"));
}

}  // namespace
}  // namespace caip::http
