#include "emulator/api/paging.h"

#include <gtest/gtest.h>

namespace caip::api {
namespace {

http::Request Asking(std::vector<std::pair<std::string, std::string>> query) {
  http::Request request;
  request.query = std::move(query);
  return request;
}

TEST(Paging, APageHasTwentyItemsByDefault) {
  EXPECT_EQ(ReadPage(Asking({}))->size, 20u);
  EXPECT_EQ(ReadPage(Asking({{"pageSize", "0"}}))->size, 20u);
  EXPECT_EQ(ReadPage(Asking({{"pageSize", "7"}}))->size, 7u);
}

TEST(Paging, APageHasAtMostAHundredItems) {
  EXPECT_EQ(ReadPage(Asking({{"pageSize", "1000"}}))->size, 100u);
}

TEST(Paging, ANegativeOrNonNumericSizeIsRefused) {
  for (const char* text : {"-1", "x", "1.5", "99999999999999999999"}) {
    const auto page = ReadPage(Asking({{"pageSize", text}}));
    ASSERT_FALSE(page.ok()) << text;
    EXPECT_EQ(page.error().code, Code::kInvalidArgument) << text;
  }
}

TEST(Paging, ATokenContinuesAfterTheLastItem) {
  for (const char* item : {"job_1", "a", ">>>???"}) {
    const std::string token = PageToken(item);
    EXPECT_EQ(token.find_first_of("+/"), std::string::npos) << token;
    EXPECT_EQ(ReadPage(Asking({{"pageToken", token}}))->after, item);
  }
}

TEST(Paging, AForeignTokenIsRefused) {
  for (const char* token : {"job_1", "!!", "AAAA"}) {
    EXPECT_FALSE(ReadPage(Asking({{"pageToken", token}})).ok()) << token;
  }
}

}  // namespace
}  // namespace caip::api
