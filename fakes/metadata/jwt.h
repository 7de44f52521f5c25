#pragma once
// JSON Web Tokens (RFC 7519) signed with RS256.

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "fakes/metadata/service_account_key.h"

namespace caip::metadata {

struct Jwt {
  Json header;
  Json claims;
  std::string signed_part;  // the signed text
  std::string signature;
};

std::string MakeJwt(const Json& claims, const ServiceAccountKey& key);
/// Reads a JWT. Does not check its signature.
Result<Jwt> ParseJwt(std::string_view text);

}  // namespace caip::metadata
