#include "host/metric_file.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace caip::host {
namespace {

// As Python's float() reads what its str() writes: "0.91", "1e-05", "nan", "inf", "-inf".
std::optional<double> NumberIn(std::string_view text) {
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
  return NumberIn(value->get_ref<const std::string&>());
}

std::optional<engine::Report> ReportIn(std::string_view line, std::string_view tag) {
  const auto json = ParseJson(line);
  if (!json.ok()) return std::nullopt;
  const auto value = NumberOf(Member(*json, tag));
  if (!value) return std::nullopt;
  const double step = NumberOf(Member(*json, "global_step")).value_or(0);
  const double time = NumberOf(Member(*json, "timestamp")).value_or(0);
  if (!(std::abs(step) < 9e18) || !std::isfinite(time)) return std::nullopt;
  return engine::Report{static_cast<int64_t>(step), *value, time, false};
}

}  // namespace

std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag) {
  std::vector<engine::Report> reports;
  while (true) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return reports;  // what stands behind is not whole
    if (auto report = ReportIn(text.substr(0, end), tag)) reports.push_back(*report);
    text.remove_prefix(end + 1);
  }
}

}  // namespace caip::host
