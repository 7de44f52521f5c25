#pragma once
// Project IDs, as gcloud checks them (core/properties.py, 528): an optional domain and a colon,
// then lowercase letters, digits and dashes. New projects have IDs of at least six characters;
// older IDs are shorter, and a project number is accepted as well.

#include <string_view>

namespace caip::google {

inline constexpr size_t kProjectLabelMax = 63;

/// True for lowercase letters, digits and dashes without a dash at either end.
constexpr bool IsProjectLabel(std::string_view label) {
  if (label.empty() || label.size() > kProjectLabelMax) return false;
  for (const char c : label) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
  }
  return label.front() != '-' && label.back() != '-';
}

/// True for "example.com". The last label begins with a letter; gcloud accepts a dash at the start
/// of the others.
constexpr bool IsProjectDomain(std::string_view domain) {
  for (size_t dot = domain.find('.'); dot != domain.npos; dot = domain.find('.')) {
    const std::string_view label = domain.substr(0, dot);
    if (label.empty() || label.size() > kProjectLabelMax) return false;
    for (const char c : label) {
      if (!IsProjectLabel(std::string_view(&c, 1)) && c != '-') return false;
    }
    domain.remove_prefix(dot + 1);
  }
  return IsProjectLabel(domain) && domain.front() >= 'a';
}

constexpr bool IsProjectId(std::string_view id) {
  const size_t colon = id.find(':');
  if (colon == id.npos) return IsProjectLabel(id);
  return IsProjectDomain(id.substr(0, colon)) && IsProjectLabel(id.substr(colon + 1));
}

}  // namespace caip::google
