#include "base/json.h"

#include <gtest/gtest.h>

namespace caip {
namespace {

TEST(Json, SaysWhereItIsBroken) {
  const auto parsed = ParseJson("{\n  \"a\": ,\n}");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  EXPECT_TRUE(parsed.error().message.starts_with("line 2, column 8")) << parsed.error().message;
}

TEST(Json, RefusesWhatIsNestedTooDeep) {
  EXPECT_FALSE(ParseJson(std::string(100'000, '[')).ok());
  EXPECT_FALSE(ParseJson(std::string(101, '[') + std::string(101, ']')).ok());
  EXPECT_TRUE(ParseJson(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_TRUE(ParseJson("\"" + std::string(500, '[') + "\"").ok())
      << "brackets in text do not count";
}

TEST(Json, KeepsTheOrderOfMembers) {
  EXPECT_EQ(CompactJson(*ParseJson(R"({"b": 1, "a": [2, "x"]})")), R"({"b":1,"a":[2,"x"]})");
}

// With a search for each new name, this would take minutes.
TEST(Json, ReadsChangesAndComparesAnObjectOfAMillionMembers) {
  constexpr int kMembers = 1'000'000;
  std::string text = "{";
  for (int i = 0; i < kMembers; ++i)
    text += "\"n" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  const auto parsed = ParseJson(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(CompactJson(*parsed), text);
  Json copy = *parsed;
  for (int i = 0; i < kMembers; ++i) copy["n" + std::to_string(i)] = i + 1;
  EXPECT_EQ(copy.size(), size_t{kMembers});
  EXPECT_EQ(IntOr(copy, "n999999", -1), kMembers);
  EXPECT_NE(copy, *parsed);
}

TEST(Json, FindsMembersOfLargeObjectsAfterChanges) {
  Json object;
  for (int i = 0; i < 100; ++i) object[std::to_string(i)] = i;
  for (int i = 0; i < 100; i += 3) EXPECT_EQ(object.erase(std::to_string(i)), 1u);
  object["0"] = "again";
  EXPECT_EQ(object.size(), 67u);
  for (int i = 1; i < 100; ++i) {
    EXPECT_EQ(Member(object, std::to_string(i)) != nullptr, i % 3 != 0) << i;
    EXPECT_EQ(IntOr(object, std::to_string(i), -1), i % 3 == 0 ? -1 : i);
  }
  EXPECT_EQ(std::prev(object.end()).key(), "0") << "a new member comes last";
  const Json moved = std::move(object);
  EXPECT_EQ(IntOr(moved, "98", -1), 98);
  EXPECT_EQ(Json(moved), moved);
  object = moved;
  object.clear();
  EXPECT_EQ(Member(object, "98"), nullptr);
  object["98"] = 1;
  EXPECT_EQ(object.size(), 1u);
}

TEST(Json, TheLastOfTwoEqualNamesCounts) {
  EXPECT_EQ(CompactJson(*ParseJson(R"({"a": 1, "b": 2, "a": 3})")), R"({"a":3,"b":2})");
}

TEST(Json, IsWrittenAsPythonDoes) {
  EXPECT_EQ(PythonJson(*ParseJson(R"({"b":1,"a":[2,"ü"],"e":{},"n":null})")),
            R"({"b": 1, "a": [2, "\u00fc"], "e": {}, "n": null})");
}

TEST(Json, ReadsIntegersFromTextToo) {
  const Json object = *ParseJson(R"({"a":"12","b":3,"c":"x","d":1.5})");
  EXPECT_EQ(IntOr(object, "a", -1), 12);
  EXPECT_EQ(IntOr(object, "b", -1), 3);
  EXPECT_EQ(IntOr(object, "c", -1), -1);
  EXPECT_EQ(IntOr(object, "d", -1), -1);
  EXPECT_EQ(IntOr(object, "missing", -1), -1);
}

TEST(Json, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(CompactJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace caip
