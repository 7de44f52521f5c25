#include "base/yaml_scalar.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/random.h"

namespace caip {
namespace {

// The pattern of ruamel.yaml's resolver for YAML 1.2, by which gcloud prints.
const char* const kTyped =
    "|true|True|TRUE|false|False|FALSE|~|null|Null|NULL|<<|="
    "|[-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    "|[-+]?\\.[0-9_]+([eE][-+][0-9]+)?|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"
    "|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+][0-9_]+|[0-9][0-9_]*|[-+]?0x[0-9a-fA-F_]+"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \\t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
    "([ \\t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?";

// A text of these pieces, up to `most` of them.
std::string TextOf(const std::vector<std::string>& pieces, uint64_t most, Random& random) {
  std::string text;
  for (uint64_t left = random.Below(most + 1); left > 0; --left) {
    text += pieces[random.Below(pieces.size())];
  }
  return text;
}

TEST(YamlScalar, IsTypedWhereThePatternOfTheReaderMatches) {
  const std::vector<std::string> kinds[] = {
      {"0", "1", "7", "9", "_", ".", "e", "E", "+", "-", "0x", "0b", "0o", "a", "f"},
      {"2024", "1", "12", "-", ":", "T", "t", " ", "\t", "05", "Z", "+", ".", "003"},
      {"true", "True", "~", "null", "<<", "=", ".inf", ".NaN", "nan", "+", "-", " ", "1"},
  };
  const std::regex typed(kTyped);
  Random random(1);
  int matches = 0;
  for (uint64_t i = 0; i < 60'000; ++i) {
    const std::string text = TextOf(kinds[i % 3], 3 + i % 10, random);
    const bool expected = std::regex_match(text, typed);
    matches += expected;
    ASSERT_EQ(IsTypedInYaml12(text), expected) << '"' << text << '"';
  }
  EXPECT_GT(matches, 3'000);
}

TEST(YamlScalar, DatesAndTimesAreTimestamps) {
  for (const char* text : {"2024-05-06", "2024-5-6T7:08:09", "2024-05-06 07:08:09.123 Z",
                           "2024-05-06t07:08:09+1:30", "2024-05-06\t07:08:09 -02"}) {
    EXPECT_EQ(ScalarTypeOf(text), ScalarType::kTimestamp) << text;
    EXPECT_TRUE(std::regex_match(text, std::regex(kTyped))) << text;
  }
  for (const char* text : {"2024-5-6", "2024-05-06T", "2024-05-06T07:08", "2024-05-06T07:08:09 ",
                           "2024-05-06T07:08:09+", "2024-05-06T07:08:09Z0", "20240-05-06",
                           "2024-005-06", "2024-05-06T07:08:9"}) {
    EXPECT_EQ(ScalarTypeOf(text), ScalarType::kText) << text;
  }
}

}  // namespace
}  // namespace caip
