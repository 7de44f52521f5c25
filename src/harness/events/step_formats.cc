#include "harness/events/step_formats.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "harness/events/step_numbers.h"

namespace caip::harness {
namespace {

using re2::RE2;
using re2::StringPiece;

// Epochs and steps in them become one number: step 20 of epoch 3 is 3000020.
constexpr int64_t kStepsOfEpochMax = 1'000'000;
// Transformers reports parts of epochs. A tenth of a thousandth is one step.
constexpr double kPartsOfEpoch = 10'000;
constexpr size_t kStepsMin = 2;
constexpr char kWithValues[] = "_values";  // ends names of formats
constexpr char kAnyFormat[] = "any";
constexpr size_t kLineBytesMax = 1 << 20;

StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }
std::string_view View(const StringPiece& piece) { return {piece.data(), piece.size()}; }

// Progress bars draw over what they have drawn. Colours say nothing.
std::vector<std::string> DrawnParts(std::string_view line) {
  static const RE2 colour("\x1b\\[[0-9;?]*[A-Za-z]");
  std::string plain(line.substr(0, kLineBytesMax));
  RE2::GlobalReplace(&plain, colour, "");
  std::vector<std::string> parts(1);
  for (const char c : plain) {
    if (c != '\r' && c != '\b') {
      parts.back() += c;
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
  }
  if (parts.back().empty() && parts.size() > 1) parts.pop_back();
  return parts;
}

// The values that a text names: "loss=0.3", "loss: 0.3", "loss 0.3", "'loss': 0.3".
void AddValues(std::string_view text, Json& record) {
  static const RE2 value(
      "(?i)([a-z_][a-z0-9_./]*)['\"]?(?:\\s*[=:]\\s*|\\s+)['\"]?"
      "([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?)(?:[^0-9a-z.:%/]|$)");
  StringPiece rest = Piece(text);
  std::string name;
  std::string number;
  while (RE2::FindAndConsume(&rest, value, &name, &number)) {
    if (!record.contains(name)) record[name] = std::strtod(number.c_str(), nullptr);
  }
}

ReportedStep StepOf(int64_t step, std::string_view text, std::string_view values) {
  Json record = {{"step", step}};
  AddValues(values, record);
  return {step, std::move(record), std::string(text)};
}

// {'loss': 0.69, 'learning_rate': 4.5e-05, 'epoch': 0.1}
std::vector<ReportedStep> ReadTransformers(std::string_view line, StepContext&) {
  static const RE2 shape("^\\{'.*'epoch': ['\"]?([0-9.]+)['\"]?.*\\}\\s*$");
  static const RE2 summary("'(?:eval|train|test)_[a-z_]+':");
  std::vector<ReportedStep> steps;
  for (const std::string& part : DrawnParts(line)) {
    std::string epoch;
    if (!RE2::FullMatch(part, shape, &epoch) || RE2::PartialMatch(part, summary)) continue;
    const double parts = std::round(std::strtod(epoch.c_str(), nullptr) * kPartsOfEpoch);
    if (parts < 0 || parts > 1e15) continue;
    steps.push_back(StepOf(static_cast<int64_t>(parts), part, part));
  }
  return steps;
}

// Epoch 3: 100%|##########| 10/10 [00:00<00:00, 90.1it/s, v_num=0, train_loss=0.3]
// The last drawing of an epoch has its values.
std::vector<ReportedStep> ReadLightning(std::string_view line, StepContext&) {
  static const RE2 shape("(Epoch (\\d+):\\s+100%\\|.*\\|\\s*\\d+/\\d+ \\[[^\\]]*\\])");
  std::map<int64_t, ReportedStep> steps;
  for (const std::string& part : DrawnParts(line)) {
    std::string drawn;
    StringPiece epoch;
    if (!RE2::PartialMatch(part, shape, &drawn, &epoch)) continue;
    const auto number = WholeNumber(View(epoch));
    if (!number) continue;
    const size_t values = drawn.rfind('[');
    steps[*number] = StepOf(*number, drawn, std::string_view(drawn).substr(values));
  }
  std::vector<ReportedStep> list;
  for (auto& [number, step] : steps) list.push_back(std::move(step));
  return list;
}

// Epoch 3/10
// 12/12 [==============================] - 1s 3ms/step - loss: 0.3 - accuracy: 0.9
// 12/12 - 1s - 3ms/step - loss: 0.3
std::vector<ReportedStep> ReadKeras(std::string_view line, StepContext& context) {
  static const RE2 epoch("^Epoch (\\d+)/\\d+\\s*$");
  static const RE2 done("^\\s*(\\d+)/(\\d+|Unknown) .*- (\\w+: .*)$");
  const std::vector<std::string> parts = DrawnParts(line);
  StringPiece number;
  if (RE2::PartialMatch(parts.back(), epoch, &number)) {
    context.epoch = WholeNumber(View(number)).value_or(0);
    return {};
  }
  std::string step;
  std::string steps;
  StringPiece values;
  if (context.epoch == 0) return {};
  if (!RE2::PartialMatch(parts.back(), done, &step, &steps, &values)) return {};
  if (step != steps && steps != "Unknown") return {};
  const size_t begin = parts.back().find(" - ");
  return {StepOf(std::exchange(context.epoch, 0), parts.back(),
                 std::string_view(parts.back()).substr(begin))};
}

// nullopt: the numbers are not those of a step in an epoch.
std::optional<int64_t> StepInEpoch(const StepNumbers& numbers) {
  const std::optional<int64_t> step = numbers.step ? numbers.step : numbers.batch;
  if (!step || !numbers.epoch || *step >= kStepsOfEpochMax) return std::nullopt;
  return *numbers.epoch * kStepsOfEpochMax + *step;
}

std::vector<ReportedStep> StepsOfNumber(std::optional<int64_t> number, std::string_view line) {
  if (!number) return {};
  return {StepOf(*number, line, line)};
}

std::vector<ReportedStep> ReadEpochStep(std::string_view line, StepContext&) {
  return StepsOfNumber(StepInEpoch(ReportedNumbers(line)), line);
}

std::vector<ReportedStep> ReadStep(std::string_view line, StepContext&) {
  return StepsOfNumber(ReportedNumbers(line).step, line);
}

std::vector<ReportedStep> ReadEpoch(std::string_view line, StepContext&) {
  return StepsOfNumber(ReportedNumbers(line).epoch, line);
}

std::vector<ReportedStep> ReadEpochStepValues(std::string_view line, StepContext& context) {
  if (!HasValues(line)) return {};
  return ReadEpochStep(line, context);
}

std::vector<ReportedStep> ReadStepValues(std::string_view line, StepContext& context) {
  if (!HasValues(line)) return {};
  return ReadStep(line, context);
}

std::vector<ReportedStep> ReadEpochValues(std::string_view line, StepContext& context) {
  if (!HasValues(line)) return {};
  return ReadEpoch(line, context);
}

// A trainer may report steps only in lines about its checkpoints: "saved step 20".
std::vector<ReportedStep> ReadAny(std::string_view line, StepContext&) {
  const StepNumbers numbers = NamedNumbers(line);
  if (const auto both = StepInEpoch(numbers)) return StepsOfNumber(both, line);
  return StepsOfNumber(numbers.step ? numbers.step : numbers.epoch, line);
}

// train: 100%|##########| 10/10 [00:01<00:00,  9.5it/s, loss=0.3]
// How often a bar is drawn depends on time, so only its end is a step.
std::vector<ReportedStep> ReadTqdm(std::string_view line, StepContext&) {
  static const RE2 shape("(100%\\|.*\\|\\s*(\\d+)/\\d+ \\[[^\\]]*\\])");
  std::vector<ReportedStep> steps;
  for (const std::string& part : DrawnParts(line)) {
    std::string drawn;
    StringPiece count;
    if (!RE2::PartialMatch(part, shape, &drawn, &count)) continue;
    const auto number = WholeNumber(View(count));
    if (!number) continue;
    steps.push_back(StepOf(*number, part, std::string_view(drawn).substr(drawn.rfind('['))));
  }
  if (steps.size() > 1) steps.erase(steps.begin(), steps.end() - 1);
  return steps;
}

using ReplicaSteps = std::set<std::pair<std::string, int64_t>>;

// The different steps of all replicas that a format finds.
ReplicaSteps StepsIn(const std::vector<ReplicaLine>& lines, const StepFormat& format) {
  ReplicaSteps steps;
  std::map<std::string, StepContext> contexts;
  for (const ReplicaLine& line : lines) {
    for (const ReportedStep& step : format.read(line.text, contexts[line.replica])) {
      steps.emplace(line.replica, step.step);
    }
  }
  return steps;
}

size_t CountReplicas(const ReplicaSteps& steps) {
  std::set<std::string> replicas;
  for (const auto& [replica, step] : steps) replicas.insert(replica);
  return replicas.size();
}

// The format that takes only lines with values, if the replicas report values with their steps. A
// line at the start of a replica may name one more step: "going on after step 0".
const StepFormat& WithValues(const StepFormat& format, const std::vector<ReplicaLine>& lines) {
  const StepFormat* with_values = FindStepFormat(format.name + kWithValues);
  if (!with_values) return format;
  const ReplicaSteps all = StepsIn(lines, format);
  const size_t count = StepsIn(lines, *with_values).size();
  const bool have_values = count >= kStepsMin && count + CountReplicas(all) >= all.size();
  return have_values ? *with_values : format;
}

}  // namespace

const std::vector<StepFormat>& StepFormats() {
  static const std::vector<StepFormat> formats = {
      {"transformers", "the dictionaries of Hugging Face's Trainer", ReadTransformers},
      {"lightning", "the bars of PyTorch Lightning", ReadLightning},
      {"keras", "those of Keras", ReadKeras},
      {"step", "`step 20`, `step=20`, `iter: 20`", ReadStep},
      {"epoch_step", "`epoch 3 step 20`, where each epoch counts its own steps", ReadEpochStep},
      {"epoch", "`epoch 3`, `Epoch 3/10`, `epoch=3`", ReadEpoch},
      {"tqdm", "the ends of tqdm's bars", ReadTqdm},
      {"step_values", "`step 20`, `step=20`, `iter: 20`, with values (`loss=0.3`)", ReadStepValues,
       false},
      {"epoch_step_values", "`epoch 3 step 20`, where each epoch counts its own steps, with values",
       ReadEpochStepValues, false},
      {"epoch_values", "`epoch 3`, `Epoch 3/10`, `epoch=3`, with values (`loss=0.3`)",
       ReadEpochValues, false},
      {kAnyFormat, "`saved step 20`, `Starting epoch 3`, any line with such a number", ReadAny,
       false},
  };
  return formats;
}

const StepFormat* FindStepFormat(std::string_view name) {
  const auto found = std::ranges::find(StepFormats(), name, &StepFormat::name);
  return found == StepFormats().end() ? nullptr : &*found;
}

std::vector<std::string> StepFormatNames() {
  std::vector<std::string> names;
  for (const StepFormat& format : StepFormats()) names.push_back(format.name);
  return names;
}

const StepFormat* GuessStepFormat(const std::vector<ReplicaLine>& lines) {
  const StepFormat* best = nullptr;
  size_t most = kStepsMin - 1;
  for (const StepFormat& format : StepFormats()) {
    if (!format.is_first_choice) continue;
    const size_t count = StepsIn(lines, format).size();
    if (count <= most) continue;
    best = &format;
    most = count;
  }
  if (best) return &WithValues(*best, lines);
  const StepFormat* any = FindStepFormat(kAnyFormat);
  return StepsIn(lines, *any).size() >= kStepsMin ? any : nullptr;
}

}  // namespace caip::harness
