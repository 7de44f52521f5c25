#include "tuning/value.h"

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

}  // namespace caip::tuning
