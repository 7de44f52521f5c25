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
