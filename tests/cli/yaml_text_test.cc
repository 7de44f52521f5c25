// gcloud 528 (yaml and json formats) printed the expected texts for the same values.
#include "client/yaml_text.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "tests/support/golden.h"

namespace caip::cli {
namespace {

Json Tree(const char* text) {
  Result<Json> tree = ParseJson(text);
  EXPECT_TRUE(tree.ok()) << text;
  return tree.ok() ? *tree : Json();
}

TEST(YamlText, QuotesTextsThatWouldBeReadAsSomethingElse) {
  const std::pair<const char*, const char*> rows[] = {
      {"2.4", "'2.4'"},
      {"100", "'100'"},
      {"+1", "'+1'"},
      {"010", "'010'"},
      {"0x1f", "'0x1f'"},
      {"0o7", "'0o7'"},
      {"1_000", "'1_000'"},
      {"1e3", "'1e3'"},
      {".5", "'.5'"},
      {"true", "'true'"},
      {"null", "'null'"},
      {"~", "'~'"},
      {"", "''"},
      {"=", "'='"},
      {"<<", "'<<'"},
      {"2001-01-01", "'2001-01-01'"},
      {"y", "y"},
      {"no", "no"},
      {"12:30", "12:30"},
      {"it's", "it's"},
      {"a,b", "a,b"},
      {":a", ":a"},
      {"a:", "'a:'"},
      {"a: b", "'a: b'"},
      {"a #b", "'a #b'"},
      {"#x", "'#x'"},
      {"- a", "'- a'"},
      {"-", "'-'"},
      {"?", "'?'"},
      {"{x}", "'{x}'"},
      {"[x", "'[x'"},
      {"@a", "'@a'"},
      {"%a", "'%a'"},
      {"!x", "'!x'"},
      {"|", "'|'"},
      {"\"q\"", "'\"q\"'"},
      {" lead", "' lead'"},
      {"trailing ", "'trailing '"},
      {"a  b", "a  b"},
      {"é", "é"},
      {"\t", "\"\\t\""},
      {"\x07 a", "\"\\a a\""},
      {"https://x/y?z=1", "https://x/y?z=1"},
      {"'x: y", "\"'x: y\""},
      {"---", "'---'"},
      {"--- a", "'--- a'"},
  };
  for (const auto& [text, yaml] : rows) {
    EXPECT_EQ(client::YamlText(Json{{"k", text}}), "k: " + std::string(yaml) + "\n") << text;
  }
}

TEST(YamlText, WritesSeveralLinesAsABlock) {
  EXPECT_EQ(client::YamlText(Json{{"k", "x\ny\n"}}), "k: |\n  x\n  y\n");
  EXPECT_EQ(client::YamlText(Json{{"k", "x\n y"}}), "k: |-\n  x\n   y\n");
  EXPECT_EQ(client::YamlText(Json{{"k", " a\nb"}}), "k: |2-\n   a\n  b\n");
  EXPECT_EQ(client::YamlText(Json{{"k", "a\n"}}), "k: |\n  a\n");
}

TEST(YamlText, SortsKeysAndDoesNotIndentLists) {
  EXPECT_EQ(client::YamlText(Tree(R"({"b": true, "a": [1, "x", {"c": [], "d": {}}, [1, [2]]],
                              "e": {"n": [[], {}]}, "f": null, "g": 1.0, "h": 0.1234567,
                              "i": 1e20, "j": 0.30000000000000004})")),
            "a:\n- 1\n- x\n- c: []\n  d: {}\n- - 1\n  - - 2\nb: true\ne:\n  n:\n  - []\n  - {}\n"
            "f: null\ng: 1.0\nh: 0.123457\ni: 1e+20\nj: 0.3\n");
  EXPECT_EQ(client::YamlText(Tree(R"([{"@type": "t", "b": [{"x": "y"}]}])")),
            "- '@type': t\n  b:\n  - x: y\n");
}

TEST(YamlText, FoldsLongTexts) {
  std::string words;
  for (int i = 0; i < 30; ++i) words += "word ";
  testing::ExpectGolden("cli/folded.yaml",
                        client::YamlText(Json{{"plain", words + "end"},
                                              {"single", "w: " + words + "end"},
                                              {"double", "'w: " + words + "end"},
                                              {"list", Json::array({words + "end"})},
                                              {"deep", Json{{"er", words + "end"}}}}));
}

TEST(YamlText, IsReadBackAsItWas) {
  const Json value = Tree(R"({"a": ["y: z", "2.4", "null", "", " x ", "l1\nl2\n", "\u0001", "é\t"],
                              "b": {"c d": -1, "e": [{"f": "#"}, []]}})");
  EXPECT_EQ(nlohmann::json(ParseYaml(client::YamlText(value), "t")->value), nlohmann::json(value));
}

// gcloud's own YAML does not parse for many of these: it writes them into a block.
TEST(YamlText, WithControlCharactersIsReadBackAsItWas) {
  std::u32string points = U"\u00a0\u2028\u2029\ud7ff\ue000\ufeff\ufffd\ufffe\uffff\U0001f600";
  for (char32_t point = 0; point < 0x20; ++point) points += point;
  for (char32_t point = 0x7f; point < 0xa0; ++point) points += point;
  for (const char32_t point : points) {
    std::string c;
    AppendUtf8(c, point);
    for (const std::string& text :
         {c, "a" + c + "b", c + "b", "a" + c, "a\n" + c + "b\n", "a" + c + "\nb", c + "\nb",
          "a\n" + c, c + "\n\n", "it's " + c + "\n"}) {
      for (const Json& value : {Json{{"k", text}}, Json{{"k", Json::array({text})}}}) {
        const std::string yaml = client::YamlText(value);
        const auto read = ParseYaml(yaml, "t");
        ASSERT_TRUE(read.ok()) << yaml << read.error().message;
        EXPECT_EQ(nlohmann::json(read->value), nlohmann::json(value)) << yaml;
      }
    }
    const Json keyed = {{"k" + c, 1}};
    EXPECT_EQ(nlohmann::json(ParseYaml(client::YamlText(keyed), "t")->value), nlohmann::json(keyed))
        << client::YamlText(keyed);
  }
}

TEST(YamlText, EscapesControlCharactersOfSeveralLines) {
  EXPECT_EQ(client::YamlText(Json{{"k", "a\x1b[31mb\nc"}}), "k: \"a\\e[31mb\\nc\"\n");
  EXPECT_EQ(client::YamlText(Json{{"k", "a\tb\nc"}}), "k: |-\n  a\tb\n  c\n");
}

TEST(YamlText, WritesTimesInLocalTimeWithoutAZone) {
  ::setenv("TZ", "UTC-1", 1);
  ::tzset();
  EXPECT_EQ(client::LocalDate("2022-02-09T17:36:42Z"), "2022-02-09T18:36:42");
  EXPECT_EQ(client::LocalDate("2022-02-09T17:36:42.123Z"), "2022-02-09T18:36:42");
  EXPECT_EQ(client::LocalDate("soon"), "soon");
  ::unsetenv("TZ");
  ::tzset();
}

}  // namespace
}  // namespace caip::cli
