#include "http/message.h"

#include <algorithm>

#include "http/errors.h"

namespace caip::http {
namespace {

constexpr size_t kBodyPieceBytes = 64 << 10;

}  // namespace

// Makes no copy in lower case: some hundred calls per request.
bool IsSameFieldName(std::string_view a, std::string_view b) {
  constexpr auto kLower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return kLower(x) == kLower(y); });
}

void Headers::Set(std::string name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return IsSameFieldName(field.first, name); });
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::Add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

std::string_view Headers::Get(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (IsSameFieldName(field, name)) return value;
  }
  return {};
}

bool Headers::Has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const auto& field) { return IsSameFieldName(field.first, name); });
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

Result<std::string> Request::ReadBody(size_t limit) const {
  std::string bytes;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(before + kBodyPieceBytes);
    ASSIGN_OR_RETURN(const size_t count, body->Read(bytes.data() + before, kBodyPieceBytes));
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

}  // namespace caip::http
