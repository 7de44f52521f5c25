#include "harness/events/step_formats.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::harness {
namespace {

// Lines as the libraries print them, without a terminal.
struct Printed {
  const char* format;
  std::vector<std::string> lines;
  std::vector<int64_t> steps;
  Json last;  // some values of the last step
};

std::vector<Printed> Trainers() {
  return {
      {"transformers",
       {"{'loss': 0.69, 'grad_norm': 1.25, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
        "{'eval_loss': 0.6, 'eval_runtime': 0.1, 'epoch': 0.1}",
        "\r 20%|##        | 2/10 [00:00<00:00, 9.1it/s]\r{'loss': '0.5', 'epoch': '0.2'}",
        "{'train_runtime': 0.7, 'train_loss': 0.6, 'epoch': 0.2}"},
       {1000, 2000},
       {{"loss", 0.5}}},
      {"lightning",
       {"Epoch 0: 100%|##########| 4/4 [00:00<00:00, 90.13it/s, v_num=0, train_loss=0.75]",
        "Epoch 1:  50%|#####     | 2/4 [00:00<00:00, 90.13it/s, v_num=0, train_loss=0.7]\rEpoch 1: "
        "100%|##########| 4/4 [00:00<00:00, 90.13it/s, v_num=0, train_loss=0.5]"},
       {0, 1},
       {{"train_loss", 0.5}, {"v_num", 0.0}}},
      {"keras",
       {"Epoch 1/2",
        "1/4 [======>.......................] - ETA: 0s - loss: 0.9\b\b\b\b\b\b4/4 "
        "[==============================] - 1s 3ms/step - loss: 0.8 - accuracy: 0.5",
        "Epoch 2/2",
        "\x1b[1m4/4\x1b[0m \x1b[32m----\x1b[0m\x1b[37m\x1b[0m \x1b[1m0s\x1b[0m 3ms/step - "
        "accuracy: 0.75 - loss: 0.5"},
       {1, 2},
       {{"loss", 0.5}, {"accuracy", 0.75}}},
      {"keras",
       {"Epoch 1/2", "4/4 - 1s - 3ms/step - loss: 0.8", "Epoch 2/2", "4/4 - 0s - loss: 0.5"},
       {1, 2},
       {{"loss", 0.5}}},
      {"step", {"step 1 loss 0.5", "saved", "step 2 loss 0.25"}, {1, 2}, {}},
      {"step",
       {"INFO:root:step=10, loss=0.5", "INFO:root:step=20, loss=0.25"},
       {10, 20},
       {{"loss", 0.25}}},
      {"step",
       {"[12:01:02] iter: 7 | loss: 1e-3", "[12:01:03] iter: 8 | loss: 5e-4"},
       {7, 8},
       {{"loss", 5e-4}}},
      {"step",
       {"Epoch 0, global_step 5", "Epoch 0, global_step 6", "Epoch 1, global_step 7"},
       {5, 6, 7},
       {}},
      {"epoch_step",
       {"epoch 1 step 1", "epoch 1 step 2", "epoch 2 step 1", "epoch 2 step 2"},
       {1000001, 1000002, 2000001, 2000002},
       {}},
      {"epoch", {"Epoch 1/3 done", "Epoch 2/3 done, loss=0.5"}, {1, 2}, {{"loss", 0.5}}},
      {"epoch",
       {R"({"epoch": 1, "acc": 0.5})", R"({"epoch": 2, "acc": 0.75})"},
       {1, 2},
       {{"acc", 0.75}}},
      {"tqdm",
       {"warm-up: 100%|##########| 5/5 [00:00<00:00, 50.1it/s]",
        "  0%|          | 0/10 [00:00<?, ?it/s]\r 50%|#####     | 5/10 [00:00<00:00, 9.5it/s]\r"
        "100%|##########| 10/10 [00:01<00:00, 9.5it/s, loss=0.3]"},
       {5, 10},
       {{"loss", 0.3}}},
  };
}

TEST(StepFormats, AreRecognizedByTheLinesOfTheirTrainers) {
  for (const Printed& printed : Trainers()) {
    std::vector<ReplicaLine> lines;
    for (const std::string& line : printed.lines) lines.push_back({"master-0", line});
    const StepFormat* format = GuessStepFormat(lines);
    ASSERT_NE(format, nullptr) << printed.lines.front();
    EXPECT_EQ(format->name, printed.format) << printed.lines.front();
  }
}

TEST(StepFormats, FindStepsAndTheirValues) {
  for (const Printed& printed : Trainers()) {
    StepContext context;
    std::vector<int64_t> steps;
    Json last;
    for (const std::string& line : printed.lines) {
      for (const ReportedStep& step : FindStepFormat(printed.format)->read(line, context)) {
        steps.push_back(step.step);
        last = step.record;
      }
    }
    EXPECT_EQ(steps, printed.steps) << printed.lines.front();
    for (const auto& [name, value] : printed.last.items()) {
      EXPECT_EQ(last.value(name, Json()), value) << printed.lines.front() << " " << name;
    }
  }
}

TEST(StepFormats, AreNotGuessedFromLinesThatReportNoProgress) {
  for (const std::vector<std::string>& printed : std::vector<std::vector<std::string>>{
           {},
           {"loading data", "done"},
           {"step 1 of the installation"},
           {"took 12 seconds", "took 13 seconds"},
           {"100%|##########| 10/10 [00:01<00:00]", "100%|##########| 10/10 [00:01<00:00]"},
           {"version 1.2.3, stepping 4"},
           {std::string(100'000, '\b'), std::string(100'000, '{')}}) {
    std::vector<ReplicaLine> lines;
    for (const std::string& line : printed) lines.push_back({"master-0", line});
    const StepFormat* format = GuessStepFormat(lines);
    EXPECT_EQ(format, nullptr) << format->name << ": " << printed.front();
  }
}

TEST(StepFormats, HaveNames) {
  for (const std::string& name : StepFormatNames()) {
    EXPECT_NE(FindStepFormat(name), nullptr) << name;
  }
  EXPECT_EQ(FindStepFormat("csv"), nullptr);
}

}  // namespace
}  // namespace caip::harness
