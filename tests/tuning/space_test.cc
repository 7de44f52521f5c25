// Parameters and their sets.

#include "tuning/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/tuning/a_space.h"

namespace caip::tuning {
namespace {

// A model whose optimizer has parameters of its own.
Space Conditional() {
  Parameter optimizer{"optimizer", ValueType::kCategorical};
  optimizer.categories = {"sgd", "adam", "none"};
  Parameter momentum{"momentum", ValueType::kDiscrete};
  momentum.numbers = {0.5, 0.9};
  momentum.parent = 0;
  momentum.parent_values = {std::string("sgd")};
  Parameter nesterov{"nesterov", ValueType::kCategorical};
  nesterov.categories = {"on", "off"};
  nesterov.parent = 1;
  nesterov.parent_values = {0.9};
  Parameter beta{"beta", ValueType::kInteger};
  beta.least_integer = 1;
  beta.most_integer = 3;
  beta.parent = 0;
  beta.parent_values = {std::string("adam")};
  return Space({optimizer, momentum, nesterov, beta});
}

TEST(Space, DrawsOnlyWhatTheSetsHave) {
  const Study study = AStudy(AllKinds(), "");
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Point point = study.space.Draw(random);
    ASSERT_EQ(point.size(), study.space.parameters().size());
    for (const Parameter& parameter : study.space.parameters()) {
      EXPECT_TRUE(parameter.Has(point.at(parameter.name))) << parameter.name;
    }
  }
}

TEST(Space, ReadsBackTheTextsOfItsPoints) {
  const Study study = AStudy(AllKinds(), "");
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Point point = study.space.Draw(random);
    const auto read = study.space.Read(Space::Texts(point));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, point);
  }
}

TEST(Space, RefusesTextsThatAreNoPoint) {
  const Space space = AStudy(AllKinds(), "").space;
  Random random(1);
  const tuning::ValueTexts good = Space::Texts(space.Draw(random));
  const std::pair<const char*, const char*> bad[] = {
      {"rate", "0.2"},
      {"rate", "nan"},
      {"rate", ""},
      {"rate", "0.01x"},
      {"units", "40.5"},
      {"units", "401"},
      {"units", "99999999999999999999"},
      {"batch", "64"},
      {"cell", "LSTM"},
      {"momentum", "1"},
      {"another", "1"},
  };
  for (const auto& [name, text] : bad) {
    auto texts = good;
    texts[name] = text;
    EXPECT_FALSE(space.Read(texts).ok()) << name << "=" << text;
  }
  auto texts = good;
  texts.erase("cell");
  EXPECT_THAT(space.Read(texts).error().message, testing::HasSubstr("'cell' has no value"));
}

TEST(Space, GivesTheEndsOfIntegersTheirShare) {
  for (const char* scale : {"NONE", "UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE"}) {
    const Space space = AStudy({Range("n", "INTEGER", 1, 4, scale)}, "").space;
    std::map<int64_t, int> seen;
    for (uint64_t seed = 0; seed < 4000; ++seed) {
      Random random(seed);
      ++seen[std::get<int64_t>(space.Draw(random).at("n"))];
    }
    ASSERT_EQ(seen.size(), 4u) << scale;
    if (std::string(scale) == "UNIT_LOG_SCALE") {
      // (ln 1.5 - ln 0.5) / (ln 4.5 - ln 0.5) = 0.5; (ln 4.5 - ln 3.5) / ... = 0.114
      EXPECT_NEAR(seen[1] / 4000.0, 0.5, 0.04);
      EXPECT_NEAR(seen[4] / 4000.0, 0.114, 0.03);
    } else {
      for (const auto& [n, count] : seen) EXPECT_NEAR(count / 4000.0, 0.25, 0.04) << n;
    }
  }
}

TEST(Space, DrawsDoublesEvenlyInTheirScale) {
  for (const char* scale : {"", "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"}) {
    const Space space = AStudy({Range("x", "DOUBLE", 0.001, 10, scale)}, "").space;
    const Parameter& x = space.parameters()[0];
    int quarters[4] = {};
    for (uint64_t seed = 0; seed < 4000; ++seed) {
      Random random(seed);
      ++quarters[static_cast<int>(x.UnitOf(x.Draw(random)) * 3.9999)];
    }
    for (const int count : quarters) EXPECT_NEAR(count / 4000.0, 0.25, 0.04) << scale;
  }
}

