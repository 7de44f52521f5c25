#include "harness/events/step_reader.h"

#include <re2/re2.h>

#include <vector>

#include "harness/faults/trigger.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {

struct StepReader::Pattern {
  explicit Pattern(const std::string& text) : re(text) {}
  re2::RE2 re;
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

}  // namespace

std::optional<std::string> StepPatternProblem(const std::string& pattern) {
  if (const auto problem = RegexProblem(pattern)) return texts::RegexNotValid(*problem);
  const re2::RE2 re(pattern);
  if (re.NamedCapturingGroups().contains("step")) return std::nullopt;
  return texts::StepPatternWithoutStep();
}

StepReader::StepReader(const std::string& pattern) {
  if (!pattern.empty()) pattern_ = std::make_shared<Pattern>(pattern);
}

Event StepReader::Read(const std::string& line) const {
  Event event{.body = LogEvent{line}};
  Json record;
  if (pattern_) {
    record = RecordOf(pattern_->re, line);
  } else if (line.starts_with('{') && line.find("\"step\"") != std::string::npos) {
    const auto json = ParseJson(line);
    if (json.ok() && json->is_object()) record = *json;
  }
  const Json* step = Member(record, "step");
  if (!step || !step->is_number_integer()) return event;
  const auto number = step->get<int64_t>();
  event.body = StepEvent{number, std::move(record), line};
  return event;
}

}  // namespace caip::harness
