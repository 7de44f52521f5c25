#include "client/flag_values.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "client/errors.h"

namespace caip::client {
namespace {

constexpr std::string_view kLowerAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789";

std::vector<std::string> SplitAt(std::string_view text, std::string_view delimiter) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = text.find(delimiter);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + delimiter.size());
  }
  return parts;
}

// True for letters of any script that are not capitals, by the C library's tables of Unicode.
bool IsLowerLetter(char32_t c) {
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (c < 0x80 || !unicode) return c >= 'a' && c <= 'z';
  return ::iswalpha_l(c, unicode) && !::iswupper_l(c, unicode);
}

bool IsLabelText(const std::u32string& text) {
  return text.size() <= 63 && std::all_of(text.begin(), text.end(), [](char32_t c) {
           return c == '_' || c == '-' || (c >= '0' && c <= '9') || IsLowerLetter(c);
         });
}

std::optional<std::string> PlainDigits(std::string_view text) {
  std::string plain;
  text = Trim(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (text[i] == '_' && i > 0 && digit(i - 1) && digit(i + 1)) continue;
    if (!digit(i) && !(i == 0 && (text[i] == '-' || text[i] == '+') && digit(1))) {
      return std::nullopt;
    }
    if (text[i] != '+') plain += text[i];
  }
  if (plain.empty()) return std::nullopt;
  return plain;
}

}  // namespace

Result<std::vector<std::string>> ParseList(std::string_view text) {
  std::string_view delimiter = ",";
  if (text.starts_with('^') && text.find('^', 1) != std::string_view::npos) {
    const size_t end = text.find('^', 1);
    delimiter = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (delimiter.empty()) return errors::BadListDelimiter();
  }
  return SplitAt(text, delimiter);
}

Result<std::vector<std::pair<std::string, std::string>>> ParseDict(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<std::string> entries, ParseList(text));
  std::vector<std::pair<std::string, std::string>> dict;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (entry.empty() || equals == 0) return errors::EmptyDictKey(entry);
    if (equals == std::string::npos) return errors::NotADictEntry(entry);
    dict.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return dict;
}

Result<int64_t> ParseInteger(std::string_view text) {
  const std::optional<std::string> digits = PlainDigits(text);
  if (!digits) return errors::NotAnInteger(text);
  int64_t value = 0;
  const auto [end, code] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (code == std::errc::result_out_of_range) {
    if (digits->starts_with('-')) return errors::IntegerTooSmall(text, INT64_MIN);
    return errors::IntegerTooLarge(text);
  }
  return value;
}

Result<std::optional<int64_t>> ParseCount(std::string_view text) {
  if (text == "unlimited") return std::optional<int64_t>();
  const Result<int64_t> value = ParseInteger(text);
  if (!value.ok()) return value.error();
  if (*value < 1) return errors::IntegerTooSmall(text, 1);
  return std::optional<int64_t>(*value);
}

Result<bool> ParseBoolean(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "true" || lower == "yes") return true;
  if (lower == "false" || lower == "no") return false;
  return errors::NotABoolean(text);
}

Result<AcceleratorFlag> ParseAccelerator(std::string_view text) {
  ASSIGN_OR_RETURN(const auto entries, ParseDict(text));
  AcceleratorFlag accelerator;
  bool has_count = false;
  for (const auto& [key, value] : entries) {
    if (key == "type") {
      accelerator.type = AcceleratorOfChoice(value);
      if (accelerator.type.empty()) {
        return errors::UnknownAccelerator(value, AcceleratorChoices());
      }
    } else if (key == "count") {
      ASSIGN_OR_RETURN(accelerator.count, ParseInteger(value));
      if (accelerator.count < 1) return errors::AcceleratorCountTooSmall();
      has_count = true;
    } else {
      return errors::AcceleratorKeyUnknown(key);
    }
  }
  if (accelerator.type.empty()) return errors::AcceleratorKeyMissing("type");
  if (!has_count) return errors::AcceleratorKeyMissing("count");
  return accelerator;
}

