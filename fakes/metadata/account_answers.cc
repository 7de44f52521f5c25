#include "fakes/metadata/account_answers.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"

namespace caip::metadata {
namespace {

http::Response MakeAnswer(std::string type, std::string body) {
  http::Response response;
  response.headers.Set("Content-Type", std::move(type));
  response.headers.Set("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

// `scopes`, a list with commas, limits the permissions of the token.
http::Response AnswerAccessToken(const http::Request& request, const Machine& machine,
                                 const TokenMint& mint) {
  std::vector<std::string> scopes = machine.scopes;
  if (!request.Query("scopes").empty()) scopes = Split(request.Query("scopes"), ',');
  const auto token = mint.Access(IdentityOfMachine(machine), scopes);
  const Json body = {
      {"access_token", token.text}, {"expires_in", token.expires_in}, {"token_type", "Bearer"}};
  return MakeAnswer("application/json", CompactJson(body));
}

Json MachineClaims(const Machine& machine, bool licenses) {
  Json claims = {
      {"instance_creation_timestamp",
       std::chrono::floor<std::chrono::seconds>(machine.created).time_since_epoch().count()},
      {"instance_id", std::to_string(machine.instance_id)},
      {"instance_name", machine.name},
      {"project_id", machine.project_id}};
  const Json number = Json::parse(machine.project_number, nullptr, false);
  claims["project_number"] = number.is_number_integer() ? number : Json(machine.project_number);
  claims["zone"] = machine.zone;
  if (licenses) claims["license_id"] = Json::array();
  return claims;
}

http::Response AnswerIdentityToken(const http::Request& request, const Machine& machine,
                                   const TokenMint& mint) {
  const std::string_view audience = request.Query("audience");
  const std::string_view format = request.Query("format");
  if (audience.empty()) return errors::AudienceMissing();
  if (!format.empty() && format != "standard" && format != "full") {
    return errors::ParameterInvalid("format", format, "must be standard or full");
  }
  const auto key = mint.key();
  if (!key.ok()) return errors::KeyUnusable(key.error());
  const int64_t now = mint.NowSeconds();
  const std::string id = AccountNumber(machine.service_account);
  Json claims = {{"aud", audience}, {"azp", id}};
  claims["email"] = machine.service_account;
  claims["email_verified"] = true;
  claims["exp"] = now + kTokenSeconds;
  if (format == "full") {
    const bool licenses = LowerCase(request.Query("licenses")) == "true";
    claims["google"]["compute_engine"] = MachineClaims(machine, licenses);
  }
  claims["iat"] = now;
  claims["iss"] = "https://accounts.google.com";
  claims["sub"] = id;
  return MakeAnswer("text/html", MakeJwt(claims, **key));
}

}  // namespace

Identity IdentityOfMachine(const Machine& machine) {
  return {machine.service_account, machine.project_id, machine.job, machine.replica};
}

http::Response AnswerAccountRequest(std::string_view what, const http::Request& request,
                                    const Machine& machine, const TokenMint& mint) {
  return what == "token" ? AnswerAccessToken(request, machine, mint)
                         : AnswerIdentityToken(request, machine, mint);
}

// 21 digits that begin with 1, as those of the service.
std::string AccountNumber(std::string_view account) {
  const std::string digits = std::to_string(Fnv1a(account));
  return "1" + std::string(20 - digits.size(), '0') + digits;
}

}  // namespace caip::metadata
