#include "fakes/metadata/oauth_api.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "fakes/metadata/metadata_api.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {
namespace {

constexpr size_t kTokenFormBytesMax = 256 << 10;
constexpr std::string_view kJwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::string_view kOAuthHosts[] = {"oauth2.googleapis.com", "accounts.google.com",
                                            "www.googleapis.com"};
constexpr std::string_view kOAuthPaths[] = {"/token",   "/tokeninfo", "/revoke",
                                            "/oauth2/", "/robot/",    "/o/oauth2/"};

// The parameters of the query and of the body, which is a form or a JSON object.
struct Form {
  std::vector<std::pair<std::string, std::string>> fields;
  std::string Get(std::string_view name) const;  // "" none
};

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

// nullopt if the mint did not make the token, or if it has expired.
std::optional<Json> AccessTokenInfo(const TokenMint& mint, std::string_view token) {
  const auto facts = mint.Read(token);
  const int64_t now = mint.NowSeconds();
  if (!facts || (facts->expires && *facts->expires <= now)) return std::nullopt;
  const std::string id = AccountNumber(facts->identity.account);
  const int64_t expires = facts->expires.value_or(now + kTokenSeconds);
  // Numbers are strings here, as in the service's responses.
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

// An identity token of an account without a machine.
std::string UserIdentityToken(const TokenMint& mint, const ServiceAccountKey& key,
                              const std::string& account, const std::string& audience) {
  return MakeJwt(AccountClaims(account, audience, mint.NowSeconds()), key);
}

http::Response UncachedJson(const Json& body) {
  http::Response response = http::JsonResponse(200, PrettyJson(body) + "\n");
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

http::Response AnswerUserIdentityToken(const TokenMint& mint, const std::string& account,
                                       const std::string& audience) {
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  return UncachedJson({{"id_token", UserIdentityToken(mint, **key, account, audience)}});
}

// The owner of a key file asserts its identity. Any key may have signed it: the emulator does not
// know Google's keys, and gives a token to any client.
http::Response TokenForAssertion(const TokenMint& mint, const Identity& user,
                                 const std::string& assertion) {
  const auto jwt = ParseJwt(assertion);
  if (!jwt.ok()) return errors::AssertionInvalid(jwt.error().message);
  Identity identity = user;
  identity.account = StringOr(jwt->claims, "iss");
  if (identity.account.empty()) return errors::AssertionInvalid("iss is missing");
  const std::string audience = StringOr(jwt->claims, "target_audience");
  if (!audience.empty()) return AnswerUserIdentityToken(mint, identity.account, audience);
  const std::string scope = StringOr(jwt->claims, "scope", kCloudPlatformScope);
  const auto token = mint.Access(identity, Split(scope, ' '));
  return UncachedJson(
      {{"access_token", token.text}, {"expires_in", token.expires_in}, {"token_type", "Bearer"}});
}

http::Response TokenForRefresh(const TokenMint& mint, const Identity& user, const Form& form) {
  if (form.Get("refresh_token").empty()) return errors::RefreshTokenMissing();
  const std::string asked = form.Get("scope");
  const std::string scope = asked.empty() ? kCloudPlatformScope : asked;
  const auto token = mint.Access(user, Split(scope, ' '));
  Json body = {{"access_token", token.text},
               {"expires_in", token.expires_in},
               {"scope", scope},
               {"token_type", "Bearer"}};
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  const std::string audience = form.Get("client_id");
  body["id_token"] =
      UserIdentityToken(mint, **key, user.account, audience.empty() ? "caip" : audience);
  return UncachedJson(body);
}

http::Response AnswerToken(const TokenMint& mint, const Identity& user,
                           const http::Request& request) {
  const auto form = ReadForm(request, kTokenFormBytesMax);
  if (!form.ok()) return errors::AssertionInvalid(form.error().message);
  const std::string grant = form->Get("grant_type");
  if (grant == kJwtGrant) return TokenForAssertion(mint, user, form->Get("assertion"));
  if (grant == "refresh_token") return TokenForRefresh(mint, user, *form);
  return errors::GrantUnsupported(grant);
}

http::Response AnswerTokenInfo(const TokenMint& mint, const http::Request& request) {
  const auto form = ReadForm(request, kTokenFormBytesMax);
  if (!form.ok()) return errors::TokenInvalid();
  const std::string jwt = form->Get("id_token");
  const auto info =
      jwt.empty() ? AccessTokenInfo(mint, form->Get("access_token")) : IdentityTokenInfo(mint, jwt);
  return info ? UncachedJson(*info) : errors::TokenInvalid();
}

// A method of the emulator: the key file that the service offers as a download.
http::Response AnswerKeyFile(const TokenMint& mint, const Identity& user,
                             const http::Request& request) {
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  Identity account{std::string(request.Query("account")), std::string(request.Query("project"))};
  if (account.project.empty()) account.project = user.project;
  if (account.account.empty()) account.account = user.account;
  http::Response response =
      http::JsonResponse(200, ServiceAccountFile(**key, account, request.BaseUrl()));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

http::Response AnswerPublicKeys(const TokenMint& mint, Json (*form)(const ServiceAccountKey&)) {
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  http::Response response = http::JsonResponse(200, PrettyJson(form(**key)) + "\n");
  response.headers.Set("Cache-Control", "public, max-age=3600");
  return response;
}

Json CertificatesJson(const ServiceAccountKey& key) { return {{key.id(), key.certificate_pem()}}; }

Json KeySetJson(const ServiceAccountKey& key) {
  const Json jwk = {{"alg", "RS256"}, {"e", Base64Url(key.Exponent())}, {"kid", key.id()},
                    {"kty", "RSA"},   {"n", Base64Url(key.Modulus())},  {"use", "sig"}};
  return {{"keys", Json::array({jwk})}};
}

}  // namespace

bool IsOAuthRequest(const http::Request& request) {
  const std::string host = LowerCase(request.host.substr(0, request.host.find(':')));
  if (std::find(std::begin(kOAuthHosts), std::end(kOAuthHosts), host) == std::end(kOAuthHosts))
    return false;
  return std::any_of(std::begin(kOAuthPaths), std::end(kOAuthPaths), [&](std::string_view path) {
    return path.ends_with('/') ? request.path.starts_with(path) : request.path == path;
  });
}

std::vector<http::Route> OAuthRoutes(const TokenMint& mint, const Identity& user,
                                     const std::string& prefix) {
  const http::RouteHandler token = [&mint, user](const http::Request& request, const auto&) {
    return AnswerToken(mint, user, request);
  };
  const http::RouteHandler info = [&mint](const http::Request& request, const auto&) {
    return AnswerTokenInfo(mint, request);
  };
  const http::RouteHandler certificates = [&mint](const http::Request&, const auto&) {
    return AnswerPublicKeys(mint, CertificatesJson);
  };
  const http::RouteHandler keys = [&mint](const http::Request&, const auto&) {
    return AnswerPublicKeys(mint, KeySetJson);
  };
  const http::RouteHandler key_file = [&mint, user](const http::Request& request, const auto&) {
    return AnswerKeyFile(mint, user, request);
  };
  // Tokens are not stored, so there is nothing to revoke.
  const http::RouteHandler revoke = [](const http::Request&, const auto&) {
    return UncachedJson(Json::object());
  };
  std::vector<http::Route> routes;
  const auto add = [&](const char* method, const char* path, const char* id,
                       const http::RouteHandler& handler) {
    routes.push_back({method, prefix + path, id, handler});
  };
  add("POST", "/token", "oauth2.token", token);
  add("POST", "/oauth2/v4/token", "oauth2.token", token);
  add("POST", "/o/oauth2/token", "oauth2.token", token);
  add("POST", "/revoke", "oauth2.revoke", revoke);
  add("POST", "/o/oauth2/revoke", "oauth2.revoke", revoke);
  for (const char* path :
       {"/tokeninfo", "/oauth2/v1/tokeninfo", "/oauth2/v2/tokeninfo", "/oauth2/v3/tokeninfo"}) {
    add("GET", path, "oauth2.tokeninfo", info);
    add("POST", path, "oauth2.tokeninfo", info);
  }
  add("GET", "/oauth2/v1/certs", "oauth2.certs", certificates);
  add("GET", "/robot/v1/metadata/x509/{account}", "oauth2.certs", certificates);
  add("GET", "/oauth2/v3/certs", "oauth2.keys", keys);
  add("GET", "/robot/v1/metadata/jwk/{account}", "oauth2.keys", keys);
  add("GET", "/keyFile", "emulator.oauth2.keyFile", key_file);
  return routes;
}

std::string ServiceAccountFile(const ServiceAccountKey& key, const Identity& account,
                               const std::string& base_url) {
  const std::string oauth = base_url + kOAuthPrefix;
  const Json file = {{"type", "service_account"},
                     {"project_id", account.project},
                     {"private_key_id", key.id()},
                     {"private_key", key.private_key_pem()},
                     {"client_email", account.account},
                     {"client_id", AccountNumber(account.account)},
                     {"auth_uri", "https://accounts.google.com/o/oauth2/auth"},
                     {"token_uri", oauth + "/token"},
                     {"auth_provider_x509_cert_url", oauth + "/oauth2/v1/certs"},
                     {"client_x509_cert_url",
                      oauth + "/robot/v1/metadata/x509/" + PercentEncoded(account.account)},
                     {"universe_domain", "googleapis.com"}};
  return PrettyJson(file) + "\n";
}

}  // namespace caip::metadata
