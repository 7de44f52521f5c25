#include <gtest/gtest.h>

#include "base/quoting.h"

namespace caip {
namespace {

TEST(MarkupText, HasNoMarkOfItsOwn) {
  EXPECT_EQ(MarkupText("a<b> & \"c\"\n\t\x01"), "a&lt;b&gt; &amp; &quot;c&quot;\n\t ");
}

}  // namespace
}  // namespace caip
