#include "http/connection/guard.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "http/transport/endpoint.h"

namespace caip::http {
namespace {

// The host of a URL: an IPv6 address has brackets there.
bool IsLoopbackHost(const std::string& name) {
  const bool has_brackets = name.starts_with('[') && name.ends_with(']');
  if (!has_brackets) return name.find(':') == std::string::npos && IsLoopback(name);
  const std::string inside = name.substr(1, name.size() - 2);
  return inside.find(':') != std::string::npos && IsLoopback(inside);
}

}  // namespace

std::string RemovePort(std::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return LowerCase(has_port ? host.substr(0, colon) : host);
}

bool MatchesName(std::string_view name, std::string_view pattern) {
  const std::string lower = LowerCase(pattern);
  if (!lower.starts_with('*') && !lower.starts_with('.')) return name == lower;
  const std::string_view ending = std::string_view(lower).substr(lower[0] == '*' ? 1 : 0);
  return name.size() > ending.size() && name.ends_with(ending);
}

bool MatchesAnyName(std::string_view name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return MatchesName(name, pattern); });
}

bool IsHostAllowed(std::string_view host, std::string_view listening_address,
                   const std::vector<std::string>& allowed) {
  const std::string name = RemovePort(host);
  if (IsLoopbackHost(name)) return true;
  if (name == LowerCase(listening_address)) return true;
  if (name == "[" + LowerCase(listening_address) + "]") return true;
  return MatchesAnyName(name, allowed);
}

bool IsOriginAllowed(std::string_view origin, std::string_view scheme, std::string_view host) {
  if (origin.empty()) return true;
  return LowerCase(origin) == LowerCase(std::string(scheme) + "://" + std::string(host));
}

bool IsChangeFromOtherSite(const Request& request) {
  const std::string_view site = request.headers.Get("Sec-Fetch-Site");
  const bool is_other = site == "cross-site" || site == "same-site";  // another port is same-site
  return is_other && request.method != "GET" && request.method != "HEAD";
}

bool IsUserAdmitted(std::optional<uid_t> user, const Admission& admission) {
  if (admission.anyone) return true;
  if (!user) return false;
  const std::vector<uint32_t>& users = admission.users;
  return *user == ::geteuid() || *user == 0 ||
         std::find(users.begin(), users.end(), *user) != users.end();
}

bool IsPreflight(const Request& request) {
  return request.method == "OPTIONS" && request.headers.Has("Origin") &&
         request.headers.Has("Access-Control-Request-Method");
}

Response AnswerPreflight(const Request& request) {
  const auto requested = [&](std::string_view name) {
    return std::string(request.headers.Get(name));
  };
  Response response;
  response.status = 204;
  response.headers.Add("Access-Control-Allow-Origin", requested("Origin"));
  response.headers.Add("Access-Control-Allow-Methods", requested("Access-Control-Request-Method"));
  if (request.headers.Has("Access-Control-Request-Headers")) {
    response.headers.Add("Access-Control-Allow-Headers",
                         requested("Access-Control-Request-Headers"));
  }
  response.headers.Add("Access-Control-Max-Age", "3600");
  response.headers.Add("Vary", "Origin");
  return response;
}

}  // namespace caip::http
