// The texts of values and the four scales, as tables.

#include "tuning/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace caip::tuning {
namespace {

TEST(ValueText, IsWhatTheServiceWrote) {
  const struct {
    double value;
    const char* text;
  } cases[] = {
      {0.072136064767837529, "0.072136064767837529"},  // attested; its shortest text is shorter
      {0.1, "0.1"},
      {0.05, "0.05"},
      {128, "128"},
      {100000, "100000"},
      {1e-5, "1e-05"},
      {-0.0, "0"},
      {-2.5, "-2.5"},
      {1e15, "1000000000000000"},  // int() takes no exponent
      {1e17, "1e+17"},
      {1.0 / 3, "0.33333333333333331"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
  };
  for (const auto& each : cases) EXPECT_EQ(TextOf(each.value), each.text);
}

TEST(ValueText, OfIntegersAndCategoriesIsTheirOwn) {
  EXPECT_EQ(TextOf(Value(int64_t{256})), "256");
  EXPECT_EQ(TextOf(Value(std::numeric_limits<int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(TextOf(Value(std::string("1024 512 128"))), "1024 512 128");
}

TEST(Scale, MapsAsThePageWrites) {
  const struct {
    Scale scale;
    double least, most, x, unit;
  } cases[] = {
      {Scale::kLinear, 0, 10, 2.5, 0.25},    {Scale::kLinear, -1, 1, 0, 0.5},
      {Scale::kLog, 0.001, 1000, 1, 0.5},    {Scale::kLog, 1, 100, 10, 0.5},
      {Scale::kReverseLog, 1, 100, 91, 0.5}, {Scale::kReverseLog, 1, 100, 1, 0},
      {Scale::kReverseLog, 1, 100, 100, 1},
  };
  for (const auto& each : cases) {
    EXPECT_NEAR(ToUnit(each.scale, each.least, each.most, each.x), each.unit, 1e-12) << each.x;
    EXPECT_NEAR(FromUnit(each.scale, each.least, each.most, each.unit), each.x, 1e-9) << each.x;
  }
}

TEST(Scale, IsKnownByItsName) {
  EXPECT_EQ(ParseScale("NONE"), Scale::kLinear);
  EXPECT_EQ(ParseScale(""), Scale::kLinear);
  EXPECT_EQ(ParseScale("UNIT_LINEAR_SCALE"), Scale::kLinear);
  EXPECT_EQ(ParseScale("UNIT_LOG_SCALE"), Scale::kLog);
  EXPECT_EQ(ParseScale("UNIT_REVERSE_LOG_SCALE"), Scale::kReverseLog);
}

TEST(Scale, HoldsAtTheEdgesOfDoubles) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(ToUnit(Scale::kLinear, -most, most, 0), 0.5);
  EXPECT_EQ(FromUnit(Scale::kLinear, -most, most, 0.5), 0);
  for (const Scale scale : {Scale::kLinear, Scale::kLog, Scale::kReverseLog}) {
    EXPECT_EQ(FromUnit(scale, 3, 3, 0.7), 3);
    EXPECT_EQ(ToUnit(scale, 3, 3, 3), 0.5);
    for (const double unit : {0.0, 0.3, 1.0}) {
      const double x = FromUnit(scale, std::numeric_limits<double>::denorm_min(), most, unit);
      EXPECT_TRUE(std::isfinite(x));
      EXPECT_GT(x, 0);
    }
  }
}

}  // namespace
}  // namespace caip::tuning
