#include <gtest/gtest.h>

#include "base/quoting.h"
#include "base/text.h"

namespace caip {
namespace {

TEST(MarkupText, HasNoMarkOfItsOwn) {
  EXPECT_EQ(MarkupText("a<b> & \"c\"\n\t\x01"), "a&lt;b&gt; &amp; &quot;c&quot;\n\t ");
}

TEST(MarkupText, ReplacesWhatXmlCannotExpress) {
  EXPECT_EQ(MarkupText("a\xef\xbf\xbe b\xef\xbf\xbf"), "a\xef\xbf\xbd b\xef\xbf\xbd");
  EXPECT_EQ(MarkupText("\xff<"), "\xef\xbf\xbd&lt;");
  EXPECT_TRUE(IsUtf8(MarkupText("a surrogate: \xed\xa0\x80, a cut character: \xe2\x82")));
}

TEST(MarkupText, KeepsOtherCharacters) {
  const std::string kept = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x8d \xef\xbf\xbd \x7f";
  EXPECT_EQ(MarkupText(kept), kept);
}

}  // namespace
}  // namespace caip
