#pragma once
// What is in a token, for whoever asks the token endpoints; and the forms they are asked with.

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// The parameters of a query and of a form body (or a JSON object) together.
struct Form {
  std::vector<std::pair<std::string, std::string>> fields;
  std::string Get(std::string_view name) const;  // "" none
};
Result<Form> ReadForm(const http::Request& request, size_t limit);

/// nullopt: not ours, or over.
std::optional<Json> AccessTokenInfo(const TokenMint& mint, std::string_view token);
std::optional<Json> IdentityTokenInfo(const TokenMint& mint, std::string_view jwt);

/// An identity token of an account that is no machine's.
std::string UserIdentityToken(const TokenMint& mint, const ServiceAccountKey& key,
                              const std::string& account, const std::string& audience);

}  // namespace caip::metadata
