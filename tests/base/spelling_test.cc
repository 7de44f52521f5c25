#include <gtest/gtest.h>

#include "base/text.h"

namespace caip {
namespace {

TEST(Spelling, NamesTheNearestWordWhereOneIsNear) {
  const std::vector<std::string> names = {"scaleTier", "scheduling", "region", "args"};
  EXPECT_EQ(NearestName("scaleTeir", names), "scaleTier");
  EXPECT_EQ(NearestName("scaletier", names), "scaleTier");
  EXPECT_EQ(NearestName("regions", names), "region");
  EXPECT_EQ(NearestName("tabel", {"text", "table"}), "table");  // neighbours are swapped
  EXPECT_EQ(NearestName("ba", {"ab"}), "ab");
  EXPECT_EQ(NearestName("bca", {"abc"}), "");
  EXPECT_EQ(NearestName("bogus", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

}  // namespace
}  // namespace caip
