#include "fakes/metadata/oauth_api.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/metadata/account_answers.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "fakes/metadata/token_info.h"
#include "http/target.h"

namespace caip::metadata {
namespace {

constexpr size_t kBodyBytesMax = 256 << 10;
constexpr std::string_view kJwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::string_view kHosts[] = {"oauth2.googleapis.com", "accounts.google.com",
                                       "www.googleapis.com"};
constexpr std::string_view kPaths[] = {"/token",   "/tokeninfo", "/revoke",
                                       "/oauth2/", "/robot/",    "/o/oauth2/"};

http::Response Json200(const Json& body) {
  http::Response response = http::JsonResponse(200, PrettyJson(body) + "\n");
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

// A key file's holder asserts who it is. The signature may be of any key: an emulator has no list
// of Google's, and whoever reaches us may have a token.
http::Response TokenForAssertion(const TokenMint& mint, const Identity& user,
                                 const std::string& assertion) {
  const auto jwt = ParseJwt(assertion);
  if (!jwt.ok()) return errors::AssertionInvalid(jwt.error().message);
  Identity identity = user;
  identity.account = StringOr(jwt->claims, "iss");
  if (identity.account.empty()) return errors::AssertionInvalid("iss is missing");
  const std::string audience = StringOr(jwt->claims, "target_audience");
  if (!audience.empty()) {
    const auto key = mint.key();
    if (!key.ok()) return errors::KeyUnusable(key.error());
    return Json200({{"id_token", UserIdentityToken(mint, **key, identity.account, audience)}});
  }
  const std::string scope = StringOr(jwt->claims, "scope", kCloudPlatformScope);
  const auto token = mint.Access(identity, Split(scope, ' '));
  return Json200(
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
  return Json200(body);
}

http::Response Token(const TokenMint& mint, const Identity& user, const http::Request& request) {
  const auto form = ReadForm(request, kBodyBytesMax);
  if (!form.ok()) return errors::AssertionInvalid(form.error().message);
  const std::string grant = form->Get("grant_type");
  if (grant == kJwtGrant) return TokenForAssertion(mint, user, form->Get("assertion"));
  if (grant == "refresh_token") return TokenForRefresh(mint, user, *form);
  return errors::GrantUnsupported(grant);
}

http::Response Info(const TokenMint& mint, const http::Request& request) {
  const auto form = ReadForm(request, kBodyBytesMax);
  if (!form.ok()) return errors::TokenInvalid();
  const std::string jwt = form->Get("id_token");
  const auto info =
      jwt.empty() ? AccessTokenInfo(mint, form->Get("access_token")) : IdentityTokenInfo(mint, jwt);
  return info ? Json200(*info) : errors::TokenInvalid();
}

// Ours: what a download of the account's key would be on the service.
http::Response KeyFile(const TokenMint& mint, const Identity& user, const http::Request& request) {
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  Identity account{std::string(request.Query("account")), std::string(request.Query("project"))};
  if (account.project.empty()) account.project = user.project;
  if (account.account.empty()) account.account = user.account;
  http::Response response = http::JsonResponse(
      200, ServiceAccountFile(**key, account, request.scheme + "://" + request.host));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

http::Response KeyAnswer(const TokenMint& mint, Json (*form)(const ServiceAccountKey&)) {
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  http::Response response = http::JsonResponse(200, PrettyJson(form(**key)) + "\n");
  response.headers.Set("Cache-Control", "public, max-age=3600");
  return response;
}

Json Certificates(const ServiceAccountKey& key) { return {{key.id(), key.certificate_pem()}}; }

Json KeySet(const ServiceAccountKey& key) {
  const Json jwk = {{"alg", "RS256"}, {"e", Base64Url(key.Exponent())}, {"kid", key.id()},
                    {"kty", "RSA"},   {"n", Base64Url(key.Modulus())},  {"use", "sig"}};
  return {{"keys", Json::array({jwk})}};
}

}  // namespace

bool IsOAuthRequest(const http::Request& request) {
  const std::string host = LowerCase(request.host.substr(0, request.host.find(':')));
  if (std::find(std::begin(kHosts), std::end(kHosts), host) == std::end(kHosts)) return false;
  return std::any_of(std::begin(kPaths), std::end(kPaths), [&](std::string_view path) {
    return path.ends_with('/') ? request.path.starts_with(path) : request.path == path;
  });
}

std::vector<http::Route> OAuthRoutes(const TokenMint& mint, const Identity& user,
                                     const std::string& prefix) {
  const http::RouteHandler token = [&mint, user](const http::Request& request, const auto&) {
    return Token(mint, user, request);
  };
  const http::RouteHandler info = [&mint](const http::Request& request, const auto&) {
    return Info(mint, request);
  };
  const http::RouteHandler certificates = [&mint](const http::Request&, const auto&) {
    return KeyAnswer(mint, Certificates);
  };
  const http::RouteHandler keys = [&mint](const http::Request&, const auto&) {
    return KeyAnswer(mint, KeySet);
  };
  const http::RouteHandler key_file = [&mint, user](const http::Request& request, const auto&) {
    return KeyFile(mint, user, request);
  };
  // Nothing is remembered, so there is nothing to forget.
  const http::RouteHandler revoke = [](const http::Request&, const auto&) {
    return Json200(Json::object());
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
                     {"client_id", UniqueIdOf(account.account)},
                     {"auth_uri", "https://accounts.google.com/o/oauth2/auth"},
                     {"token_uri", oauth + "/token"},
                     {"auth_provider_x509_cert_url", oauth + "/oauth2/v1/certs"},
                     {"client_x509_cert_url",
                      oauth + "/robot/v1/metadata/x509/" + PercentEncoded(account.account)},
                     {"universe_domain", "googleapis.com"}};
  return PrettyJson(file) + "\n";
}

}  // namespace caip::metadata
