#include "images/image_reference.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "images/errors.h"

namespace caip::images {
namespace {

constexpr size_t kTagMax = 128;
constexpr size_t kRepositoryMax = 255;
constexpr std::string_view kDockerHub = "docker.io";
constexpr std::string_view kLibrary = "library/";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || IsUpper(c); }

// One part of a path: words of lower-case letters and digits, separated by one '.', one or two
// '_', or any number of '-'.
bool IsPathPart(std::string_view part) {
  if (part.empty() || !IsLowerOrDigit(part.front()) || !IsLowerOrDigit(part.back())) return false;
  for (size_t at = 0; at < part.size();) {
    if (IsLowerOrDigit(part[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < part.size() && part[end] == part[at]) ++end;
    const size_t length = end - at;
    const char separator = part[at];
    if (end == part.size() || !IsLowerOrDigit(part[end])) return false;
    if (separator == '.' ? length > 1 : separator == '_' ? length > 2 : separator != '-') {
      return false;
    }
    at = end;
  }
  return true;
}

bool IsHostName(std::string_view name) {
  for (const std::string& label : Split(name, '.')) {
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    if (!std::all_of(label.begin(), label.end(),
                     [](char c) { return IsLetterOrDigit(c) || c == '-'; })) {
      return false;
    }
  }
  return true;
}

// A name or an IPv6 address in brackets, and perhaps a port.
bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    if (close == std::string_view::npos || close == 1) return false;
    const std::string_view address = host.substr(1, close - 1);
    if (address.find_first_not_of("0123456789abcdefABCDEF:") != std::string_view::npos)
      return false;
    const std::string_view rest = host.substr(close + 1);
    return rest.empty() || (rest.front() == ':' && IsDigits(rest.substr(1)));
  }
  const size_t colon = host.find(':');
  if (colon == std::string_view::npos) return IsHostName(host);
  return IsHostName(host.substr(0, colon)) && IsDigits(host.substr(colon + 1));
}

// As docker decides it: "a/b" is a path, "a.b/c", "a:1/c" and "localhost/c" have a host.
bool LooksLikeHost(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:[") != std::string_view::npos ||
         std::any_of(part.begin(), part.end(), IsUpper);
}

std::string WhyNotAPath(std::string_view path) {
  if (path.empty()) return "the name of the image is missing";
  if (std::any_of(path.begin(), path.end(), IsUpper)) {
    return "the path of a repository has no upper-case letters";
  }
  return "each part of the path needs lower-case letters and digits, with '.', '_' or '-' only "
         "between them";
}

}  // namespace

bool IsTag(std::string_view text) {
  if (text.empty() || text.size() > kTagMax || text.front() == '.' || text.front() == '-') {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '.' || c == '-'; });
}

bool IsRepositoryPath(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '/');
  return std::all_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return IsPathPart(part); });
}

Result<ImageReference> ImageReference::Parse(std::string_view text) {
  ImageReference reference;
  std::string_view name = text;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    const auto digest = Digest::Parse(name.substr(at + 1));
    if (!digest.ok()) {
      return errors::ImageNameInvalid(
          text, "the part after '@' must be sha256: and 64 lower-case hexadecimal digits");
    }
    reference.digest_ = *digest;
    name = name.substr(0, at);
  }
  const size_t slash = name.rfind('/');
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    reference.tag_ = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (!IsTag(reference.tag_)) {
      return errors::ImageNameInvalid(
          text,
          "a tag has 1 to 128 letters, digits, '_', '.' and '-', and no '.' or '-' at its "
          "beginning");
    }
  }
  const size_t first = name.find('/');
  if (first != std::string_view::npos && LooksLikeHost(name.substr(0, first))) {
    reference.host_ = name.substr(0, first);
    reference.path_ = name.substr(first + 1);
    if (!IsHost(reference.host_)) {
      return errors::ImageNameInvalid(
          text, "the part before the first '/' is not the name of a host, with or without a port");
    }
  } else {
    reference.host_ = kDockerHub;
    reference.path_ = name;
  }
  if (!IsRepositoryPath(reference.path_)) {
    return errors::ImageNameInvalid(text, WhyNotAPath(reference.path_));
  }
  if (reference.host_ == kDockerHub && reference.path_.find('/') == std::string::npos) {
    reference.path_ = std::string(kLibrary) + reference.path_;
  }
  if (reference.repository().size() > kRepositoryMax) {
    return errors::ImageNameInvalid(text, "the host and the path have more than 255 characters");
  }
  if (reference.tag_.empty() && !reference.digest_) reference.tag_ = "latest";
  return reference;
}

std::string ImageReference::text() const {
  std::string text = repository();
  if (!tag_.empty()) text += ":" + tag_;
  if (digest_) text += "@" + digest_->text();
  return text;
}

namespace {

// A short name is used only if docker reads it as the same repository: not "a.b/c" for
// "docker.io/a.b/c".
std::string_view FamiliarRepository(std::string_view repository) {
  std::string_view name = repository;
  for (const std::string_view prefix : {kDockerHub, kLibrary}) {
    if (!name.starts_with(prefix)) break;
    const std::string_view shorter = name.substr(prefix.size() + (prefix == kDockerHub ? 1 : 0));
    const auto reference = ImageReference::Parse(shorter);
    if (reference.ok() && reference->repository() == repository) name = shorter;
  }
  return name;
}

}  // namespace

std::string FamiliarName(std::string_view repository, std::string_view tag) {
  return std::string(FamiliarRepository(repository)) + ":" + std::string(tag);
}

std::string FamiliarName(std::string_view repository, const Digest& digest) {
  return std::string(FamiliarRepository(repository)) + "@" + digest.text();
}

}  // namespace caip::images
