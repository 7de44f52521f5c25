#include "harness/events/step_reader.h"

#include <gtest/gtest.h>

namespace caip::harness {
namespace {

TEST(StepReader, ReadsAJsonObjectOfALine) {
  const Event event = StepReader().Read(R"({"step": 12, "w": 0.5})");
  const auto* step = event.As<StepEvent>();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->step, 12);
  EXPECT_EQ(step->record, Json({{"step", 12}, {"w", 0.5}}));
}

TEST(StepReader, ReportsOtherLinesAsLines) {
  for (const char* line :
       {"", "hello", "{", "{\"step\": }", "{\"step\": \"12\"}", "{\"step\": 1.5}",
        "[{\"step\": 1}]", " {\"step\": 1}", "{\"loss\": 1}"}) {
    const Event read = StepReader().Read(line);
    ASSERT_TRUE(read.Is<LogEvent>()) << line;
    EXPECT_EQ(read.As<LogEvent>()->message, line);
  }
}

TEST(StepReader, ReadsForeignLinesByAPattern) {
  const StepReader reader(R"(step (?P<step>\d+).*loss (?P<loss>\S+) (?P<note>\w+))");
  const Event event = reader.Read("INFO step 0012/100 loss 0.25 fine");
  const auto* step = event.As<StepEvent>();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->step, 12);
  EXPECT_EQ(step->record, Json({{"loss", 0.25}, {"note", "fine"}, {"step", 12}}));
  EXPECT_EQ(reader.Read("INFO step 000/100 loss nan fine").As<StepEvent>()->step, 0);
  EXPECT_TRUE(reader.Read("epoch 1").Is<LogEvent>());
  EXPECT_TRUE(reader.Read(R"({"step": 1})").Is<LogEvent>());
}

TEST(StepPattern, NamesItsStep) {
  EXPECT_EQ(StepPatternProblem(R"(step (?P<step>\d+))"), std::nullopt);
  EXPECT_NE(StepPatternProblem("step (\\d+)"), std::nullopt);
  EXPECT_NE(StepPatternProblem("("), std::nullopt);
}

}  // namespace
}  // namespace caip::harness
