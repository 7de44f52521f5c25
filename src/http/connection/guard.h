#pragma once
// Who may speak to us. A page on the web can make a browser send requests to a loopback port, under
// the page's own host name (DNS rebinding) or with its Origin: both are told apart here.

#include <string>
#include <string_view>
#include <vector>

namespace caip::http {

/// "[::1]:80" -> "[::1]", "Local:80" -> "local".
std::string HostWithoutPort(std::string_view host);

/// Whether a lower-case name is the pattern's: itself, or with a leading "*" any that ends so
/// ("*.x.org": any subdomain, "*-ml.x.org": with any region before it). ".x.org" is "*.x.org".
bool NameFits(std::string_view name, std::string_view pattern);
bool NameFitsAny(std::string_view name, const std::vector<std::string>& patterns);

/// 127.0.0.0/8, [::1], localhost, the address we listen on, or one that fits `allowed`.
bool HostAllowed(std::string_view host, std::string_view listening_address,
                 const std::vector<std::string>& allowed);

/// No Origin at all (no browser), or exactly the one of our own pages.
bool OriginAllowed(std::string_view origin, std::string_view scheme, std::string_view host);

}  // namespace caip::http
