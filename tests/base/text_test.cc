#include "base/text.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/quoting.h"
#include "base/time_text.h"

namespace caip {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, WritesWholeSecondsAndFractions) {
  const Instant instant = Instant(std::chrono::seconds(1644428202) + 5ms);
  EXPECT_EQ(Rfc3339(instant), "2022-02-09T17:36:42Z");
  EXPECT_EQ(Rfc3339(instant, 9), "2022-02-09T17:36:42.005000000Z");
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  EXPECT_EQ(ParseRfc3339("2022-02-09T18:36:42+01:00"), Instant(std::chrono::seconds(1644428202)));
  EXPECT_EQ(ParseRfc3339("2022-02-09T17:36:42.5Z"),
            Instant(std::chrono::seconds(1644428202) + 500ms));
  for (const char* bad : {"", "2022-02-30T00:00:00Z", "2022-02-09T25:00:00Z", "2022-02-09T17:36:42",
                          "2022-02-09T17:36:42.Z", "2022-02-09T17:36:42Zx"}) {
    EXPECT_FALSE(ParseRfc3339(bad)) << bad;
  }
}

TEST(ProtoDuration, IsSecondsWithAnS) {
  EXPECT_EQ(ParseProtoDuration("3600s"), 3600s);
  EXPECT_EQ(ParseProtoDuration("1.5s"), 1500ms);
  EXPECT_EQ(ParseProtoDuration("-0.5s"), -500ms);
  EXPECT_EQ(ProtoDuration(1500ms), "1.5s");
  EXPECT_EQ(ProtoDuration(604800s), "604800s");
  for (const char* bad : {"", "s", "3600", "1h", "1.s", ".5s", "1.0000000001s", "--1s", "1s ",
                          "999999999999s", "1e3s"}) {
    EXPECT_FALSE(ParseProtoDuration(bad)) << bad;
  }
}

TEST(Duration, IsWrittenAsPeopleDo) {
  EXPECT_EQ(ParseDuration("1h30m"), 90min);
  EXPECT_EQ(ParseDuration("250ms"), 250ms);
  EXPECT_EQ(ParseDuration("0"), 0s);
  EXPECT_EQ(ParseDuration("1.5s"), 1500ms);
  for (const char* bad : {"", "5", "m", "5 m", "-5m", "5x"})
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  EXPECT_EQ(HumanDuration(420ms), "0.42s");
  EXPECT_EQ(HumanDuration(245s), "4m 05s");
  EXPECT_EQ(HumanDuration(2h + 3min), "2h 03m");
}

TEST(Utf8, IsWrittenForEveryCodePoint) {
  for (const char32_t point :
       {U'a', U'\x7f', U'\x80', U'\x7ff', U'\x800', U'\xfffd', U'\x10000', U'\x10ffff'}) {
    std::string text;
    AppendUtf8(text, point);
    EXPECT_TRUE(IsUtf8(text));
    EXPECT_EQ(Utf8Length(text), text.size());
    EXPECT_EQ(DecodeUtf8(text), std::u32string(1, point));
  }
  EXPECT_EQ(Utf8Length("\xc0\x80"), 0u);
  EXPECT_EQ(Utf8Length("\xed\xa0\x80"), 0u);
  EXPECT_EQ(Utf8Length("\xe2\x82"), 0u);
}

TEST(PointerSteps, EscapeTildesAndSlashes) {
  EXPECT_EQ(PointerStep("a/b~c"), "/a~1b~0c");
  EXPECT_EQ(PointerStep("~1"), "/~01");
  EXPECT_EQ(NameOfPointerStep("a~1b~0c"), "a/b~c");
  EXPECT_EQ(NameOfPointerStep("~01"), "~1");
}

TEST(Base64Url, NeedsNoEscapesInAUrl) {
  EXPECT_EQ(Base64Url("\xfb\xff"), "-_8");
  EXPECT_EQ(Base64Url("\xfb\xff", true), "-_8=");
  EXPECT_EQ(FromBase64Url("-_8"), "\xfb\xff");
  EXPECT_EQ(FromBase64Url("-_8="), "\xfb\xff");
  EXPECT_EQ(FromBase64Url("+/8"), std::nullopt);
}

TEST(Base64, GoesThereAndBack) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  for (std::string bytes; bytes.size() < 40; bytes += static_cast<char>(bytes.size() * 37)) {
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
  }
  EXPECT_FALSE(FromBase64("a"));
  EXPECT_FALSE(FromBase64("a!=="));
}

TEST(Percent, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(PercentEncoded("a b/ü"), "a%20b%2F%C3%BC");
  EXPECT_EQ(PercentEncoded("a b/c", "/"), "a%20b/c");
  EXPECT_EQ(PercentDecoded("a%20b%2f%C3%BC"), "a b/ü");
  EXPECT_FALSE(PercentDecoded("%2"));
  EXPECT_FALSE(PercentDecoded("%zz"));
}

TEST(Utf8, IsCheckedStrictly) {
  for (const char* good : {"", "plain", "ü", "€", "😀"}) EXPECT_TRUE(IsUtf8(good)) << good;
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

TEST(ShellQuoted, ReadsBackAsTheWord) {
  EXPECT_EQ(ShellQuoted("plain-word_1.0/x"), "plain-word_1.0/x");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuoted("$x"), "'$x'");
}

}  // namespace
}  // namespace caip
