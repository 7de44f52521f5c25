#include "conformance/terminal.h"

#include <gtest/gtest.h>

namespace conform {
namespace {

TEST(ForPeople, LeavesTextLinesAndColours) {
  const std::string text = "a\n\tb \033[1;31mred\033[0m \xc3\xa9\n";
  EXPECT_EQ(ForPeople(text), text);
}

TEST(ForPeople, HasNoOtherControls) {
  EXPECT_EQ(ForPeople("\033]52;c;QQ==\a"), "?]52;c;QQ==?");
  EXPECT_EQ(ForPeople("\033[2J\033["), "?[2J?[");
  EXPECT_EQ(ForPeople("a\rb\177"), "a?b?");
  EXPECT_EQ(ForPeople("\xc2\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(ForPeople(std::string(1, '\0')), "?");
}

}  // namespace
}  // namespace conform
