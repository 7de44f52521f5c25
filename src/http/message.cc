#include "http/message.h"

#include <algorithm>

#include "base/encoding.h"
#include "http/errors.h"

namespace caip::http {
namespace {

constexpr size_t kBodyPieceBytesMin = 4 << 10;  // the body of most requests
constexpr size_t kBodyPieceBytes = 64 << 10;
constexpr size_t kUsualFields = 16;
constexpr size_t kUsualBytes = 640;

}  // namespace

// Makes no lower-case copies, because a request needs some hundred calls.
bool IsFieldName(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != kMarks.npos;
  });
}

bool IsSameFieldName(std::string_view a, std::string_view b) {
  constexpr auto kLower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return kLower(x) == kLower(y); });
}

// The text of a replaced field stays, so that `value` may be a view of it.
void Headers::Set(std::string_view name, std::string_view value) {
  std::erase_if(places_, [&](const Place& place) { return IsSameFieldName(NameAt(place), name); });
  Add(name, value);
}

void Headers::Add(std::string_view name, std::string_view value) {
  if (places_.empty()) {
    places_.reserve(kUsualFields);
    text_.reserve(kUsualBytes);
  }
  places_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()),
                     static_cast<uint32_t>(value.size())});
  if (text_.size() + name.size() + value.size() > text_.capacity()) {
    std::string larger;  // the name or the value may be views of the old text
    larger.reserve(2 * text_.capacity() + name.size() + value.size());
    larger.append(text_).append(name).append(value);
    text_ = std::move(larger);
    return;
  }
  text_.append(name).append(value);
}

std::string_view Headers::Get(std::string_view name) const {
  for (const Place& place : places_) {
    if (IsSameFieldName(NameAt(place), name)) return ValueAt(place);
  }
  return {};
}

bool Headers::Has(std::string_view name) const {
  return std::any_of(places_.begin(), places_.end(),
                     [&](const Place& place) { return IsSameFieldName(NameAt(place), name); });
}

std::vector<Headers::Field> Headers::all() const {
  std::vector<Field> fields;
  fields.reserve(places_.size());
  for (const Place& place : places_) fields.push_back({NameAt(place), ValueAt(place)});
  return fields;
}

std::string_view Request::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

bool Request::HasQuery(std::string_view name) const {
  return std::any_of(query.begin(), query.end(),
                     [&](const auto& parameter) { return parameter.first == name; });
}

std::string Request::BaseUrl() const {
  return scheme + "://" + (userinfo.empty() ? "" : userinfo + "@") + host;
}

Result<std::string> Request::ReadBody(size_t limit) const {
  std::string bytes;
  while (true) {
    const size_t before = bytes.size();
    const size_t piece = std::clamp(before, kBodyPieceBytesMin, kBodyPieceBytes);
    bytes.resize(before + piece);
    ASSIGN_OR_RETURN(const size_t count, body->Read(bytes.data() + before, piece));
    bytes.resize(before + count);
    if (count == 0) return bytes;
    if (bytes.size() > limit) return errors::BodyTooLarge(limit);
  }
}

Response JsonResponse(int status, std::string json) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/json; charset=UTF-8");
  response.body = std::move(json);
  return response;
}

namespace {

std::optional<std::string> DecodeQueryText(std::string_view text) {
  if (text.find_first_of("%+") == std::string_view::npos) return std::string(text);
  std::string blanks(text);
  for (char& c : blanks) {
    if (c == '+') c = ' ';
  }
  return PercentDecoded(blanks);
}

}  // namespace

std::optional<Target> ParseTarget(std::string_view text) {
  std::string authority;
  if (const size_t scheme = text.find("://");
      scheme != std::string_view::npos && !text.starts_with('/')) {
    const std::string_view rest = text.substr(scheme + 3);
    const size_t path = rest.find_first_of("/?#");
    authority = std::string(rest.substr(0, path));
    if (authority.empty()) return std::nullopt;
    text = path == std::string_view::npos ? "/" : rest.substr(path);
  }
  text = text.substr(0, text.find('#'));
  const size_t mark = text.find('?');
  Target target{std::string(text.substr(0, mark)), {}, std::move(authority)};
  if (target.path.empty()) target.path = "/";
  if (target.path != "*" && target.path[0] != '/') return std::nullopt;
  if (mark == std::string_view::npos) return target;
  std::string_view rest = text.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const auto key = DecodeQueryText(pair.substr(0, equals));
    const auto value = DecodeQueryText(equals == std::string_view::npos ? std::string_view()
                                                                        : pair.substr(equals + 1));
    if (!key || !value) return std::nullopt;
    target.query.emplace_back(*key, *value);
  }
  return target;
}

}  // namespace caip::http
