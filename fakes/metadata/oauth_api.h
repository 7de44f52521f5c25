#pragma once
// Google's token endpoints, as users of a service account's key file or of gcloud's own credentials
// reach them: /token, /tokeninfo, /revoke, and the certificates by which identity tokens are
// checked.

#include <string>
#include <vector>

#include "fakes/metadata/token_mint.h"
#include "http/router.h"

namespace caip::metadata {

/// Below this path all of it is served on any name, and the key file of an account
/// (/keyFile?account=E-MAIL&project=ID); at the root only where the Host is Google's,
/// since on ours a bucket may be called "token".
inline constexpr char kOAuthPrefix[] = "/emulator/v1/oauth2";

/// Mint outlives the routes. `user` speaks where a grant names nobody: a refresh token.
std::vector<http::Route> OAuthRoutes(const TokenMint& mint, const Identity& user,
                                     const std::string& prefix);

/// Whether the request is one of these by Host and path; then OAuthRoutes with prefix "" serve it.
bool IsOAuthRequest(const http::Request& request);

/// The key file of a service account, as the service would hand it out, whose token endpoint is
/// `base_url` + kOAuthPrefix + "/token".
std::string ServiceAccountFile(const ServiceAccountKey& key, const Identity& account,
                               const std::string& base_url);

}  // namespace caip::metadata
