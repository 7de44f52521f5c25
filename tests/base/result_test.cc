#include "base/result.h"

#include <gtest/gtest.h>

namespace caip {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error{Code::kInvalidArgument, "odd", {{"n", "must be even"}}};
  return n / 2;
}

Result<int> Quarter(int n) {
  ASSIGN_OR_RETURN(int half, Half(n));
  return Half(half);
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_EQ(Half(3).error().violations.at(0).field, "n");
}

TEST(Result, AssignOrReturnHandsTheErrorUp) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_FALSE(Quarter(6).ok());
  EXPECT_FALSE(Quarter(5).ok());
}

TEST(Result, MayHoldTheSameTypeAsItsError) {
  Result<std::string> text = std::string("plain");
  EXPECT_TRUE(text.ok());
}

}  // namespace
}  // namespace caip
