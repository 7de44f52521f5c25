#pragma once
// Google's token endpoints, for users of a service account's key file or of gcloud's credentials:
// /token, /tokeninfo, /revoke, and the certificates that verify identity tokens.

#include <string>
#include <vector>

#include "fakes/metadata/token_mint.h"
#include "http/router.h"

namespace caip::metadata {

/// Any host serves all routes below this path, and the key file of an account
/// (/keyFile?account=E-MAIL&project=ID). Only Google's hosts serve them at the root, because on the
/// emulator's host a bucket may be called "token".
inline constexpr char kOAuthPrefix[] = "/emulator/v1/oauth2";

/// The mint must outlive the routes. `user` is the owner of all refresh tokens, which do not
/// contain one.
std::vector<http::Route> OAuthRoutes(const TokenMint& mint, const Identity& user,
                                     const std::string& prefix);

/// True if OAuthRoutes with the prefix "" serve the request, by its host and path.
bool IsOAuthRequest(const http::Request& request);

/// Renders the key file of a service account, in the service's format. Its token endpoint is
/// `base_url` + kOAuthPrefix + "/token".
std::string ServiceAccountFile(const ServiceAccountKey& key, const Identity& account,
                               const std::string& base_url);

}  // namespace caip::metadata
