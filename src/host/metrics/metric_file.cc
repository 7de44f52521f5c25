#include "host/metrics/metric_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/json.h"

namespace caip::host {
namespace {

// As Python's float() reads what its str() writes: "0.91", "1e-05", "nan", "inf", "-inf".
std::optional<double> NumberInMetricFile(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    const bool small = text.find("e-") != std::string_view::npos;
    number = small ? 0 : std::numeric_limits<double>::infinity();
    if (text.starts_with('-')) number = -number;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  if (end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> NumberOf(const Json* value) {
  if (!value) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  if (!value->is_string()) return std::nullopt;
  return NumberInMetricFile(value->get_ref<const std::string&>());
}

// Python's json writes NaN, Infinity and -Infinity bare, which is not valid JSON: here they become
// texts.
std::string WithQuotedNumbers(std::string_view line) {
  std::string quoted;
  bool in_text = false;
  while (!line.empty()) {
    size_t length = 1;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!in_text && line.starts_with(word)) length = word.size();
    }
    if (in_text && line.front() == '\\') length = std::min<size_t>(2, line.size());
    if (line.front() == '"') in_text = !in_text;
    const std::string_view piece = line.substr(0, length);
    quoted += in_text || length == 1 ? std::string(piece) : '"' + std::string(piece) + '"';
    line.remove_prefix(length);
  }
  return quoted;
}

std::optional<Json> ObjectIn(std::string_view line) {
  auto json = ParseJson(line);
  if (!json.ok()) json = ParseJson(WithQuotedNumbers(line));
  if (!json.ok() || !json->is_object()) return std::nullopt;
  return *std::move(json);
}

std::optional<engine::Report> ReportIn(std::string_view line, std::string_view tag) {
  const auto json = ObjectIn(line);
  if (!json) return std::nullopt;
  const auto value = NumberOf(Member(*json, tag));
  if (!value) return std::nullopt;
  const double step = NumberOf(Member(*json, "global_step")).value_or(0);
  const double time = NumberOf(Member(*json, "timestamp")).value_or(0);
  if (!(std::abs(step) < 9e18) || !std::isfinite(time)) return std::nullopt;
  return engine::Report{static_cast<int64_t>(step), *value, time, false};
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

constexpr size_t kMetricFileTagsMax = 20;

}  // namespace

std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag) {
  std::vector<engine::Report> reports;
  for (const std::string_view line : LinesOf(text)) {
    if (auto report = ReportIn(line, tag)) reports.push_back(*report);
  }
  return reports;
}

std::set<std::string> TagsIn(std::string_view text) {
  std::set<std::string> tags;
  for (const std::string_view line : LinesOf(text)) {
    const auto json = ObjectIn(line);
    if (!json) continue;
    for (const auto& [key, value] : json->items()) {
      const bool is_tag = key != "global_step" && key != "timestamp" && key != "trial";
      if (is_tag && tags.size() < kMetricFileTagsMax && NumberOf(&value)) tags.insert(key);
    }
  }
  return tags;
}

}  // namespace caip::host
