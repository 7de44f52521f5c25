#include "fakes/metadata/jwt.h"

#include "base/encoding.h"
#include "fakes/metadata/errors.h"

namespace caip::metadata {
namespace {

std::optional<Json> DecodeObject(std::string_view part) {
  const auto bytes = FromBase64Url(part);
  if (!bytes) return std::nullopt;
  auto parsed = ParseJson(*bytes);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  return *std::move(parsed);
}

}  // namespace

std::string MakeJwt(const Json& claims, const ServiceAccountKey& key) {
  const Json header = {{"alg", "RS256"}, {"kid", key.id()}, {"typ", "JWT"}};
  const std::string text = Base64Url(CompactJson(header)) + "." + Base64Url(CompactJson(claims));
  return text + "." + Base64Url(key.Sign(text));
}

Result<Jwt> ParseJwt(std::string_view text) {
  const size_t first = text.find('.');
  const size_t second = first == text.npos ? text.npos : text.find('.', first + 1);
  if (second == text.npos || text.find('.', second + 1) != text.npos) {
    return errors::JwtPartsInvalid();
  }
  auto header = DecodeObject(text.substr(0, first));
  if (!header) return errors::JwtPartInvalid("header");
  auto claims = DecodeObject(text.substr(first + 1, second - first - 1));
  if (!claims) return errors::JwtPartInvalid("claims part");
  auto signature = FromBase64Url(text.substr(second + 1));
  if (!signature) return errors::JwtPartInvalid("signature");
  return Jwt{*std::move(header), *std::move(claims), std::string(text.substr(0, second)),
             *std::move(signature)};
}

}  // namespace caip::metadata
