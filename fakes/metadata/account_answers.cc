#include "fakes/metadata/account_answers.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"

namespace caip::metadata {
namespace {

http::Response Answer(std::string type, std::string body) {
  http::Response response;
  response.headers.Set("Content-Type", std::move(type));
  response.headers.Set("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

// `scopes` narrows what the account may do: a list with commas.
http::Response Token(const http::Request& request, const Guest& guest, const TokenMint& mint) {
  std::vector<std::string> scopes = guest.scopes;
  if (!request.Query("scopes").empty()) scopes = Split(request.Query("scopes"), ',');
  const auto token = mint.Access(IdentityOf(guest), scopes);
  const Json body = {
      {"access_token", token.text}, {"expires_in", token.expires_in}, {"token_type", "Bearer"}};
  return Answer("application/json", CompactJson(body));
}

Json MachineClaims(const Guest& guest, bool licenses) {
  Json machine = {
      {"instance_creation_timestamp",
       std::chrono::floor<std::chrono::seconds>(guest.created).time_since_epoch().count()},
      {"instance_id", std::to_string(guest.instance_id)},
      {"instance_name", guest.name},
      {"project_id", guest.project_id}};
  const Json number = Json::parse(guest.project_number, nullptr, false);
  machine["project_number"] = number.is_number_integer() ? number : Json(guest.project_number);
  machine["zone"] = guest.zone;
  if (licenses) machine["license_id"] = Json::array();
  return machine;
}

http::Response IdentityToken(const http::Request& request, const Guest& guest,
                             const TokenMint& mint) {
  const std::string_view audience = request.Query("audience");
  const std::string_view format = request.Query("format");
  if (audience.empty()) return errors::AudienceMissing();
  if (!format.empty() && format != "standard" && format != "full") {
    return errors::ParameterInvalid("format", format, "is standard or full");
  }
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  const int64_t now = mint.NowSeconds();
  const std::string id = UniqueIdOf(guest.service_account);
  Json claims = {{"aud", audience}, {"azp", id}};
  claims["email"] = guest.service_account;
  claims["email_verified"] = true;
  claims["exp"] = now + kTokenSeconds;
  if (format == "full") {
    const bool licenses = LowerCase(request.Query("licenses")) == "true";
    claims["google"]["compute_engine"] = MachineClaims(guest, licenses);
  }
  claims["iat"] = now;
  claims["iss"] = "https://accounts.google.com";
  claims["sub"] = id;
  return Answer("text/html", MakeJwt(claims, **key));
}

}  // namespace

Identity IdentityOf(const Guest& guest) {
  return {guest.service_account, guest.project_id, guest.job, guest.replica};
}

http::Response AccountAnswer(std::string_view what, const http::Request& request,
                             const Guest& guest, const TokenMint& mint) {
  return what == "token" ? Token(request, guest, mint) : IdentityToken(request, guest, mint);
}

// 21 digits that begin with 1, as the service's are.
std::string UniqueIdOf(std::string_view account) {
  const std::string digits = std::to_string(Fnv1a(account));
  return "1" + std::string(20 - digits.size(), '0') + digits;
}

}  // namespace caip::metadata
