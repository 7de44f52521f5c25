#include "fakes/registry/names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "fakes/registry/errors.h"
#include "images/image_reference.h"

namespace caip::registry {
namespace {

constexpr size_t kNameMax = 255;  // with its host; many clients have this limit

std::string HostWithoutPort(std::string_view host) {
  return LowerCase(host.substr(0, host.find(':')));
}

bool IsHostLabel(std::string_view label) {
  return !label.empty() && std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-';
  });
}

}  // namespace

bool IsRegistryHost(std::string_view host) {
  const std::string name = HostWithoutPort(host);
  if (name == kDefaultHost) return true;
  if (!name.ends_with(".gcr.io") && !name.ends_with(".pkg.dev")) return false;
  const std::vector<std::string> labels = Split(name, '.');
  return std::all_of(labels.begin(), labels.end(), IsHostLabel);
}

Result<Repository> FindRepository(std::string_view host, std::string_view name) {
  if (name.size() > kNameMax) return errors::NameInvalid(name, errors::kNameTooLong);
  if (!images::IsRepositoryPath(name)) return errors::NameInvalid(name, errors::kNameRule);
  const size_t slash = name.find('/');
  const bool is_complete = slash != name.npos && IsRegistryHost(name.substr(0, slash));
  std::string stored(name);
  if (IsRegistryHost(host)) {
    stored = HostWithoutPort(host) + "/" + stored;
  } else if (!is_complete) {
    stored = std::string(kDefaultHost) + "/" + stored;
  }
  if (stored.size() > kNameMax) return errors::NameInvalid(name, errors::kNameTooLong);
  return Repository{std::string(name), std::move(stored)};
}

std::optional<std::string> ShownName(std::string_view host, std::string_view stored) {
  const bool at_registry = IsRegistryHost(host);
  const std::string prefix =
      (at_registry ? HostWithoutPort(host) : std::string(kDefaultHost)) + "/";
  if (!stored.starts_with(prefix)) {
    const bool is_named = !at_registry && IsRegistryHost(stored.substr(0, stored.find('/')));
    return is_named ? std::optional<std::string>(stored) : std::nullopt;
  }
  const std::string_view rest = stored.substr(prefix.size());
  const bool is_short = at_registry || !IsRegistryHost(rest.substr(0, rest.find('/')));
  return std::string(is_short ? rest : stored);
}

Result<Reference> ParseReference(std::string_view text) {
  if (text.find(':') != text.npos) {
    ASSIGN_OR_RETURN(const images::Digest digest, images::Digest::Parse(text));
    return Reference{"", digest};
  }
  if (!images::IsTag(text)) return errors::TagInvalid(text);
  return Reference{std::string(text), std::nullopt};
}

}  // namespace caip::registry
