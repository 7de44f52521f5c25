#include "fakes/gcs/store/names.h"

#include <arpa/inet.h>

#include "base/text.h"

namespace caip::gcs {
namespace {

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool HasBadNeighbour(std::string_view name) {
  for (std::string_view pair : {"..", ".-", "-."}) {
    if (name.find(pair) != std::string_view::npos) return true;
  }
  return false;
}

bool IsAddress(std::string_view name) {
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(name).c_str(), &address) == 1;
}

}  // namespace

std::optional<std::string> BucketNameProblem(std::string_view name) {
  const bool dotted = name.find('.') != std::string_view::npos;
  if (name.size() < 3 || name.size() > (dotted ? 222u : 63u)) {
    return "it must have 3 to 63 characters (up to 222 with dots)";
  }
  for (char c : name) {
    if (!IsLetterOrDigit(c) && c != '-' && c != '_' && c != '.') {
      return "it may only have lower-case letters, digits, '-', '_' and '.'";
    }
  }
  if (!IsLetterOrDigit(name.front()) || !IsLetterOrDigit(name.back())) {
    return "it must begin and end with a letter or digit";
  }
  if (HasBadNeighbour(name)) return "a dot must stand between letters or digits";
  for (const std::string& part : Split(name, '.')) {
    if (part.size() > 63) return "each part between dots may have 63 characters at most";
  }
  if (IsAddress(name)) return "it must not look like an IP address";
  if (name.starts_with("goog")) return "it must not begin with 'goog'";
  if (name.find("google") != std::string_view::npos ||
      name.find("g00gle") != std::string_view::npos) {
    return "it must not contain 'google' or anything like it";
  }
  return std::nullopt;
}

std::optional<std::string> ObjectNameProblem(std::string_view name) {
  if (name.empty()) return "it must not be empty";
  if (name.size() > kObjectNameBytesMax) return "it may have 1024 bytes at most";
  if (!IsUtf8(name)) return "it must be UTF-8";
  if (name.find_first_of("\r\n") != std::string_view::npos) return "it must not have a line end";
  if (name == "." || name == "..") return "it must not be '.' or '..'";
  if (name.starts_with(".well-known/acme-challenge/")) {
    return "it must not begin with '.well-known/acme-challenge/'";
  }
  return std::nullopt;
}

}  // namespace caip::gcs
