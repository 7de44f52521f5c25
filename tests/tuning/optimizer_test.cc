// Ask and tell, whatever the algorithm.

#include "tuning/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/tuning/a_space.h"

namespace caip::tuning {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Shown(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) text += name + "=" + TextOf(value) + " ";
  return text;
}

TEST(Grid, TriesEachPointOnceInOrder) {
  Optimizer optimizer(
      AStudy({Numbers("a", {1, 2.5}), Categories("b", {"x", "y"}), Range("c", "INTEGER", -1, 0)},
             "GRID_SEARCH"),
      7);
  std::vector<std::string> asked;
  for (int64_t number = 1;; ++number) {
    const auto point = optimizer.Ask(number);
    if (!point) break;
    asked.push_back(Shown(*point));
    ASSERT_LE(asked.size(), 8u);
  }
  EXPECT_EQ(asked, (std::vector<std::string>{"a=1 b=x c=-1 ", "a=1 b=x c=0 ", "a=1 b=y c=-1 ",
                                             "a=1 b=y c=0 ", "a=2.5 b=x c=-1 ", "a=2.5 b=x c=0 ",
                                             "a=2.5 b=y c=-1 ", "a=2.5 b=y c=0 "}));
}

TEST(Grid, ACategoryThatIsListedTwiceIsOne) {
  Optimizer optimizer(AStudy({Categories("m", {"a", "a", "b"})}, "GRID_SEARCH"), 1);
  EXPECT_TRUE(optimizer.Ask(1));
  EXPECT_TRUE(optimizer.Ask(2));
  EXPECT_FALSE(optimizer.Ask(3));
}

TEST(Bayesian, InASmallSpaceParallelTrialsDifferAsLongAsTheyCan) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Optimizer optimizer(AStudy({Categories("b", {"1", "2", "3"}), Range("a", "INTEGER", 1, 2)}, ""),
                        seed);
    std::set<Point> points;
    for (int64_t number = 1; number <= 6; ++number) points.insert(*optimizer.Ask(number));
    EXPECT_EQ(points.size(), 6u) << "seed " << seed;
  }
}

TEST(Grid, PassesOverWhatAnEarlierJobTried) {
  Optimizer optimizer(AStudy({Range("n", "INTEGER", 1, 4)}, "GRID_SEARCH"), 7);
  optimizer.Add(1, {{"n", int64_t{2}}});
  optimizer.Tell(1, {{0.5}, false});
  optimizer.Add(2, {{"n", int64_t{1}}});
  EXPECT_EQ(Shown(*optimizer.Ask(3)), "n=3 ");
  EXPECT_EQ(Shown(*optimizer.Ask(4)), "n=4 ");
  EXPECT_FALSE(optimizer.Ask(5));
}

TEST(RandomSearch, TriesNoInfeasiblePointAgain) {
  Optimizer optimizer(AStudy({Range("n", "INTEGER", 1, 2)}, "RANDOM_SEARCH"), 7);
  optimizer.Add(1, {{"n", int64_t{2}}});
  optimizer.Tell(1, {{}, true});
  for (int64_t number = 2; number < 40; ++number) EXPECT_EQ(Shown(*optimizer.Ask(number)), "n=1 ");
}

TEST(RandomSearch, GoesOnWhereEverythingIsInfeasible) {
  Optimizer optimizer(AStudy({Numbers("d", {3})}, "RANDOM_SEARCH"), 7);
  optimizer.Add(1, {{"d", 3.0}});
  optimizer.Tell(1, {{}, true});
  EXPECT_EQ(Shown(*optimizer.Ask(2)), "d=3 ");
}

class EachAlgorithm : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Optimizer, EachAlgorithm,
                         testing::Values("", "RANDOM_SEARCH", "GRID_SEARCH"));

std::vector<ml::ParameterSpec> Params(std::string_view algorithm) {
  auto params = AllKinds();
  if (algorithm == "GRID_SEARCH") params.erase(params.begin(), params.begin() + 2);
  return params;
}

// The outcome of a trial, including odd ones.
Outcome OutcomeOf(int64_t number, Random& random) {
  switch (random.Below(8)) {
    case 0:
      return {{}, true};
    case 1:
      return {};
    case 2:
      return {{random.Below(2) ? kNaN : -kInfinity}, false};
    case 3:
      return {{random.Below(2) ? kInfinity : 1e300}, false};
    case 4:
      return {{0.25}, false};
    default:
      return {{static_cast<double>(number) * 0.01 + random.Unit()}, false};
  }
}

TEST_P(EachAlgorithm, IsRebuiltFromItsTrialsInAnyOrder) {
  const Study study = AStudy(Params(GetParam()), GetParam());
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Optimizer first(study, seed);
    Random random(seed);
    std::map<int64_t, Outcome> told;
    for (int64_t number = 1; number <= 24; ++number) {
      const auto point = first.Ask(number);
      ASSERT_TRUE(point);
      EXPECT_EQ(first.Ask(number), point) << "asking again";
      if (number > 3 && random.Below(4) > 0) {
        told[number - 3] = OutcomeOf(number, random);
        first.Tell(number - 3, told[number - 3]);
      }
      Optimizer again(study, seed);
      for (auto at = first.trials().rbegin(); at != first.trials().rend(); ++at) {
        if (at->first == number) continue;
        again.Add(at->first, at->second.point);
      }
      for (const auto& [of, outcome] : told) {
        if (of < number - 3) again.Tell(of, outcome);
      }
      EXPECT_EQ(again.Ask(number), point) << number;
    }
  }
}

TEST_P(EachAlgorithm, StaysInItsSetsWhateverIsReported) {
  const Study study = AStudy(Params(GetParam()), GetParam());
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Optimizer optimizer(study, seed);
    Random random(seed + 100);
    for (int64_t number = 1; number <= 40; ++number) {
      const auto point = optimizer.Ask(number);
      ASSERT_TRUE(point);
      for (const Parameter& parameter : study.space.parameters()) {
        EXPECT_TRUE(parameter.Has(point->at(parameter.name))) << Shown(*point);
      }
      if (random.Below(5) > 0) optimizer.Tell(number, OutcomeOf(number, random));
    }
  }
}

TEST_P(EachAlgorithm, GivesParallelTrialsDifferentValues) {
  Optimizer optimizer(AStudy(Params(GetParam()), GetParam()), 3);
  for (int64_t number = 1; number <= 10; ++number) {
    optimizer.Ask(number);
    optimizer.Tell(number, {{static_cast<double>(number)}, false});
  }
  std::set<Point> asked;
  for (int64_t number = 11; number <= 22; ++number) {
    EXPECT_TRUE(asked.insert(*optimizer.Ask(number)).second) << number;
  }
}

TEST_P(EachAlgorithm, LearnsNothingOfUnknownTrials) {
  Optimizer optimizer(AStudy(Params(GetParam()), GetParam()), 3);
  optimizer.Tell(9, {{1}, false});
  EXPECT_TRUE(optimizer.trials().empty());
  EXPECT_TRUE(optimizer.Ask(1));
}

}  // namespace
}  // namespace caip::tuning
