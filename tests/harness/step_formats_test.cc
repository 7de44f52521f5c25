#include "harness/events/step_formats.h"

#include <gtest/gtest.h>

#include <tuple>

#include "base/json.h"

namespace caip::harness {
namespace {

// Lines as the libraries print them, without a terminal.
struct PrintedSteps {
  const char* format;
  std::vector<std::string> lines;
  std::vector<int64_t> steps;
  Json last;  // some values of the last step
};

std::vector<PrintedSteps> Trainers() {
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
      {"step_values", {"step 1 loss 0.5", "saved", "step 2 loss 0.25"}, {1, 2}, {}},
      {"step_values",
       {"INFO:root:step=10, loss=0.5", "INFO:root:step=20, loss=0.25"},
       {10, 20},
       {{"loss", 0.25}}},
      {"step_values",
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
      {"epoch_values",
       {"Epoch: [1]", "Train Epoch: 1 [0/600 (0%)]\tLoss: 2.5", "Epoch: [2] Loss 0.5 (0.6)"},
       {1, 2},
       {{"Loss", 0.5}}},
      {"epoch_step_values",
       {"Epoch: [0][ 0/30]\tTime  0.1 ( 0.2)\tLoss 1.25e+00 (1.3e+00)\tAcc@1  10.00 ( 12.00)",
        "Epoch: [0][10/30]\tTime  0.1 ( 0.2)\tLoss 1.0e+00 (1.2e+00)\tAcc@1  12.00 ( 12.00)",
        "Test: [ 0/79]\tTime  0.1 ( 0.2)\tLoss 1.2e+00 (1.3e+00)",
        "Epoch: [1][ 0/30]\tTime  0.1 ( 0.2)\tLoss 7.5e-01 (1.0e+00)\tAcc@1  20.00 ( 14.00)"},
       {0, 10, 1000000},
       {{"Loss", 0.75}}},
      {"epoch_step_values",
       {"Epoch: [0]  [ 0/30]  eta: 0:00:10  lr: 0.1  loss: 2.5 (2.5)  time: 0.3  max mem: 100",
        "Epoch: [0]  [10/30]  eta: 0:00:05  lr: 0.1  loss: 2.25 (2.4)  time: 0.3  max mem: 100",
        "Epoch: [0] Total time: 0:00:10"},
       {0, 10},
       {{"loss", 2.25}, {"lr", 0.1}}},
      {"epoch_step_values",
       {"Epoch [1/5], Step [100/600], Loss: 0.5", "Epoch [1/5], Step [200/600], Loss: 0.25",
        "Epoch [2/5], Step [100/600], Loss: 0.125"},
       {1000100, 1000200, 2000100},
       {{"Loss", 0.125}}},
      {"epoch_step_values",
       {"Epoch(train)  [1][ 50/1000]  lr: 1.0e-02  loss: 0.5", "Epoch(val) [1][10/20]",
        "Epoch(train)  [1][100/1000]  lr: 1.0e-02  loss: 0.25"},
       {1000050, 1000100},
       {{"loss", 0.25}}},
      {"epoch", {"Epoch 1/3 done", "Epoch 2/3 done, loss=0.5"}, {1, 2}, {{"loss", 0.5}}},
      {"epoch_values",
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
  for (const PrintedSteps& printed : Trainers()) {
    std::vector<ReplicaLine> lines;
    for (const std::string& line : printed.lines) lines.push_back({"master-0", line});
    const StepFormat* format = GuessStepFormat(lines);
    ASSERT_NE(format, nullptr) << printed.lines.front();
    EXPECT_EQ(format->name, printed.format) << printed.lines.front();
  }
}

TEST(StepFormats, FindStepsAndTheirValues) {
  for (const PrintedSteps& printed : Trainers()) {
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

// What a correct trainer prints beside the lines of its steps. Each of its starts prints such lines
// again, so that a step in one would be the last record of the step.
struct Beside {
  const char* format;
  std::vector<std::string> steps;  // lines
  std::vector<int64_t> numbers;
  std::vector<std::string> log;  // other lines, the same that a restart prints
};

std::vector<Beside> LinesBesideSteps() {
  const std::vector<std::string> steps = {"step 1 loss=0.5", "step 2 loss=0.25", "step 3 loss=nan"};
  const std::vector<std::string> plain = {"step 1", "step 2", "step 3"};
  const std::vector<std::string> epochs = {"Epoch 0: 20/30 loss=0.5", "Epoch 1: 20/30 loss=0.25"};
  return {
      {"step_values",
       steps,
       {1, 2, 3},
       {"resuming from step 2", "loaded checkpoint (step 2)", "saved checkpoint at step 2",
        "Restored step 2 (best loss=0.25)", "Starting at step 0", "picking up after step 2",
        "step 2: wrote ckpt-2.pt", "step 2 took 0.5 s", "found step 2 of 3, 1 to go",
        "Namespace(steps=3, lr=0.1)", "Checkpoints: 100%|##| 2/2\rresumed at step 2"}},
      {"step",
       plain,
       {1, 2, 3},
       {"resuming from step 2", "loaded checkpoint (step 2)", "Continuing at step 2",
        "checkpoint of step 2 is written", "=> no checkpoint, begin at step 0"}},
      {"epoch_values",
       epochs,
       {0, 1},
       {"Resuming from epoch 1", "=> loaded checkpoint 'out/checkpoint.pth.tar' (epoch 2)",
        "Namespace(epochs=2, lr=0.1)", "Epoch 1/2", "epoch 1 is done in 0.25 s"}},
      {"epoch_step_values",
       {"Epoch: [0][ 0/30]\tLoss 0.5 (0.5)", "Epoch: [0][10/30]\tLoss 0.25 (0.5)"},
       {0, 10},
       {"=> loaded checkpoint 'checkpoint.pth.tar' (epoch 2)", "Starting epoch 1 at step 0",
        "epoch 1 step 0", "Epoch: [0] Total time: 0:00:10"}},
  };
}

TEST(StepFormats, TakeLinesAboutCheckpointsForLogLines) {
  for (const Beside& beside : LinesBesideSteps()) {
    std::vector<ReplicaLine> lines;
    for (const std::string& line : beside.steps) lines.push_back({"master-0", line});
    const StepFormat* format = GuessStepFormat(lines);
    ASSERT_NE(format, nullptr) << beside.steps.front();
    EXPECT_EQ(format->name, beside.format) << beside.steps.front();
    StepContext context;
    std::vector<int64_t> numbers;
    for (const std::string& line : beside.steps) {
      for (const ReportedStep& step : format->read(line, context)) numbers.push_back(step.step);
    }
    EXPECT_EQ(numbers, beside.numbers) << beside.steps.front();
    for (const std::string& line : beside.log) {
      EXPECT_TRUE(format->read(line, context).empty()) << beside.format << ": " << line;
    }
  }
}

TEST(StepFormats, AreGuessedAlsoBesideLinesAboutCheckpoints) {
  for (const Beside& beside : LinesBesideSteps()) {
    for (const std::string& line : beside.log) {
      std::vector<ReplicaLine> lines = {{"master-0", line}};
      for (const std::string& step : beside.steps) lines.push_back({"master-0", step});
      const StepFormat* format = GuessStepFormat(lines);
      ASSERT_NE(format, nullptr) << line;
      EXPECT_EQ(format->name, beside.format) << line;
    }
  }
}

// A trainer whose only lines are about its checkpoints reports its steps with them.
TEST(StepFormats, TakeLinesAboutCheckpointsIfThereAreNoOthers) {
  for (const auto& [first, second, number] :
       std::vector<std::tuple<std::string, std::string, int64_t>>{
           {"saved step 2", "saved step 4", 4},
           {"Starting epoch 1", "Starting epoch 2", 2},
           {"checkpoint: epoch 1 step 5", "checkpoint: epoch 1 step 10", 1000010},
           {"steps: 1, loss: 0.5", "steps: 2, loss: 0.25", 2}}) {
    const StepFormat* format = GuessStepFormat({{"master-0", first}, {"master-0", second}});
    ASSERT_NE(format, nullptr) << first;
    EXPECT_EQ(format->name, "any") << first;
    StepContext context;
    const auto steps = format->read(second, context);
    ASSERT_EQ(steps.size(), 1u) << second;
    EXPECT_EQ(steps.front().step, number) << second;
  }
}

// If steps without values are steps, too, no line is left out for its lack of them.
TEST(StepFormats, TakeStepsWithoutValues) {
  const std::vector<ReplicaLine> lines = {{"master-0", "step 1"},
                                          {"master-0", "step 2 loss=0.5"},
                                          {"master-0", "step 3"},
                                          {"master-0", "step 4 loss=0.25"}};
  EXPECT_EQ(GuessStepFormat(lines)->name, "step");
}

TEST(StepFormats, AreNotGuessedFromLinesThatReportNoProgress) {
  for (const std::vector<std::string>& printed : std::vector<std::vector<std::string>>{
           {},
           {"loading data", "done"},
           {"step 1 of the installation"},
           {"took 12 seconds", "took 13 seconds"},
           {"100%|##########| 10/10 [00:01<00:00]", "100%|##########| 10/10 [00:01<00:00]"},
           {"version 1.2.3, stepping 4"},
           {"milestones of epochs: [10, 20]", "milestones of epochs: [30, 40]"},
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
