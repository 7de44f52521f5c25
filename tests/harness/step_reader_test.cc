#include "harness/events/step_reader.h"

#include <gtest/gtest.h>

namespace caip::harness {
namespace {

Event ReadOne(StepReader& reader, const std::string& line) {
  const std::vector<Event> events = reader.Read("master-0", line);
  EXPECT_EQ(events.size(), 1u) << line;
  return events.front();
}

TEST(StepReader, ReadsAJsonObjectOfALine) {
  StepReader reader;
  const Event event = ReadOne(reader, R"({"step": 12, "w": 0.5})");
  const auto* step = event.As<StepEvent>();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->step, 12);
  EXPECT_EQ(step->record, Json({{"step", 12}, {"w", 0.5}}));
}

TEST(StepReader, ReportsOtherLinesAsLines) {
  StepReader reader;
  for (const char* line :
       {"", "hello", "{", "{\"step\": }", "{\"step\": \"12\"}", "{\"step\": 1.5}",
        "[{\"step\": 1}]", " {\"step\": 1}", "{\"loss\": 1}"}) {
    const Event read = ReadOne(reader, line);
    ASSERT_TRUE(read.Is<LogEvent>()) << line;
    EXPECT_EQ(read.As<LogEvent>()->message, line);
  }
}

TEST(StepReader, ReadsForeignLinesByAPattern) {
  StepReader reader({.regex = R"(step (?P<step>\d+).*loss (?P<loss>\S+) (?P<note>\w+))"});
  const Event event = ReadOne(reader, "INFO step 0012/100 loss 0.25 fine");
  const auto* step = event.As<StepEvent>();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->step, 12);
  EXPECT_EQ(step->record, Json({{"loss", 0.25}, {"note", "fine"}, {"step", 12}}));
  EXPECT_EQ(ReadOne(reader, "INFO step 000/100 loss nan fine").As<StepEvent>()->step, 0);
  EXPECT_TRUE(ReadOne(reader, "epoch 1").Is<LogEvent>());
  EXPECT_TRUE(ReadOne(reader, R"({"step": 1})").Is<LogEvent>());
}

TEST(StepReader, ReportsEachStepOfALine) {
  StepReader reader({.format = "lightning"});
  const std::vector<Event> events = reader.Read(
      "master-0",
      "Epoch 0: 100%|####| 4/4 [00:00<00:00, 90.1it/s, train_loss=0.5]\rEpoch 1:   0%|    | 0/4 "
      "[00:00<?, ?it/s]\rEpoch 1: 100%|####| 4/4 [00:00<00:00, 91.0it/s, train_loss=0.25]");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].As<StepEvent>()->record["train_loss"], 0.25);
}

TEST(StepPattern, NamesItsStep) {
  EXPECT_EQ(StepPatternProblem(R"(step (?P<step>\d+))"), std::nullopt);
  EXPECT_NE(StepPatternProblem("step (\\d+)"), std::nullopt);
  EXPECT_NE(StepPatternProblem("("), std::nullopt);
}

}  // namespace
}  // namespace caip::harness
