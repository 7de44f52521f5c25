#include "fakes/gcs/store/glob.h"

#include <gtest/gtest.h>

namespace caip::gcs {
namespace {

TEST(Glob, MatchesAsTheServiceDocuments) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case cases[] = {
      {"foo*bar", "foobar", true},
      {"foo*bar", "fooxbar", true},
      {"foo*bar", "foo/bar", false},
      {"foo**bar", "foo/x/bar", true},
      {"foo?bar", "fooxbar", true},
      {"foo?bar", "foobar", false},
      {"foo?bar", "foo/bar", false},
      {"a[bc]d", "abd", true},
      {"a[bc]d", "axd", false},
      {"a[b-e]d", "ada", false},
      {"a[b-e]d", "aed", true},
      {"a[!b-e]d", "aed", false},
      {"a[^b-e]d", "axd", true},
      {"a[!b]d", "a/d", false},
      {"{a,bc}/*.txt", "bc/x.txt", true},
      {"{a,bc}/*.txt", "b/x.txt", false},
      {"{a,}x", "x", true},
      {"**/*.json", "a/b/c.json", true},
      {"**/*.json", "c.json", true},
      {"**/{foobar,baz}", "foobar", true},
      {"**/foobar", "xfoobar", false},
      {"foo/**/bar", "foo/bar", true},
      {"foo/**/bar", "foo/a/b/bar", true},
      {"foo/**/bar", "foobar", false},
      {"**.json", "c.json", true},
      {"?.txt", "é.txt", true},
      {"??.txt", "é.txt", false},
      {"[é].txt", "é.txt", true},
      {"[!é].txt", "é.txt", false},
      {"[à-ï].txt", "é.txt", true},
      {"[à-ï].txt", "ó.txt", false},
      {"é*é", "éxé", true},
      {"*", "", true},
      {"*", "a/b", false},
      {"**", "a/b", true},
      {"a\\*b", "a*b", true},
      {"a\\*b", "axb", false},
      {"a[]]b", "a]b", true},
      {"a,b}", "a,b}", true},
      {"\xc3\xa4*", "\xc3\xa4x", true},
  };
  for (const Case& c : cases) {
    ASSERT_FALSE(Glob::Problem(c.pattern)) << c.pattern;
    EXPECT_EQ(Glob(c.pattern).Matches(c.name), c.matches) << c.pattern << " on " << c.name;
  }
}

TEST(Glob, KnowsWhatEveryMatchBeginsWith) {
  EXPECT_EQ(Glob("logs/2024-*/x").literal_prefix(), "logs/2024-");
  EXPECT_EQ(Glob("{a,b}").literal_prefix(), "");
  EXPECT_EQ(Glob("plain").literal_prefix(), "plain");
}

TEST(Glob, NamesWhatIsWrongWithAPattern) {
  for (const char* pattern : {"a[b", "a{b", "a{b{c}}", "a\\", "[", "[!"}) {
    EXPECT_TRUE(Glob::Problem(pattern)) << pattern;
  }
  EXPECT_TRUE(Glob::Problem(std::string(1025, 'a')));
}

TEST(Glob, NeedsNoMoreTimeForManyStars) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "**a";
  EXPECT_FALSE(Glob(pattern + "b").Matches(std::string(1024, 'a')));  // backtracking would not end
}

}  // namespace
}  // namespace caip::gcs
