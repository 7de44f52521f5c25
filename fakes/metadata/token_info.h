#pragma once
// The contents of tokens, for the token endpoints, and the forms of their requests.

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// The parameters of the query and of the body, which is a form or a JSON object.
struct Form {
  std::vector<std::pair<std::string, std::string>> fields;
  std::string Get(std::string_view name) const;  // "" none
};
Result<Form> ReadForm(const http::Request& request, size_t limit);

/// nullopt: not a token of the mint, or expired.
std::optional<Json> AccessTokenInfo(const TokenMint& mint, std::string_view token);
std::optional<Json> IdentityTokenInfo(const TokenMint& mint, std::string_view jwt);

/// An identity token of an account without a machine.
std::string UserIdentityToken(const TokenMint& mint, const ServiceAccountKey& key,
                              const std::string& account, const std::string& audience);

}  // namespace caip::metadata
