#include "base/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace caip {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Tree(std::string_view text) {
  const Result<YamlDocument> document = ParseYaml(text, "c.yaml");
  return document.ok() ? CompactJson(document->value) : "ERROR " + document.error().message;
}

std::string Message(std::string_view text) {
  const Result<YamlDocument> document = ParseYaml(text, "c.yaml");
  EXPECT_FALSE(document.ok()) << Tree(text);
  return document.ok() ? "" : document.error().message;
}

// Each row was asked of ruamel.yaml as gcloud 528 calls it (safe loader, version 1.1).
TEST(Yaml, TypesPlainScalarsByVersion11) {
  const std::pair<const char*, const char*> rows[] = {
      {"2.4", "2.4"},
      {"1.10", "1.1"},
      {"1.", "1.0"},
      {"1.e3", "1000.0"},
      {"1e3", "1000.0"},
      {"1e16", "1e+16"},
      {"0.1e+10", "1000000000.0"},
      {".5", "0.5"},
      {"-.5", "\"-.5\""},
      {"+.5", "\"+.5\""},
      {"1.5.2", "\"1.5.2\""},
      {"7200", "7200"},
      {"+1", "1"},
      {"-0", "0"},
      {"1_000", "1000"},
      {"1__", "1"},
      {"_1", "\"_1\""},
      {"010", "8"},
      {"0_7", "7"},
      {"00", "0"},
      {"08", "\"08\""},
      {"0o10", "\"0o10\""},
      {"0x1F", "31"},
      {"0b11", "3"},
      {"1:30", "90"},
      {"12:30", "750"},
      {"190:20:30", "685230"},
      {"1:30.5", "90.5"},
      {"9223372036854775808", "9223372036854775808"},
      {"-9223372036854775807", "-9223372036854775807"},
      {"99999999999999999999", "1e+20"},
      {"y", "true"},
      {"N", "false"},
      {"yes", "true"},
      {"No", "false"},
      {"On", "true"},
      {"oN", "\"oN\""},
      {"OFF", "false"},
      {"TRUE", "true"},
      {"tRue", "\"tRue\""},
      {"~", "null"},
      {"Null", "null"},
      {"nUll", "\"nUll\""},
      {"", "null"},
      {"2001-01-01", "\"2001-01-01\""},
      {"2001-1-1", "\"2001-1-1\""},
      {"us-central1", "\"us-central1\""},
      {"3600s", "\"3600s\""},
      {"+", "\"+\""},
      {".", "\".\""},
      {"nan", "\"nan\""},
      {"\"y\"", "\"y\""},
      {"'2.4'", "\"2.4\""},
      {"!!str 5", "\"5\""},
      {"!!int \"5\"", "5"},
      {"!!float 5", "5.0"},
      {"!!bool \"no\"", "false"},
  };
  for (const auto& [scalar, json] : rows) {
    EXPECT_EQ(Tree("a: " + std::string(scalar)), "{\"a\":" + std::string(json) + "}") << scalar;
  }
}

TEST(Yaml, KnowsInfinityAndNotANumber) {
  const Result<YamlDocument> document = ParseYaml("[.inf, -.INF, .nan]", "c.yaml");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->value[0].get<double>(), INFINITY);
  EXPECT_EQ(document->value[1].get<double>(), -INFINITY);
  EXPECT_TRUE(std::isnan(document->value[2].get<double>()));
}

TEST(Yaml, ReadsBlocksFlowsQuotesAndComments) {
  EXPECT_EQ(Tree("# c\na: # d\n- 1\n- {b: [x, 'it''s'], c: \"\\x41\\u00e9\"}\n"),
            "{\"a\":[1,{\"b\":[\"x\",\"it's\"],\"c\":\"Aé\"}]}");
  EXPECT_EQ(Tree("a: |\n  x\n  y\nb: >-\n  x\n  y\n"), "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}");
  EXPECT_EQ(Tree("\"a\\N\\_\\L\\Pé\""), "\"a\u0085\u00a0\u2028\u2029é\"");
  EXPECT_EQ(Tree("? a\n: b"), "{\"a\":\"b\"}");
  EXPECT_EQ(Tree("\xef\xbb\xbf---\na: b\n...\n"), "{\"a\":\"b\"}");
}

TEST(Yaml, ReadsJson) {
  EXPECT_EQ(Tree(R"({"a": "\/é", "b": [1, 1.5, true, null, {}], "c": {"d": ""}})"),
            R"({"a":"/é","b":[1,1.5,true,null,{}],"c":{"d":""}})");
  EXPECT_EQ(Tree(R"({"a": "\ud83d\ude00", "b": "\\ud83d"})"), R"({"a":"😀","b":"\\ud83d"})");
}

TEST(Yaml, AnEmptyDocumentIsNull) {
  EXPECT_EQ(Tree(""), "null");
  EXPECT_EQ(Tree("# only a comment\n"), "null");
  EXPECT_EQ(Tree("---\n...\n"), "null");
}

