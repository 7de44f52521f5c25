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

// A list of the items "1" to "9", of which the filter keeps the even ones.
Result<std::vector<PageItem>> ReadDigits(const std::string& after, size_t count) {
  std::vector<PageItem> items;
  for (char digit = after.empty() ? '1' : after[0] + 1; digit <= '9' && items.size() < count;
       ++digit) {
    const std::string name(1, digit);
    items.push_back({name, digit % 2 == 0 ? std::optional<Json>(name) : std::nullopt});
  }
  return items;
}

TEST(Paging, APageHasATokenOnlyIfAnotherItemMatches) {
  Page page{2, ""};
  Json answer = *AnswerPage(page, "digits", 3, ReadDigits);
  EXPECT_EQ(answer["digits"], Json({"2", "4"}));
  page.after = ReadPage(Asking({{"pageToken", answer["nextPageToken"]}}))->after;
  answer = *AnswerPage(page, "digits", 3, ReadDigits);
  EXPECT_EQ(answer["digits"], Json({"6", "8"}));
  EXPECT_FALSE(answer.contains("nextPageToken"));
}

TEST(Paging, AnEmptyListIsLeftOut) {
  EXPECT_EQ(*AnswerPage(Page{2, "8"}, "digits", 3, ReadDigits), Json::object());
}

TEST(Paging, AFilterThatMatchesNothingEndsAfterSomeThousandItems) {
  size_t read = 0;
  const auto endless = [&](const std::string&, size_t count) -> Result<std::vector<PageItem>> {
    read += count;
    return std::vector<PageItem>(count, PageItem{"x", std::nullopt});
  };
  const Json answer = *AnswerPage(Page(), "items", 256, endless);
  EXPECT_EQ(read, 4096u);
  EXPECT_FALSE(answer.contains("items"));
  EXPECT_TRUE(answer.contains("nextPageToken"));
}

}  // namespace
}  // namespace caip::api
