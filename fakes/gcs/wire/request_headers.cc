
#include "fakes/gcs/wire/request_headers.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

Status AddSum(std::string_view name, std::string_view text, ExpectedSums* sums) {
  if (name == "md5") {
    sums->md5 = FromBase64(text);
    if (sums->md5 && sums->md5->size() == 16) return Ok{};
  } else if (name == "crc32c") {
    sums->crc32c = ParseCrc32c(text);
    if (sums->crc32c) return Ok{};
  } else {
    return Ok{};
  }
  return errors::FieldInvalid(name, "expected a sum in base64");
}

// True if the name of a field begins with `prefix`.
bool HasFieldsOf(const http::Headers& headers, std::string_view prefix) {
  const std::vector<http::Headers::Field> fields = headers.all();
  return std::any_of(fields.begin(), fields.end(), [&](const http::Headers::Field& field) {
    return http::IsSameFieldName(field.name.substr(0, prefix.size()), prefix);
  });
}

}  // namespace

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::optional<int64_t>> ParseInt(std::string_view name, std::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return errors::ParameterInvalid(name, text, "expected an integer");
  }
  return std::optional<int64_t>(number);
}

Result<std::optional<int64_t>> ParseGeneration(std::string_view name, std::string_view text) {
  ASSIGN_OR_RETURN(const auto number, ParseInt(name, text));
  if (number && *number < 0) return errors::ParameterInvalid(name, text, "it is negative");
  return number;
}

Status AddHeaderSums(const http::Request& request, ExpectedSums* sums) {
  for (const auto& [name, value] : request.headers.all()) {
    if (LowerCase(name) != "x-goog-hash") continue;
    for (const std::string& item : Split(value, ',')) {
      const size_t equals = item.find('=');
      if (equals == std::string::npos) continue;
      RETURN_IF_ERROR(AddSum(Trim(item.substr(0, equals)), Trim(item.substr(equals + 1)), sums));
    }
  }
  const std::string_view md5 = request.headers.Get("Content-MD5");
  return md5.empty() ? Status(Ok{}) : AddSum("md5", md5, sums);
}

Result<std::string> CustomerKeySha256(const http::Request& request, const char* prefix) {
  const auto header = [&](const char* name) {
    return std::string(request.headers.Get(std::string(prefix) + name));
  };
  if (!HasFieldsOf(request.headers, prefix)) return std::string();
  const std::string algorithm = header("algorithm");
  const std::string key = header("key");
  const std::string sum = header("key-sha256");
  if (algorithm.empty() && key.empty() && sum.empty()) return std::string();
  if (algorithm != "AES256") return errors::KeyInvalid("the algorithm must be AES256");
  const auto bytes = FromBase64(key);
  if (!bytes || bytes->size() != kKeyBytes) {
    return errors::KeyInvalid("it must be 32 bytes in base64");
  }
  const std::string computed = Base64(Sha256(*bytes));
  if (!sum.empty() && sum != computed) return errors::KeyInvalid("it does not match its SHA-256");
  return computed;
}

Result<UploadPiece> ReadUploadPiece(const http::Request& request) {
  UploadPiece piece;
  piece.id = std::string(request.Query("upload_id"));
  const std::string_view header = request.headers.Get("Content-Range");
  if (!header.empty()) {
    piece.range = ParseContentRange(header);
    if (!piece.range) return errors::ContentRangeInvalid(header);
    const auto length = ParseNumber(request.headers.Get("Content-Length"));
    const auto& [first, last, total] = *piece.range;
    if (length && first && last && *length != *last - *first + 1) {
      return errors::UploadLengthWrong(*last - *first + 1, *length);
    }
  }
  RETURN_IF_ERROR(AddHeaderSums(request, &piece.sums));
  return piece;
}