TEST(Yaml, KeysBecomeText) {
  EXPECT_EQ(Tree("{1: a, no: b, null: c, 1.5: d}"),
            R"({"1":"a","false":"b","null":"c","1.5":"d"})");
  EXPECT_THAT(Message("? [a, b]\n: c"), HasSubstr("a key must be text"));
  EXPECT_THAT(Message("? {a: b}\n: c"), HasSubstr("a key must be text"));
}

TEST(Yaml, MergesWithTheMappingsOwnMembersOnTop) {
  EXPECT_EQ(Tree("b: &b {x: 1, z: 2}\nc: {<<: *b, z: 3}"),
            R"({"b":{"x":1,"z":2},"c":{"x":1,"z":3}})");
  EXPECT_EQ(Tree("<<: [{x: 1}, {x: 2, z: 2}]"), R"({"x":1,"z":2})");
  EXPECT_EQ(Tree("\"<<\": 1"), R"({"<<":1})");
  EXPECT_THAT(Message("<<: 1"), HasSubstr("'<<' takes a mapping"));
}

TEST(Yaml, AliasesStandForWhatTheyName) {
  EXPECT_EQ(Tree("a: &x {b: [1]}\nc: *x"), R"({"a":{"b":[1]},"c":{"b":[1]}})");
  EXPECT_THAT(Message("a: &x [*x]"),
              HasSubstr("c.yaml:1:8: an alias is used inside the value that it names"));
  EXPECT_THAT(Message("a: *b"), HasSubstr("c.yaml:1:4"));
}

TEST(Yaml, TellsOfMistakesInPlainWords) {
  EXPECT_THAT(Message("a: [1, 2\nb: 3\n"), HasSubstr("a `[` is not closed"));
  EXPECT_THAT(Message("a: {b: 1\n"), HasSubstr("a `{` is not closed"));
  EXPECT_THAT(Message("a:\n  b: 1\n c: 2\n"), HasSubstr("Check its indentation"));
  EXPECT_THAT(Message("a: b: c\n"), HasSubstr("the line contains a second `: `"));
  EXPECT_THAT(Message("a:\n  b: 1\n   c: 2\n"),
              HasSubstr("c.yaml:3:5: this line continues the text of the line above"));
  EXPECT_THAT(Message("a\n  b: 1\n"), HasSubstr("end the line above with a `:`"));
  EXPECT_THAT(Message("a: {b: [1, 2}\n"), HasSubstr("this bracket closes nothing"));
}

// As ruamel.yaml. yaml-cpp lets the end of the file close the text.
TEST(Yaml, AQuoteThatIsNotClosedIsAMistake) {
  EXPECT_THAT(Message("a: \"b\n"), HasSubstr("c.yaml:1:4: a quoted text is not closed"));
  EXPECT_THAT(Message("a: 1\nb: 'it''s\n"), HasSubstr("c.yaml:2:4: a quoted text is not closed"));
  EXPECT_THAT(Message("a: \"b\\\"\n"), HasSubstr("a quoted text is not closed"));
  EXPECT_THAT(Message("- 'b\n- c\n"), HasSubstr("a quoted text is not closed"));
  EXPECT_EQ(Tree("a: \"b\\\"\""), R"({"a":"b\""})");
  EXPECT_EQ(Tree("a: 'it''s'"), R"({"a":"it's"})");
  EXPECT_EQ(Tree("\xef\xbb\xbf"
                 "a: 'b'"),
            R"({"a":"b"})");
  EXPECT_EQ(Tree("- ''\n- \"\""), R"(["",""])");
  EXPECT_EQ(Tree("a: 'b' # it's"), R"({"a":"b"})");
}

TEST(Yaml, CallsATabThatIndentsATab) {
  const char* const indented[] = {
      "a:\n  b: 1\n\tc: 2\n",  // where a key is expected
      "a:\n\tb: 1\n",          // the parser reads a text, and rejects its colon
      "a:\n  b:\n\tc: 1\n",
      "a:\n  b: 1\n  \tc: 2\n",
      "a:\n\tb\n",  // the parser would accept these
      "a:\n  b:\n\t- 1\n\t- 2\n",
      "\ta: 1\n",
      "a:\n  b:\n\t- 1\n  c: 2\n",  // it stops at the line below
      "\xef\xbb\xbf"
      "a: 1\nb:\n\tc\n",
  };
  for (const char* text : indented) {
    EXPECT_THAT(Message(text), HasSubstr("a tab indents this line")) << text;
  }
  EXPECT_THAT(Message("a:\n  b: 1\n  \tc: 2\n"), HasSubstr("c.yaml:3:3: a tab"));
  EXPECT_THAT(Message("a: [1\nb: 2\n# \t\n"), HasSubstr("a `[` is not closed"));
}

TEST(Yaml, ReadsTabsThatDoNotIndent) {
  EXPECT_EQ(Tree("{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n"), R"({"a":[1,2]})");
  EXPECT_EQ(Tree("a: |\n  b\n  \tc\n"), R"({"a":"b\n\tc\n"})");
  EXPECT_EQ(Tree("a: 'b\n\tc'\n"), R"({"a":"b c"})");
  EXPECT_EQ(Tree("a: 1\t# why\n\t\nb: 2\n"), R"({"a":1,"b":2})");
}

