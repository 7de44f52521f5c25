#include "harness/expectations/counts.h"

#include "base/text.h"
#include "harness/expectations/expectation_texts.h"

namespace caip::harness {

namespace {

constexpr int64_t kNotANumber = -1;

int64_t ParseDigits(const std::string& digits) {
  if (digits.empty() || digits.size() > 15) return kNotANumber;
  if (digits.find_first_not_of("0123456789") != std::string::npos) return kNotANumber;
  return std::stoll(digits);
}

}  // namespace

Count ReadCount(const Cursor& cursor) {
  const Json& json = cursor.json();
  if (json.is_number_integer() && json.get<int64_t>() >= 0) {
    return {json.get<int64_t>(), json.get<int64_t>()};
  }
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (const size_t dots = text.find(".."); dots != text.npos) {
    const std::string end = text.substr(dots + 2);
    const int64_t least = ParseDigits(text.substr(0, dots));
    const int64_t most = end.empty() ? INT64_MAX : ParseDigits(end);
    if (least != kNotANumber && least <= most) return {least, most};
  }
  cursor.Wrong(texts::CountNotValid());
  return {};
}

std::string Text(const Count& count) {
  if (count.least == count.most) return std::to_string(count.least);
  if (count.most == INT64_MAX) return "at least " + std::to_string(count.least);
  return std::to_string(count.least) + " to " + std::to_string(count.most);
}

StepRecords EffectiveSteps(const Evidence& run, const std::string& replica) {
  StepRecords records;
  for (const Event& event : run.events) {
    const auto* step = event.As<StepEvent>();
    if (step && event.replica == replica) records[step->step] = step->record;
  }
  return records;
}

std::set<std::string> ReplicasWithSteps(const Evidence& run) {
  std::set<std::string> replicas;
  for (const Event& event : run.events) {
    if (event.Is<StepEvent>()) replicas.insert(event.replica);
  }
  return replicas;
}

int BootOfKey(const std::string& key, const Cursor& value) {
  const bool digits = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
  const int boot = digits && key.size() < 9 ? std::atoi(key.c_str()) : 0;
  if (boot == 0) value.Wrong(texts::BootNotValid(key));
  return boot;
}

std::string RangesText(const std::set<int64_t>& numbers) {
  std::vector<std::string> runs;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int64_t first = *at;
    int64_t last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    runs.push_back(first == last ? std::to_string(first)
                                 : std::to_string(first) + ".." + std::to_string(last));
  }
  return runs.empty() ? "none" : Join(runs, ", ");
}

}  // namespace caip::harness
