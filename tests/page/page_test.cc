#include "page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <regex>

#include "base/text.h"

namespace caip::page {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> PiecesOf(const std::string& markup) {
  return Split(ReplaceAll(markup, "<wbr>", "\n"), '\n');
}

TEST(PageText, BreaksLongWordsOnlyIntoLongPieces) {
  for (size_t length = 1; length < 200; ++length) {
    for (const char* unit : {"x", "a/", "é"}) {
      std::string word;
      for (size_t i = 0; i < length; ++i) word += unit;
      const auto pieces = PiecesOf(BreakableText(word));
      EXPECT_EQ(Join(pieces, ""), word);
      for (const std::string& piece : pieces) {
        ASSERT_TRUE(IsUtf8(piece)) << word;
        const size_t characters = DecodeUtf8(piece).size();
        EXPECT_LE(characters, kPieceMax) << word;
        EXPECT_TRUE(pieces.size() == 1 || characters >= kPieceMin) << word;
      }
    }
  }
}

TEST(PageText, BreaksPathsAfterTheirSlashes) {
  EXPECT_THAT(PiecesOf(BreakableText("gs://bucket/some/folder/checkpoint/weights.bin")),
              ElementsAre("gs://bucket/", "some/folder/", "checkpoint/", "weights.bin"));
}

TEST(PageText, KeepsShortWordsAndBlanks) {
  EXPECT_EQ(BreakableText("Expected  1\nfound 2"), "Expected  1\nfound 2");
}

TEST(PageText, EscapesMarkupInsideLongWords) {
  const std::string markup = BreakableText("<script>alert(1)</script>&\"<script>alert(1)</script>");
  EXPECT_THAT(markup, Not(HasSubstr("<script")));
  EXPECT_THAT(ReplaceAll(markup, "<wbr>", ""),
              HasSubstr("&lt;/script&gt;&amp;&quot;&lt;script&gt;alert"));
}

TEST(PageText, HasAPlaceholderForEachByteThatIsNotUtf8) {
  std::string placeholders;
  for (int i = 0; i < 100; ++i) placeholders += "\xef\xbf\xbd";
  EXPECT_EQ(ReplaceAll(BreakableText(std::string(100, '\xff')), "<wbr>", ""), placeholders);
}

TEST(PageText, KeepsTheLinesOfATraceback) {
  EXPECT_EQ(BlockText("Traceback:\n  File \"x\", line 1\n    ^^^\n"),
            "<pre>\nTraceback:\n  File &quot;x&quot;, line 1\n    ^^^</pre>");
  EXPECT_EQ(BlockText("one line\n"), "one line");
}

TEST(PageNumber, HasSixDigitsAndAllOfThemInItsTitle) {
  EXPECT_EQ(RoundedNumber("0.00066186258315086043"),
            "<span title=\"0.00066186258315086043\">0.000661863</span>");
  EXPECT_EQ(RoundedNumber(0.1 + 0.2), "<span title=\"0.30000000000000004\">0.3</span>");
  EXPECT_EQ(RoundedNumber(1.0 / 3), "<span title=\"0.3333333333333333\">0.333333</span>");
}

TEST(PageNumber, OfFewDigitsHasNoTitle) {
  EXPECT_EQ(RoundedNumber("0.5"), "0.5");
  EXPECT_EQ(RoundedNumber(0.25), "0.25");
  EXPECT_EQ(RoundedNumber("1e-05"), "1e-05");
}

TEST(PageNumber, KeepsIntegersAndTexts) {
  EXPECT_EQ(RoundedNumber("123456789012"), "123456789012");
  EXPECT_EQ(RoundedNumber("-1048576"), "-1048576");
  EXPECT_EQ(RoundedNumber("relu <b>"), "relu &lt;b&gt;");
  EXPECT_EQ(RoundedNumber(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(RoundedNumber(""), "");
}

TEST(PageTable, HasHeadingsWithScopeAndScrollsByItself) {
  const std::string table =
      TableMarkup("events", "All <events>", {{"n", true}, {"a&b"}}, "<tr><td>1</td></tr>\n");
  EXPECT_THAT(table, HasSubstr("<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                               "aria-label=\"All &lt;events&gt;\">"));
  EXPECT_THAT(table, HasSubstr("<thead><tr><th scope=\"col\" class=\"number\">n</th>"
                               "<th scope=\"col\">a&amp;b</th></tr></thead>"));
}

TEST(PageDrawing, IsAtLeastAsWideAsItNeeds) {
  const std::string markup = DrawingMarkup({.label = "D",
                                            .labels = "<text/>",
                                            .plot = "<line/>",
                                            .left = 80,
                                            .right = 30,
                                            .height = 200,
                                            .min_width = 500});
  EXPECT_THAT(markup, HasSubstr("style=\"width:80px\" height=\"200\""));
  EXPECT_THAT(markup, HasSubstr("style=\"min-width:500px;margin:0 30px 0 0\" height=\"200\""));
}

TEST(PageDrawing, WithoutLabelsKeepsTheirSpaceFree) {
  const std::string markup =
      DrawingMarkup({.plot = "<line/>", .left = 40, .right = 30, .height = 200, .min_width = 500});
  EXPECT_THAT(markup, Not(HasSubstr("class=\"labels\"")));
  EXPECT_THAT(markup, HasSubstr("margin:0 30px 0 40px"));
}

TEST(Page, LoadsNoOtherFile) {
  const std::string page = PageMarkup("<t>", "<p>body</p>");
  EXPECT_THAT(page, HasSubstr("<title>&lt;t&gt;</title>"));
  for (const char* word : {"src=", "href=", "http:", "https:", "url(", "@import", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

// The colours that a block of the style sheet defines, by name.
std::map<std::string, std::string> ColoursIn(const std::string& block) {
  std::map<std::string, std::string> colours;
  const std::regex colour("--([a-z]+): #([0-9a-f]{6});");
  for (std::sregex_iterator at(block.begin(), block.end(), colour), end; at != end; ++at) {
    colours[(*at)[1]] = (*at)[2];
  }
  return colours;
}

// WCAG 2.1, relative luminance.
double LuminanceOf(const std::string& colour) {
  constexpr double kShares[] = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double channel = std::stoi(colour.substr(2 * i, 2), nullptr, 16) / 255.0;
    luminance += kShares[i] *
                 (channel > 0.03928 ? std::pow((channel + 0.055) / 1.055, 2.4) : channel / 12.92);
  }
  return luminance;
}

double ContrastOf(const std::string& one, const std::string& other) {
  const double a = LuminanceOf(one), b = LuminanceOf(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

TEST(PageStyle, HasEnoughContrastInBothSchemes) {
  const std::string style(StyleText());
  const size_t dark_begin = style.find("@media (prefers-color-scheme: dark)");
  ASSERT_NE(dark_begin, std::string::npos);
  const auto light = ColoursIn(style.substr(0, dark_begin));
  const auto dark = ColoursIn(style.substr(dark_begin));
  ASSERT_GE(light.size(), 12u);
  for (const auto& scheme : {light, dark}) {
    ASSERT_EQ(scheme.size(), light.size()) << "each scheme has all colours";
    for (const char* text : {"text", "faint", "good", "bad", "write"}) {
      for (const char* below : {"page", "panel"}) {
        EXPECT_GE(ContrastOf(scheme.at(text), scheme.at(below)), 4.5) << text << " on " << below;
      }
    }
    EXPECT_GE(ContrastOf(scheme.at("bar"), scheme.at("page")), 3);
    EXPECT_GE(ContrastOf(scheme.at("step"), scheme.at("up")), 3);
  }
}

TEST(PageStyle, NeverBreaksWordsAnywhereInTables) {
  const std::regex anywhere("([^}]*)\\{[^}]*(overflow-wrap: anywhere|word-break)");
  const std::string style(StyleText());
  for (std::sregex_iterator at(style.begin(), style.end(), anywhere), end; at != end; ++at) {
    EXPECT_THAT((*at)[1].str(), HasSubstr("#tip"));
  }
}

}  // namespace
}  // namespace caip::page
