#include "harness/explorer/other_values.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace caip::harness {
namespace {

template <typename Number>
std::string BytesOf(const std::vector<Number>& numbers, const std::string& head = "\x80\x05") {
  return head + std::string(reinterpret_cast<const char*>(numbers.data()),
                            numbers.size() * sizeof(Number));
}

TEST(OtherValues, AreThoseOfOtherNumbersInTheSamePlaces) {
  EXPECT_TRUE(HoldOtherValues(BytesOf<float>({1.5f, 0.25f}), BytesOf<float>({1.5f, 0.75f})));
  EXPECT_TRUE(HoldOtherValues(BytesOf<double>({1.5, 0.1}), BytesOf<double>({1.5, 0.1001})));
  EXPECT_TRUE(HoldOtherValues("\xff\x01\xfe", "\xff\x02\xfe"));
}

TEST(OtherValues, AreNotInDataThatWasLoadedAndSavedAgain) {
  EXPECT_FALSE(HoldOtherValues("\x80 pickle", "\x80 pickle with its keys twice"));
  const std::string set = BytesOf<int>({1, 2, 3});
  EXPECT_FALSE(HoldOtherValues(set, BytesOf<int>({3, 1, 2}))) << "a set in another order";
  EXPECT_FALSE(HoldOtherValues(set, set));
}

TEST(OtherValues, AreNotInNumbersThatDrift) {
  for (const std::string head : {"", "\x80", "\x80\x05", "\x80\x05\x95"}) {  // any alignment
    EXPECT_FALSE(HoldOtherValues(BytesOf<float>({1.5f, -0.7f, 8.f}, head),
                                 BytesOf<float>({1.5f, -0.700001f, 8.00001f}, head)));
    EXPECT_FALSE(HoldOtherValues(BytesOf<double>({1.5, -0.7, 8}, head),
                                 BytesOf<double>({1.5, -0.70000001, 8.0000001}, head)));
    EXPECT_TRUE(HoldOtherValues(BytesOf<double>({1.5, -0.7, 8}, head),
                                BytesOf<double>({1.5, -0.70000001, 8.01}, head)));
  }
}

TEST(OtherValues, OfTextsAreAlsoWholeNumbersThatCountNoStarts) {
  EXPECT_TRUE(TextsHoldMoreThanCounts("examples 160\n", "examples 161\n", 1, 1));
  EXPECT_TRUE(TextsHoldMoreThanCounts("examples:160\n", "examples:161\n", 1, 1));
  EXPECT_TRUE(TextsHoldMoreThanCounts("10 steps\n", "6 steps\n", 1, 1));
  EXPECT_TRUE(TextsHoldMoreThanCounts("w 0.25\n", "w 0.5\n", 1, 1));
  EXPECT_FALSE(TextsHoldMoreThanCounts("start 1\n", "start 2\n", 1, 1));
  EXPECT_FALSE(TextsHoldMoreThanCounts("4 starts\n", "5 starts\n", 4, 1));
  EXPECT_TRUE(TextsHoldMoreThanCounts("4 starts\n", "5 starts\n", 3, 1));
  EXPECT_FALSE(TextsHoldMoreThanCounts("restarts left: 3\n", "restarts left: 2\n", 1, 1));
  EXPECT_TRUE(TextsHoldMoreThanCounts("restarts left: 3\n", "restarts left: 1\n", 1, 1));
  EXPECT_FALSE(TextsHoldMoreThanCounts("restarts left: 3\n", "restarts left: 1\n", 1, 2));
  EXPECT_FALSE(TextsHoldMoreThanCounts("08:30:12 saved\n", "08:31:02 saved\n", 1, 1)) << "a time";
}

TEST(OtherValues, OfTextsAreFractionsAmongTheSameWords) {
  EXPECT_TRUE(TextsHoldOtherValues("w;0.25;1e3\n", "w;0.26;1e3\n"));
  EXPECT_TRUE(TextsHoldOtherValues("[0.25, 7]", "[12.5, 7]"));
  EXPECT_FALSE(TextsHoldOtherValues("w;0.25\n", "w;0.2500001\n")) << "drift";
  EXPECT_FALSE(TextsHoldOtherValues("start 1, 0.25\n", "start 2, 0.26\n")) << "may count starts";
  EXPECT_FALSE(TextsHoldOtherValues("examples 160\n", "examples 161\n")) << "may be any count";
  EXPECT_FALSE(TextsHoldOtherValues("08:30:12 saved\n", "08:31:02 saved\n")) << "a time";
  EXPECT_FALSE(TextsHoldOtherValues("08:30:12.5 saved\n", "08:30:44.5 saved\n")) << "a time";
  EXPECT_TRUE(TextsHoldOtherValues("1:0.25 2:0.5\n", "1:0.75 2:0.5\n")) << "no time";
  EXPECT_FALSE(TextsHoldOtherValues("0.25\n", "resumed\n0.26\n"));
  EXPECT_FALSE(TextsHoldOtherValues("0.25\n", "0.26\n0.27\n"));
  EXPECT_FALSE(TextsHoldOtherValues("0.25 a", "0.26 b"));
  EXPECT_FALSE(TextsHoldOtherValues("", ""));
}

TEST(OtherValues, AreKnownFromMarksOfContentsOfOneSize) {
  const auto other = [](const std::string& a, const std::string& b) {
    return MarksHoldOtherValues(MarkOf(a), MarkOf(b));
  };
  EXPECT_TRUE(other("\xff\x01", "\xff\x02"));
  EXPECT_FALSE(other("\xff\x01", "\x01\xff"));
  EXPECT_FALSE(other("\xff\x01", "\xff\x01"));
  EXPECT_FALSE(other("\xff\x01", "\xff\x02\x03"));
  EXPECT_NE(MarkOf("\xff\x01"), MarkOf("\x01\xff"));
}

}  // namespace
}  // namespace caip::harness