Result<std::map<std::string, std::string>> ParseLabels(std::string_view text) {
  ASSIGN_OR_RETURN(const auto entries, ParseDict(text));
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : entries) {
    const auto letters = IsUtf8(key) ? DecodeUtf8(key) : std::u32string{};
    if (letters.empty() || !IsLowerLetter(letters.front()) || !IsLabelText(letters)) {
      return errors::BadLabelKey(key);
    }
    if (!IsUtf8(value) || !IsLabelText(DecodeUtf8(value))) return errors::BadLabelValue(value);
    labels[key] = value;
  }
  return labels;
}

Status CheckServiceAccount(std::string_view text) {
  // ^(.+@.+\..+|[0-9]+)$
  const bool number = IsDigits(text);
  const size_t last_dot = text.substr(0, text.empty() ? 0 : text.size() - 1).rfind('.');
  const size_t at = text.find('@', 1);
  const bool address = at != std::string_view::npos && last_dot != std::string_view::npos &&
                       at + 1 < last_dot && text.find('\n') == std::string_view::npos;
  if (number || address) return Ok{};
  return errors::BadServiceAccount(text);
}

Status CheckBucketName(std::string_view bucket) {
  const std::vector<std::string> parts = Split(bucket, '.');
  const bool part_too_long = std::any_of(parts.begin(), parts.end(),
                                         [](const std::string& part) { return part.size() > 63; });
  if (bucket.size() < 3 || bucket.size() > 222 || part_too_long) {
    return errors::BadBucketName(
        bucket,
        "Bucket names must contain 3 to 63 characters. Names containing dots can contain up to 222 "
        "characters, but each dot-separated component can be no longer than 63 characters.");
  }
  if (bucket.find_first_not_of(std::string(kLowerAndDigits) + "-_.") != std::string_view::npos) {
    return errors::BadBucketName(bucket,
                                 "Bucket names must contain only lowercase letters, numbers, "
                                 "dashes (-), underscores (_), and dots (.).");
  }
  if (kLowerAndDigits.find(bucket.front()) == std::string_view::npos ||
      kLowerAndDigits.find(bucket.back()) == std::string_view::npos) {
    return errors::BadBucketName(bucket,
                                 "Bucket names must start and end with a number or letter.");
  }
  if (parts.size() == 4 && bucket.find_first_not_of("0123456789.") == std::string_view::npos) {
    return errors::BadBucketName(bucket,
                                 "Bucket names cannot be represented as an IP address in "
                                 "dotted-decimal notation (for example, 192.168.5.4).");
  }
  return Ok{};
}

Status CheckObjectName(std::string_view object) {
  if (object.size() > 1024) {
    return errors::BadObjectName(object,
                                 "Object names can contain any sequence of valid Unicode "
                                 "characters, of length 1-1024 bytes when UTF-8 encoded.");
  }
  if (object.find_first_of("\r\n") != std::string_view::npos) {
    return errors::BadObjectName(
        object, "Object names must not contain Carriage Return or Line Feed characters.");
  }
  return Ok{};
}

Result<std::string> ParseStagingBucket(std::string_view text) {
  if (!google::HasGcsScheme(text)) return errors::StagingBucketForm(text);
  std::string_view bucket = text.substr(google::kGcsScheme.size());
  while (bucket.ends_with('/')) bucket.remove_suffix(1);
  if (bucket.find('/') != std::string_view::npos) return errors::BucketWithFolder(bucket);
  RETURN_IF_ERROR(CheckBucketName(bucket));
  return std::string(bucket);
}

Result<google::GcsUri> ParseObject(std::string_view url) {
  std::optional<google::GcsUri> uri = google::SplitGcsUri(url);
  if (!uri || uri->bucket.empty()) return errors::ObjectForm(url);
  if (!uri->object.empty()) {
    RETURN_IF_ERROR(CheckBucketName(uri->bucket));
    RETURN_IF_ERROR(CheckObjectName(uri->object));
  }
  return *std::move(uri);
}

}  // namespace caip::client
