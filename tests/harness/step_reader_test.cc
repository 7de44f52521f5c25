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

// Lines of trainers that resume correctly. A restart prints the log line, which names a step that
// was done before.
TEST(StepReader, ReportsLinesAboutCheckpointsAsLines) {
  struct Case {
    const char* format;
    const char* step;
    int64_t number;
    const char* log;
  };
  for (const Case& line :
       std::vector<Case>{{"step_values", "step 4 loss=2.351241", 4, "resuming from step 4"},
                         {"step_values", "step 4 loss=2.351241", 4, "loaded checkpoint (step 4)"},
                         {"step_values", "step 4 loss=2.351241", 4, "saved checkpoint at step 4"},
                         {"step_values", "step 4 loss=2.351241", 4, "step 4: checkpoint"},
                         {"step", "step 4", 4, "resuming from step 4"},
                         {"epoch_values", "Epoch 1 loss=0.6000", 1, "Resuming from epoch 1"},
                         {"epoch_values", "Epoch 4: 20/30 loss=2.97127", 4,
                          "=> loaded checkpoint 'out/checkpoint.pth.tar' (epoch 5)"},
                         {"epoch_step_values", "Epoch: [4][ 20/30]\tLoss 2.9713e+00 (2.9713e+00)",
                          4000020, "=> loaded checkpoint 'out/checkpoint.pth.tar' (epoch 5)"}}) {
    StepReader reader({.format = line.format});
    EXPECT_TRUE(ReadOne(reader, line.log).Is<LogEvent>()) << line.log;
    const Event event = ReadOne(reader, line.step);
    ASSERT_TRUE(event.Is<StepEvent>()) << line.step;
    EXPECT_EQ(event.As<StepEvent>()->step, line.number) << line.step;
    EXPECT_TRUE(ReadOne(reader, line.log).Is<LogEvent>()) << line.log;
  }
}

TEST(StepPattern, NamesItsStep) {
  EXPECT_EQ(StepPatternProblem(R"(step (?P<step>\d+))"), std::nullopt);
  EXPECT_NE(StepPatternProblem("step (\\d+)"), std::nullopt);
  EXPECT_NE(StepPatternProblem("("), std::nullopt);
}

}  // namespace
}  // namespace caip::harness
