#include "harness/events/step_reader.h"

#include <re2/re2.h>

#include <vector>

#include "harness/faults/trigger.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {

struct StepReader::State {
  std::optional<re2::RE2> re;
  const StepFormat* format = nullptr;
  std::mutex mutex;
  std::map<std::string, StepContext> contexts;  // by replica
};

namespace {

// "0.5" and "0010" are numbers, "abc" is a text.
Json ValueOf(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const size_t first = text.find_first_not_of('0');
  const bool zeros = digits && text.size() > 1 && text[0] == '0';
  const auto json = ParseJson(!zeros                       ? text
                              : first == std::string::npos ? "0"
                                                           : text.substr(first));
  return json.ok() && json->is_number() ? *json : Json(text);
}

Json RecordOf(const re2::RE2& re, const std::string& line) {
  const int groups = re.NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<size_t>(groups) + 1);
  if (!re.Match(line, 0, line.size(), re2::RE2::UNANCHORED, found.data(), groups + 1)) return {};
  Json record = Json::object();
  for (const auto& [name, group] : re.NamedCapturingGroups()) {
    record[name] = ValueOf(std::string(found[static_cast<size_t>(group)]));
  }
  return record;
}

Json JsonRecord(const std::string& line) {
  if (!line.starts_with('{') || line.find("\"step\"") == std::string::npos) return {};
  const auto json = ParseJson(line);
  return json.ok() && json->is_object() ? *json : Json();
}

}  // namespace

std::optional<std::string> StepPatternProblem(const std::string& pattern) {
  if (const auto problem = RegexProblem(pattern)) return texts::RegexNotValid(*problem);
  const re2::RE2 re(pattern);
  if (re.NamedCapturingGroups().contains("step")) return std::nullopt;
  return texts::StepPatternWithoutStep();
}

StepReader::StepReader(const StepSource& source) : state_(std::make_unique<State>()) {
  if (!source.regex.empty()) state_->re.emplace(source.regex);
  state_->format = FindStepFormat(source.format);
}

StepReader::~StepReader() = default;
StepReader::StepReader(StepReader&&) noexcept = default;

std::vector<Event> StepReader::Read(const std::string& replica, const std::string& line) {
  std::vector<Event> events;
  if (state_->format) {
    const std::lock_guard lock(state_->mutex);
    for (ReportedStep& found : state_->format->read(line, state_->contexts[replica])) {
      events.push_back(
          {.body = StepEvent{found.step, std::move(found.record), std::move(found.line)}});
    }
  } else {
    Json record = state_->re ? RecordOf(*state_->re, line) : JsonRecord(line);
    const Json* step = Member(record, "step");
    if (step && step->is_number_integer()) {
      const auto number = step->get<int64_t>();
      events.push_back({.body = StepEvent{number, std::move(record), line}});
    }
  }
  if (events.empty()) events.push_back({.body = LogEvent{line}});
  return events;
}

}  // namespace caip::harness
