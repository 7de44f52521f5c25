#include "tuning/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace caip::tuning {
namespace {

constexpr double kWholeMax = 0x1p53;  // doubles hold every whole number up to this

std::string_view FormatGeneral(double number, int digits, char (&buffer)[40]) {
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::general, digits).ptr;
  return {buffer, static_cast<size_t>(end - buffer)};
}

bool ParsesAs(std::string_view text, double number) {
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read == number;
}

}  // namespace

std::string TextOf(double number) {
  char buffer[40];
  if (number == 0) return "0";  // and not "-0"
  // A whole number has all its digits, because Python's int() accepts no exponent.
  if (std::fabs(number) < kWholeMax && std::nearbyint(number) == number) {
    return std::to_string(static_cast<int64_t>(number));
  }
  if (const std::string_view text = FormatGeneral(number, 15, buffer); ParsesAs(text, number)) {
    return std::string(text);
  }
  return std::string(FormatGeneral(number, 17, buffer));
}

std::string TextOf(const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return TextOf(*number);
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

namespace {

// Uses halves, so that a range of all doubles does not overflow.
double LinearUnit(double least, double most, double x) {
  return (x / 2 - least / 2) / (most / 2 - least / 2);
}

double LogUnit(double least, double most, double x) {
  return (std::log(x) - std::log(least)) / (std::log(most) - std::log(least));
}

double LogValue(double least, double most, double unit) {
  return std::exp(std::lerp(std::log(least), std::log(most), unit));
}

// Mirrors `x` within the range.
double Mirror(double least, double most, double x) { return (most - x) + least; }

}  // namespace

Scale ParseScale(std::string_view name) {
  if (name == "UNIT_LOG_SCALE") return Scale::kLog;
  if (name == "UNIT_REVERSE_LOG_SCALE") return Scale::kReverseLog;
  return Scale::kLinear;
}

double ToUnit(Scale scale, double least, double most, double x) {
  if (!(least < most)) return 0.5;
  double unit = 0;
  switch (scale) {
    case Scale::kLinear:
      unit = LinearUnit(least, most, x);
      break;
    case Scale::kLog:
      unit = LogUnit(least, most, x);
      break;
    case Scale::kReverseLog:
      unit = 1 - LogUnit(least, most, Mirror(least, most, x));
      break;
  }
  return std::clamp(unit, 0.0, 1.0);
}

double FromUnit(Scale scale, double least, double most, double unit) {
  double x = least;
  switch (scale) {
    case Scale::kLinear:
      x = std::lerp(least, most, unit);
      break;
    case Scale::kLog:
      x = LogValue(least, most, unit);
      break;
    case Scale::kReverseLog:
      x = Mirror(least, most, LogValue(least, most, 1 - unit));
      break;
  }
  return std::clamp(x, least, most);
}

}  // namespace caip::tuning
