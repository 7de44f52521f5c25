#pragma once
// Checks that decide which requests the server accepts. A web page can make a browser send requests
// to a loopback port, with the page's own host name (DNS rebinding) or with its Origin. The checks
// refuse both.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "http/server.h"

namespace caip::http {

/// Returns "[::1]" for "[::1]:80" and "local" for "Local:80".
std::string RemovePort(std::string_view host);
/// True if a lower-case name matches a pattern. "*.x.org" and ".x.org" match any subdomain,
/// "*-ml.x.org" matches any prefix; any other pattern matches only itself.
bool MatchesName(std::string_view name, std::string_view pattern);
bool MatchesAnyName(std::string_view name, const std::vector<std::string>& patterns);

/// True for 127.0.0.0/8, [::1], localhost, the address of the listener, and a match of `allowed`.
bool IsHostAllowed(std::string_view host, std::string_view listening_address,
                   const std::vector<std::string>& allowed);
/// True without an Origin (not a browser), and for exactly that of the server's own pages.
bool IsOriginAllowed(std::string_view origin, std::string_view scheme, std::string_view host);

/// True if a browser sends the request for a page of another site, and it may change something.
/// (Pages of other sites may show objects, but cannot read answers.)
bool IsChangeFromOtherSite(const Request& request);

/// Whether the user who opened the other end of a connection may send requests. nullopt: the user
/// is not known.
bool IsUserAdmitted(std::optional<uid_t> user, const Admission& admission);

/// True if a request is a browser's preflight for a request across origins (CORS).
bool IsPreflight(const Request& request);
/// Permits the method and the headers that the browser asks for. The Origin must be allowed.
Response AnswerPreflight(const Request& request);

}  // namespace caip::http