TEST(Yaml, RefusesAliasesThatExplode) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k > 0 ? ", " : "") + below;
    laughs += "]\n";
  }
  EXPECT_THAT(Message(laughs), HasSubstr("too large with its aliases written out"));

  std::string heavy = "a: &a \"" + std::string(1 << 20, 'x') + "\"\nb: [";
  for (int k = 0; k < 40; ++k) heavy += "*a, ";
  EXPECT_THAT(Message(heavy + "]"), HasSubstr("too large with its aliases written out"));

  std::string nested;  // each anchor holds a copy of all below it
  for (int k = 0; k < 90; ++k) nested += "&a" + std::to_string(k) + " [";
  nested += "\"" + std::string(1 << 20, 'x') + "\"" + std::string(90, ']');
  EXPECT_THAT(Message(nested), HasSubstr("too large with its aliases written out"));
}

TEST(Yaml, RefusesDepthAndSize) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(Tree(nested(kYamlDepthMax)), nested(kYamlDepthMax));
  EXPECT_THAT(Message(nested(kYamlDepthMax + 1)), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(Message(std::string(1 << 20, '[')), HasSubstr("c.yaml:1:"));
  EXPECT_THAT(Message(std::string(1 << 20, '{')), HasSubstr("c.yaml:1:"));
  EXPECT_THAT(Message(std::string(kYamlBytesMax + 1, ' ')), HasSubstr("larger than 16 MiB"));
}

TEST(Yaml, ManyKeysDoNotTakeForEver) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const Result<YamlDocument> document = ParseYaml(text, "c.yaml");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->value.size(), 100'000u);
}

TEST(Yaml, PointsAtTheMistake) {
  EXPECT_EQ(Message("a: 1\nb: @x\n").substr(0, 11), "c.yaml:2:4:");
  EXPECT_THAT(Message("a: 1\nb: @x\n"), HasSubstr("\n  b: @x\n     ^"));
  EXPECT_THAT(Message("a: !foo 5"), HasSubstr("c.yaml:1:4: the tag '!foo' cannot become JSON"));
  EXPECT_THAT(Message("a: b\n---\nc: d"), HasSubstr("c.yaml:2:1: a second document starts here"));
  EXPECT_THAT(Message("a: =\n"), HasSubstr("c.yaml:1:4: a bare '='"));
  EXPECT_THAT(Message("a: \x07"), HasSubstr("c.yaml:1:4: YAML allows no control characters"));
  EXPECT_THAT(Message("ab\ncd: \xff\xfe"), HasSubstr("c.yaml:2:5: this byte is not valid UTF-8"));
  EXPECT_THAT(Message("%YAML 1.2\n---\na: b"), HasSubstr("only YAML 1.1 is read"));
  EXPECT_THAT(Message("a: ["), HasSubstr("c.yaml:1:"));
  EXPECT_THAT(Message("a:\n\tb: c"), HasSubstr("c.yaml:2:"));
}

TEST(Yaml, KeepsThePlaceOfEachValue) {
  const Result<YamlDocument> document =
      ParseYaml("jobId: x\ntrainingInput:\n  region: y\n  args:\n  - a\n  - b\n  k/~: 1\n", "c");
  ASSERT_TRUE(document.ok());
  const auto place = [&](const char* pointer) {
    const Place found = document->places.at(pointer);
    return std::to_string(found.line) + ":" + std::to_string(found.column);
  };
  EXPECT_EQ(place("/jobId"), "1:8");
  EXPECT_EQ(place("/trainingInput/region"), "3:11");
  EXPECT_EQ(place("/trainingInput/args/1"), "6:5");
  EXPECT_EQ(place("/trainingInput/k~1~0"), "7:8");
  const Place key = document->key_places.at("/trainingInput/region");
  EXPECT_EQ(key.line, 3);
  EXPECT_EQ(key.column, 3);
}

TEST(Yaml, TheFirstOfTwoEqualKeysCountsAndIsReported) {
  const Result<YamlDocument> document = ParseYaml("a: 1\nb: {c: 2, c: 3}\na: 4", "c.yaml");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(CompactJson(document->value), R"({"a":1,"b":{"c":2}})");
  EXPECT_THAT(document->duplicates, ElementsAre("/b/c", "/a"));
}

TEST(Yaml, ReportsDates) {
  const Result<YamlDocument> document =
      ParseYaml("a: 2001-01-01\nb: ['2001-01-01', 2001-1-1 1:00:00, 2001-1-1]", "c.yaml");
  ASSERT_TRUE(document.ok());
  EXPECT_THAT(document->dates, ElementsAre("/a", "/b/1"));
  EXPECT_THAT(ParseYaml("a: b", "c.yaml")->dates, IsEmpty());
}

}  // namespace
}  // namespace caip