http::Response UploadIncomplete(const http::Request& request, uint64_t received) {
  http::Response response;
  response.status = 308;
  if (LowerCase(request.headers.Get("X-Guploader-No-308")) == "yes") {
    response.status = 200;
    response.headers.Add("X-Http-Status-Code-Override", "308");
  }
  if (received > 0) response.headers.Add("Range", "bytes=0-" + std::to_string(received - 1));
  return response;
}

std::string HttpDate(Instant instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant - day);
  std::string text = "Sun, 00 Jan 0000 00:00:00 GMT";
  const auto put = [&text](size_t begin, size_t end, int64_t number) {
    for (size_t at = end; at-- > begin; number /= 10) {
      text[at] = static_cast<char>('0' + number % 10);
    }
  };
  text.replace(0, 3, kDays[std::chrono::weekday(day).c_encoding()]);
  put(5, 7, static_cast<unsigned>(date.day()));
  text.replace(8, 3, kMonths[static_cast<unsigned>(date.month()) - 1]);
  put(12, 16, static_cast<int>(date.year()));
  put(17, 19, time.hours().count());
  put(20, 22, time.minutes().count());
  put(23, 25, time.seconds().count());
  return text;
}

std::optional<Instant> ParseHttpDate(std::string_view text) {
  char month[4] = {};
  int day = 0;
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &day, month, &year, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  for (int i = 0; i < 12; ++i) {
    if (std::string_view(month) != kMonths[i]) continue;
    char spelled[32];
    std::snprintf(spelled, sizeof spelled, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, i + 1, day, hour,
                  minute, second);
    return ParseRfc3339(spelled);
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kBytes = "bytes";

// Like ParseNumber, but a number that is too large counts as the largest one.
std::optional<uint64_t> Position(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!is_number) return std::nullopt;
  return ParseNumber(text).value_or(UINT64_MAX);
}

// "*" is nullopt. False: the text is neither a number nor "*".
bool NumberOrStar(std::string_view text, std::optional<uint64_t>* number) {
  if (text == "*") return true;
  *number = ParseNumber(text);
  return number->has_value();
}

}  // namespace

RequestedRange ParseRange(std::string_view header, uint64_t size) {
  using Kind = RequestedRange::Kind;
  const RequestedRange whole{Kind::kWhole, 0, size};
  header = Trim(header);
  if (!LowerCase(header).starts_with("bytes=")) return whole;
  header = Trim(header.substr(kBytes.size() + 1));
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return whole;
  const std::string_view before = Trim(header.substr(0, dash));
  const std::string_view after = Trim(header.substr(dash + 1));
  const auto first = Position(before);
  const auto last = Position(after);
  if ((!before.empty() && !first) || (!after.empty() && !last) || (!first && !last)) return whole;
  if (!first) {  // the last N bytes
    if (*last == 0 || size == 0) return {Kind::kUnsatisfiable};
    const uint64_t length = std::min(*last, size);
    return {Kind::kPart, size - length, length};
  }
  if (last && *last < *first) return whole;
  if (*first >= size) return {Kind::kUnsatisfiable};
  const uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {Kind::kPart, *first, end - *first + 1};
}

std::optional<ContentRange> ParseContentRange(std::string_view header) {
  header = Trim(header);
  if (!LowerCase(header).starts_with("bytes ")) return std::nullopt;
  header = Trim(header.substr(kBytes.size()));
  const size_t slash = header.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view bytes = header.substr(0, slash);
  ContentRange range;
  if (!NumberOrStar(header.substr(slash + 1), &range.total)) return std::nullopt;
  if (bytes == "*") return range;
  const size_t dash = bytes.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  range.first = ParseNumber(bytes.substr(0, dash));
  if (!range.first || !NumberOrStar(bytes.substr(dash + 1), &range.last)) return std::nullopt;
  if (range.last && *range.last < *range.first) return std::nullopt;
  if (range.last && range.total && *range.last >= *range.total) return std::nullopt;
  return range;
}

}  // namespace caip::gcs