TEST(Space, HoldsIntegersOfSixtyFourBits) {
  Parameter n{"n", ValueType::kInteger};
  n.least_integer = std::numeric_limits<int64_t>::min();
  n.most_integer = std::numeric_limits<int64_t>::max();
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    EXPECT_TRUE(n.Has(n.Draw(random)));
  }
  for (const double unit : {0.0, 0.5, 1.0}) EXPECT_TRUE(n.Has(n.AtUnit(unit)));
  EXPECT_EQ(n.After(n.most_integer), std::nullopt);
}

TEST(Space, FindsTheValueNearestToAUnit) {
  const Space space = AStudy({Numbers("d", {1, 10, 100})}, "").space;
  const Parameter& d = space.parameters()[0];
  EXPECT_EQ(d.AtUnit(0), Value(1.0));
  EXPECT_EQ(d.AtUnit(0.1), Value(10.0));
  EXPECT_EQ(d.AtUnit(1), Value(100.0));
  EXPECT_EQ(d.AtUnit(d.UnitOf(10.0)), Value(10.0));
}

TEST(ConditionalSpace, CallsForChildrenByTheirParentsValue) {
  const Space space = Conditional();
  std::set<std::set<std::string>> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::set<std::string> names;
    for (const auto& [name, value] : space.Draw(random)) names.insert(name);
    seen.insert(names);
  }
  EXPECT_EQ(seen, (std::set<std::set<std::string>>{{"optimizer"},
                                                   {"optimizer", "beta"},
                                                   {"optimizer", "momentum"},
                                                   {"optimizer", "momentum", "nesterov"}}));
}

TEST(ConditionalSpace, CountsItsPoints) {
  // none; sgd with 0.5; sgd with 0.9 and on or off; adam with 1, 2 or 3
  EXPECT_EQ(Conditional().Count(), 7);
  EXPECT_EQ(AStudy({Numbers("a", {1, 2}), Range("b", "INTEGER", 1, 5)}, "").space.Count(), 10);
  EXPECT_TRUE(std::isinf(AStudy(AllKinds(), "").space.Count()));
}

// Each of ten parameters is called for by each value of the one before: one look for each point
// would never end.
TEST(ConditionalSpace, CountsALongChain) {
  std::vector<Parameter> chain;
  std::vector<Value> all;
  for (int64_t value = 1; value <= 1000; ++value) all.emplace_back(value);
  for (size_t i = 0; i < 10; ++i) {
    chain.push_back({.name = "p" + std::to_string(i), .type = ValueType::kInteger});
    chain.back().least_integer = 1;
    chain.back().most_integer = 1000;
    if (i == 0) continue;
    chain.back().parent = i - 1;
    chain.back().parent_values = all;
  }
  EXPECT_NEAR(Space(chain).Count() / 1e30, 1, 1e-9);
}

TEST(ConditionalSpace, CountsAValueOfTheParentOnce) {
  Parameter parent{.name = "cell", .type = ValueType::kCategorical};
  parent.categories = {"gru", "lstm"};
  Parameter child{.name = "units", .type = ValueType::kInteger};
  child.least_integer = 1;
  child.most_integer = 5;
  child.parent = 0;
  child.parent_values = {std::string("gru"), std::string("gru"), std::string("rnn")};
  EXPECT_EQ(Space({parent, child}).Count(), 6);
}

TEST(Categories, AreASet) {
  EXPECT_THAT(Distinct({"b", "a", "b", "", "a"}), ::testing::ElementsAre("b", "a", ""));
}

TEST(ConditionalSpace, ReadsOnlyWhatIsCalledFor) {
  const Space space = Conditional();
  EXPECT_TRUE(space.Read({{"optimizer", "none"}}).ok());
  EXPECT_TRUE(space.Read({{"optimizer", "sgd"}, {"momentum", "0.5"}}).ok());
  EXPECT_FALSE(space.Read({{"optimizer", "sgd"}, {"momentum", "0.9"}}).ok());
  EXPECT_FALSE(space.Read({{"optimizer", "none"}, {"beta", "1"}}).ok());
}

TEST(ConditionalSpace, IsSearchedByTheGridWithoutGapOrRepeat) {
  Optimizer optimizer({Conditional(), {Goal::kMinimize}, Algorithm::kGrid}, 1);
  std::set<Point> seen;
  for (int64_t number = 1; number <= 7; ++number) {
    const auto point = optimizer.Ask(number);
    ASSERT_TRUE(point) << number;
    EXPECT_TRUE(seen.insert(*point).second);
    EXPECT_TRUE(optimizer.study().space.Read(Space::Texts(*point)).ok());
  }
  EXPECT_FALSE(optimizer.Ask(8));
}

}  // namespace
}  // namespace caip::tuning
