#include "conformance/format/matcher.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/format/received_json.h"

namespace conform {
namespace {

bool Fits(const char* expected, const char* actual) {
  const Json there = Json::parse(actual);
  return Match(Json::parse(expected), &there).empty();
}

TEST(Matcher, JudgesOnlyWhatIsMentioned) {
  EXPECT_TRUE(Fits(R"({"a": 1})", R"({"a": 1, "b": 2})"));
  EXPECT_TRUE(Fits("{}", R"({"b": 2})"));
  EXPECT_FALSE(Fits(R"({"a": 1})", R"({"b": 2})"));
  EXPECT_FALSE(Fits(R"({"a": "1"})", R"({"a": 1})"));
  EXPECT_FALSE(Fits("{}", "[]"));
}

TEST(Matcher, ListsHaveTheSameLengthAndOrder) {
  EXPECT_TRUE(Fits(R"([{"a": 1}, 2])", R"([{"a": 1, "b": 2}, 2])"));
  EXPECT_FALSE(Fits("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(Fits("[1]", "[1, 2]"));
  EXPECT_FALSE(Fits("[]", "{}"));
}

TEST(Matcher, EachOfTheFewMeansWhatItSays) {
  const struct {
    const char* expected;
    const char* fits;
    const char* differs;
  } rows[] = {
      {R"({"$any": true})", "0", nullptr},
      {R"({"$contains": "b"})", R"("abc")", R"("xyz")"},
      {R"({"$contains": {"a": 1}})", R"([{"a": 2}, {"a": 1, "b": 1}])", R"([{"a": 2}])"},
      {R"({"$contains": "key"})", R"({"key": 1})", R"({"other": "key"})"},
      {R"({"$matches": "a+"})", R"("aaa")", R"("aab")"},
      {R"({"$matches": "4.."})", "404", "500"},
      {R"({"$one_of": [1, {"$contains": "x"}]})", R"("xy")", "2"},
      {R"({"$not": {"a": 1}})", R"({"a": 2})", R"({"a": 1, "b": 1})"},
      {R"({"$all": [{"$contains": "a"}, {"$contains": "b"}]})", R"("ba")", R"("a")"},
      {R"({"$exactly": {"a": 1}})", R"({"a": 1})", R"({"a": 1, "b": 1})"},
      {R"({"$each": {"a": 1}})", R"([{"a": 1}, {"a": 1, "b": 1}])", R"([{"a": 1}, {"a": 2}])"},
      {R"({"$length": 2})", R"([1, 2])", R"("abc")"},
      {R"({"$json": {"a": 1}})", R"("{\"a\": 1, \"b\": 2}")", R"("{a: 1}")"},
      {R"({"$in_order": [1, 3]})", "[1, 2, 3]", "[3, 1]"},
      {R"({"$unordered": [1, 3]})", "[3, 1]", "[1, 3, 3]"},
      {R"({"$at_least": "2020-01"})", R"("2020-01-05")", R"("2019")"},
      {R"({"$at_least": 3})", "3", "2"},
      {R"({"$absolute": true})", R"("http://h:1/x")", R"("/x")"},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(Fits(row.expected, row.fits)) << row.expected << " " << row.fits;
    if (row.differs) {
      EXPECT_FALSE(Fits(row.expected, row.differs)) << row.expected << " " << row.differs;
    }
    EXPECT_FALSE(Match(Json::parse(row.expected), nullptr).empty() &&
                 std::string(row.expected).find("$not") == std::string::npos)
        << row.expected << " of nothing";
  }
}

// An endpoint may answer with a long text, which must not end the judge.
TEST(Matcher, MatchesLongTextsInLinearTime) {
  constexpr size_t kLength = 4'000'000;
  const Json traceback = std::string(kLength, 'a') + "\n" + "RuntimeError: lost";
  EXPECT_TRUE(Match({{"$matches", "[\\s\\S]*RuntimeError: .*"}}, &traceback).empty());
  EXPECT_FALSE(Match({{"$matches", "(a+)+"}}, &traceback).empty());
}

// Also what a program prints may be nested deeper than the stack of the judge.
TEST(ReceivedJson, HasAFewHundredLevelsAtMost) {
  const auto nested = [](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_FALSE(ParseReceived(nested(kLevelsMax)).is_discarded());
  EXPECT_TRUE(ParseReceived(nested(kLevelsMax + 1)).is_discarded());
  EXPECT_TRUE(ParseReceived(nested(300'000)).is_discarded());
  EXPECT_TRUE(ParseReceived("{").is_discarded());
  EXPECT_EQ(ParseReceived(R"({"a": [1, {"b": null}]})"), Json::parse(R"({"a": [1, {"b": null}]})"));
}

TEST(Matcher, AbsentIsWhatIsNotThere) {
  EXPECT_TRUE(Fits(R"({"a": {"$absent": true}})", "{}"));
  EXPECT_FALSE(Fits(R"({"a": {"$absent": true}})", R"({"a": null})"));
}

TEST(Matcher, TellsEveryDifferenceWithItsPlace) {
  const Json actual = Json::parse(R"({"body": {"error": {"code": 404, "list": [1, 2]}}})");
  const Json expected =
      Json::parse(R"({"body": {"error": {"code": 400, "list": [1, 3]}}, "status": 400})");
  const auto mismatches = Match(expected, &actual);
  ASSERT_EQ(mismatches.size(), 3u);
  EXPECT_EQ(mismatches[0].where, "body.error.code");
  EXPECT_EQ(mismatches[0].text, "expected 400, got 404");
  EXPECT_EQ(mismatches[1].where, "body.error.list[1]");
  EXPECT_EQ(mismatches[2].where, "status");
  EXPECT_EQ(mismatches[2].text, "expected 400, got nothing");
}

TEST(Matcher, MistakesInExpectationsAreFound) {
  EXPECT_FALSE(FindMistake(Json::parse(R"({"a": {"$contains": "x"}})")).has_value());
  EXPECT_FALSE(FindMistake(Json::parse(R"({"${key}": "x"})")).has_value());
  for (const char* mistake :
       {R"({"a": {"$contain": "x"}})", R"({"a": {"$matches": "("}})", R"({"a": {"$one_of": 1}})",
        R"({"a": {"$any": true, "b": 1}})", R"({"a": {"$contains": {"$nothing": 1}}})"}) {
    EXPECT_TRUE(FindMistake(Json::parse(mistake)).has_value()) << mistake;
  }
}

}  // namespace
}  // namespace conform
