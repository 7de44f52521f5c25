#include "fakes/metadata/token_info.h"

#include "base/text.h"
#include "fakes/metadata/account_answers.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "http/target.h"

namespace caip::metadata {

std::string Form::Get(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return "";
}

Result<Form> ReadForm(const http::Request& request, size_t limit) {
  Form form{request.query};
  ASSIGN_OR_RETURN(const std::string body, request.ReadBody(limit));
  if (LowerCase(request.headers.Get("Content-Type")).starts_with("application/json")) {
    ASSIGN_OR_RETURN(const Json object, ParseJson(body));
    for (const auto& [name, value] : object.items()) {
      if (value.is_string()) form.fields.emplace_back(name, value.get<std::string>());
    }
    return form;
  }
  // A form has the syntax of a query.
  const auto target = http::ParseTarget("/?" + std::string(Trim(body)));
  if (!target) return errors::FormInvalid();
  form.fields.insert(form.fields.end(), target->query.begin(), target->query.end());
  return form;
}

std::optional<Json> AccessTokenInfo(const TokenMint& mint, std::string_view token) {
  const auto facts = mint.Read(token);
  const int64_t now = mint.NowSeconds();
  if (!facts || (facts->expires && *facts->expires <= now)) return std::nullopt;
  const std::string id = AccountNumber(facts->identity.account);
  const int64_t expires = facts->expires.value_or(now + kTokenSeconds);
  // Numbers are strings here, as in the service's answers.
  return Json{{"azp", id},
              {"aud", id},
              {"sub", id},
              {"scope", Join(facts->scopes, " ")},
              {"exp", std::to_string(expires)},
              {"expires_in", std::to_string(expires - now)},
              {"email", facts->identity.account},
              {"email_verified", "true"},
              {"access_type", "online"}};
}

std::optional<Json> IdentityTokenInfo(const TokenMint& mint, std::string_view text) {
  const auto jwt = ParseJwt(text);
  const auto key = mint.key();
  if (!jwt.ok() || !key.ok()) return std::nullopt;
  if (!(*key)->Verifies(jwt->signed_part, jwt->signature)) return std::nullopt;
  if (IntOr(jwt->claims, "exp", 0) <= mint.NowSeconds()) return std::nullopt;
  Json info = Json::object();
  for (const auto& [name, value] : jwt->claims.items()) {
    if (value.is_object()) continue;
    info[name] = value.is_string() ? value : Json(value.dump());
  }
  info["alg"] = StringOr(jwt->header, "alg");
  info["kid"] = StringOr(jwt->header, "kid");
  info["typ"] = StringOr(jwt->header, "typ");
  return info;
}

std::string UserIdentityToken(const TokenMint& mint, const ServiceAccountKey& key,
                              const std::string& account, const std::string& audience) {
  const int64_t now = mint.NowSeconds();
  const std::string id = AccountNumber(account);
  return MakeJwt({{"aud", audience},
                  {"azp", id},
                  {"email", account},
                  {"email_verified", true},
                  {"exp", now + kTokenSeconds},
                  {"iat", now},
                  {"iss", "https://accounts.google.com"},
                  {"sub", id}},
                 key);
}

}  // namespace caip::metadata
