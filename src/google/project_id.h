#pragma once
// What may be a project's id, as gcloud checks it (core/properties.py, 528): an optional domain and
// a colon, then small letters, digits and dashes. The resource manager wants at least six letters
// of new projects; old ids are shorter, and a number stands for a project too.

#include <string_view>

namespace caip::google {

inline constexpr size_t kProjectLabelMax = 63;

/// Letters, digits and dashes, no dash at an end.
constexpr bool IsProjectLabel(std::string_view label) {
  if (label.empty() || label.size() > kProjectLabelMax) return false;
  for (const char c : label) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
  }
  return label.front() != '-' && label.back() != '-';
}

/// "example.com": the last label begins with a letter; gcloud lets the others begin with a dash.
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
