#include "base/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/json.h"
#include "base/text.h"

namespace caip {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Takes all leading characters of `text` that are `allowed`. True if there was one.
bool Eat(std::string_view& text, std::string_view allowed) {
  const size_t end = std::min(text.find_first_not_of(allowed), text.size());
  text.remove_prefix(end);
  return end > 0;
}

bool EatOne(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Takes ":30" or ":5", the base-60 digits of 1:30.
bool EatSexagesimal(std::string_view& text) {
  bool any = false;
  while (text.size() > 1 && text[0] == ':' && kDigits.find(text[1]) != std::string_view::npos) {
    const bool two = text.size() > 2 && text[1] <= '5' && text[2] >= '0' && text[2] <= '9';
    text.remove_prefix(two ? 3 : 2);
    any = true;
  }
  return any;
}

// Whether the rest of the text is [eE][-+]?[0-9]+. With `sign_needed` the sign is mandatory (a
// quirk of the reader's pattern for floats that begin with a dot).
bool IsExponent(std::string_view text, bool sign_needed) {
  if (!EatOne(text, "eE")) return false;
  if (!EatOne(text, "-+") && sign_needed) return false;
  return Eat(text, kDigits) && text.empty();
}

bool IsFloat(std::string_view text) {
  const std::string_view whole = text;
  EatOne(text, "-+");
  if (text == ".inf" || text == ".Inf" || text == ".INF") return true;
  if (whole == ".nan" || whole == ".NaN" || whole == ".NAN") return true;
  if (whole.starts_with('.')) {
    text.remove_prefix(1);
    const bool digits = text.find_first_of(kDigits) == 0;
    return Eat(text, "0123456789_") && digits && (text.empty() || IsExponent(text, true));
  }
  if (text.empty() || kDigits.find(text.front()) == std::string_view::npos) return false;
  Eat(text, "0123456789_");
  if (IsExponent(text, false)) return true;
  const bool sexagesimal = EatSexagesimal(text);
  if (!EatOne(text, ".")) return false;
  Eat(text, "0123456789_");
  return text.empty() || (!sexagesimal && IsExponent(text, false));
}

bool AllOf(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos &&
         text.find_first_not_of('_') != std::string_view::npos;
}

bool IsInt(std::string_view text) {
  EatOne(text, "-+");
  if (text.empty()) return false;
  if (text.starts_with("0b")) return AllOf(text.substr(2), "01_");
  if (text.starts_with("0x")) return AllOf(text.substr(2), "0123456789abcdefABCDEF_");
  if (AllOf(text, "01234567_")) return true;
  if (text.front() < '1' || text.front() > '9') return false;
  Eat(text, "0123456789_");
  EatSexagesimal(text);
  return text.empty();
}

// Takes `least` to `most` digits. Returns their number, or 0 if there are fewer.
size_t EatDigits(std::string_view& text, size_t least, size_t most) {
  const size_t count = std::min(text.find_first_not_of(kDigits), text.size());
  if (count < least || count > most) return 0;
  text.remove_prefix(count);
  return count;
}

// Whether the text is "", "Z", "+1" or "-01:30", perhaps after blanks.
bool IsZone(std::string_view text) {
  if (text.empty()) return true;
  Eat(text, " \t");
  if (text == "Z") return true;
  if (!EatOne(text, "-+") || !EatDigits(text, 1, 2)) return false;
  return text.empty() || (EatOne(text, ":") && EatDigits(text, 2, 2) && text.empty());
}

bool IsTimeOfDay(std::string_view text) {
  if (!EatOne(text, "Tt") && !Eat(text, " \t")) return false;
  if (!EatDigits(text, 1, 2) || !EatOne(text, ":") || !EatDigits(text, 2, 2)) return false;
  if (!EatOne(text, ":") || !EatDigits(text, 2, 2)) return false;
  if (EatOne(text, ".")) Eat(text, kDigits);
  return IsZone(text);
}

// A date alone has two digits for month and day; before a time, one is enough.
bool IsTimestamp(std::string_view text) {
  if (!EatDigits(text, 4, 4) || !EatOne(text, "-")) return false;
  const size_t month = EatDigits(text, 1, 2);
  if (!month || !EatOne(text, "-")) return false;
  const size_t day = EatDigits(text, 1, 2);
  if (!day) return false;
  return text.empty() ? month == 2 && day == 2 : IsTimeOfDay(text);
}

bool AreAll(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

bool IsNumberInYaml12(std::string_view text) {
  const bool has_sign = EatOne(text, "-+");
  if (text == ".inf" || text == ".Inf" || text == ".INF") return true;
  if (!has_sign && (text == ".nan" || text == ".NaN" || text == ".NAN")) return true;
  if (text.starts_with("0b") && AreAll(text.substr(2), "01_")) return true;
  if (text.starts_with("0x") && AreAll(text.substr(2), "0123456789abcdefABCDEF_")) return true;
  if (text.starts_with("0o") && AreAll(text.substr(2), "01234567_")) return true;
  if (has_sign && AreAll(text, "0123456789_")) return true;
  if (EatOne(text, ".")) {
    return Eat(text, "0123456789_") && (text.empty() || IsExponent(text, true));
  }
  if (!EatOne(text, kDigits)) return false;
  Eat(text, "0123456789_");
  if (!EatOne(text, ".")) return text.empty() || IsExponent(text, false);
  Eat(text, "0123456789_");
  return text.empty() || IsExponent(text, false);
}

std::optional<bool> BoolOf(std::string_view text) {
  const std::string lower = LowerCase(text);
  for (std::string_view word : {"y", "yes", "true", "on"}) {
    if (lower == word) return true;
  }
  for (std::string_view word : {"n", "no", "false", "off"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

// Whether the text is all lower case, all upper case, or a capital and lower case: "oN" is text.
bool IsOfOneCase(std::string_view text) {
  const std::string lower = LowerCase(text);
  std::string capital = lower;
  capital[0] = UpperCase(lower)[0];
  return text == lower || text == UpperCase(text) || text == capital;
}

// Reads the digits of `text` in `base`. A number beyond 64 bits becomes the nearest float.
std::optional<Json> Number(std::string_view text, int base, bool negative) {
  uint64_t magnitude = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (code == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (code == std::errc::result_out_of_range || (negative && magnitude > kMax)) {
    double value = base == 10 ? std::strtod(std::string(text).c_str(), nullptr) : 0;
    for (char c : base == 10 ? std::string_view() : text) {
      const char digit = LowerCase({&c, 1})[0];
      value = value * base + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return Json(negative ? -value : value);
  }
  if (negative) return Json(-static_cast<int64_t>(magnitude));
  return magnitude > kMax ? Json(magnitude) : Json(static_cast<int64_t>(magnitude));
}

std::optional<double> Decimal(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

// Reads 190:20:30 in base 60.
std::optional<double> Sexagesimal(std::string_view text) {
  double value = 0;
  for (const std::string& part : Split(text, ':')) {
    const std::optional<double> digit = Decimal(part);
    if (!digit) return std::nullopt;
    value = value * 60 + *digit;
  }
  return value;
}

std::optional<Json> IntOf(std::string_view text) {
  const std::string plain = ReplaceAll(std::string(text), "_", "");
  std::string_view digits = plain;
  const bool negative = digits.starts_with('-');
  EatOne(digits, "-+");
  if (digits.starts_with("0b")) return Number(digits.substr(2), 2, negative);
  if (digits.starts_with("0x")) return Number(digits.substr(2), 16, negative);
  if (digits.size() > 1 && digits[0] == '0') return Number(digits, 8, negative);
  if (digits.find(':') == std::string_view::npos) return Number(digits, 10, negative);
  const std::optional<double> value = Sexagesimal(digits);
  if (!value || *value > 9e15) return std::nullopt;
  return Json(static_cast<int64_t>(negative ? -*value : *value));
}

std::optional<Json> FloatOf(std::string_view text) {
  const std::string plain = LowerCase(ReplaceAll(std::string(text), "_", ""));
  std::string_view digits = plain;
  const double sign = digits.starts_with('-') ? -1 : 1;
  EatOne(digits, "-+");
  if (digits == ".inf") return Json(sign * std::numeric_limits<double>::infinity());
  if (digits == ".nan") return Json(std::numeric_limits<double>::quiet_NaN());
  const bool sexagesimal = digits.find(':') != std::string_view::npos;
  const std::optional<double> value =
      sexagesimal ? Sexagesimal(digits) : Decimal(std::string(digits));
  if (!value) return std::nullopt;
  return Json(sign * *value);
}

}  // namespace

ScalarType ScalarTypeOf(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return ScalarType::kNull;
  }
  if (text.size() <= 5 && BoolOf(text) && IsOfOneCase(text)) return ScalarType::kBool;
  if (text == "<<") return ScalarType::kMerge;
  if (text == "=") return ScalarType::kValue;
  if (std::string_view("-+.0123456789").find(text.front()) == std::string_view::npos) {
    return ScalarType::kText;
  }
  if (IsFloat(text)) return ScalarType::kFloat;
  if (text.front() != '.' && IsInt(text)) return ScalarType::kInt;
  return IsTimestamp(text) ? ScalarType::kTimestamp : ScalarType::kText;
}

bool IsTypedInYaml12(std::string_view text) {
  constexpr std::string_view kWords[] = {"true", "True", "TRUE", "false", "False", "FALSE", "~",
                                         "null", "Null", "NULL", "<<",    "=",     ""};
  if (std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords)) return true;
  return IsNumberInYaml12(text) || IsTimestamp(text);
}

std::optional<Json> ScalarAs(ScalarType type, std::string_view text) {
  switch (type) {
    case ScalarType::kNull:
      return Json(nullptr);
    case ScalarType::kBool: {
      const std::optional<bool> value = BoolOf(text);
      return value ? std::optional<Json>(*value) : std::nullopt;
    }
    case ScalarType::kInt:
      return IntOf(text);
    case ScalarType::kFloat:
      return FloatOf(text);
    default:
      return Json(std::string(text));
  }
}

bool IsQuoteClosed(std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (quote != '"' && quote != '\'') return true;
  for (size_t i = 1; i < text.size(); ++i) {
    const bool is_escape = quote == '"' && text[i] == '\\';
    const bool is_doubled = quote == '\'' && text.substr(i, 2) == "''";
    if (is_escape || is_doubled) {
      ++i;
    } else if (text[i] == quote) {
      return true;
    }
  }
  return false;
}

}  // namespace caip
