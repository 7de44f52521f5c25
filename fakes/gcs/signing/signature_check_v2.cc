// Signatures of the older kind: SHA-1 with an HMAC key, or RSA over a short text.
#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/signing/canonical_request.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/signing/signature_check.h"
#include "fakes/gcs/signing/signature_flaws.h"

namespace caip::gcs {
namespace {

using http::Request;

// "/bucket/object", whichever style the request has.
std::string ResourceOf(const Request& request, const std::string& bucket) {
  const bool has_bucket = request.path == "/" + bucket ||
                          request.path.starts_with("/" + bucket + "/") || bucket.empty();
  return has_bucket ? request.path : "/" + bucket + request.path;
}

// Signers write a path %-encoded or as it is; a bucket with or without its closing slash.
std::vector<std::string> SpellingsOf(const std::string& resource) {
  std::vector<std::string> spellings = {resource};
  if (const auto decoded = PercentDecoded(resource)) {
    spellings.push_back(*decoded);
    spellings.push_back(PercentEncoded(*decoded, "/"));
  }
  if (resource.find('/', 1) == std::string::npos) spellings.push_back(resource + "/");
  return spellings;
}

}  // namespace

std::optional<SignatureFlaw> SignatureCheck::CheckTextV2(
    const std::string& id, std::string_view text, const std::string& signature_base64) const {
  const auto signature = FromBase64(signature_base64);
  if (!signature || signature->empty()) return flaws::Malformed("signature", "expected base64");
  if (const auto secret = keys_.SecretOf(id)) {
    if (!secret->active) return flaws::KeyInactive(id);
    const bool holds = SameSecret(HmacSha1(secret->secret, text), *signature);
    return holds ? std::nullopt : std::optional(flaws::DoesNotMatch(text, ""));
  }
  const auto known = keys_.PublicKeysOf(id);
  if (known.empty()) return options_.strict ? std::optional(flaws::KeyUnknown(id)) : std::nullopt;
  const bool holds = std::any_of(known.begin(), known.end(), [&](const std::string& pem) {
    return RsaVerifies(pem, text, *signature);
  });
  return holds ? std::nullopt : std::optional(flaws::DoesNotMatch(text, ""));
}

std::optional<SignatureFlaw> SignatureCheck::CheckUrlV2(const Request& request,
                                                        const std::string& bucket) const {
  const bool amazon = request.HasQuery("AWSAccessKeyId");
  const std::string id(request.Query(amazon ? "AWSAccessKeyId" : "GoogleAccessId"));
  const std::string expires(request.Query("Expires"));
  if (id.empty()) return flaws::Malformed("GoogleAccessId", "it is missing");
  int64_t seconds = 0;
  const char* end = expires.data() + expires.size();
  const auto [rest, error] = std::from_chars(expires.data(), end, seconds);
  constexpr int64_t kSecondsMax = int64_t{1} << 33;  // what an Instant can hold
  if (error != std::errc() || rest != end || seconds < 0 || seconds > kSecondsMax) {
    return flaws::Malformed("Expires", "expected seconds since 1970");
  }
  const Instant end_of_life{std::chrono::seconds(seconds)};
  if (clock_.Now() > end_of_life) return flaws::Expired(end_of_life);
  std::optional<SignatureFlaw> first;
  for (const std::string& resource : SpellingsOf(ResourceOf(request, bucket))) {
    const std::string text =
        StringToSignV2(request, expires, resource, amazon ? "x-amz-" : "x-goog-");
    auto flaw = CheckTextV2(id, text, std::string(request.Query("Signature")));
    if (!flaw || flaw->code != "SignatureDoesNotMatch") return flaw;
    if (!first) first = std::move(flaw);
  }
  return first;
}

// "GOOG1 <access id>:<signature>". The date is Date's, or with x-goog-date an empty line.
std::optional<SignatureFlaw> SignatureCheck::CheckHeaderV2(const Request& request,
                                                           const std::string& bucket,
                                                           std::string_view authorization) const {
  const std::string_view pair = Trim(authorization.substr(authorization.find(' ')));
  const size_t colon = pair.find(':');
  if (colon == std::string_view::npos) {
    return flaws::Malformed("Authorization", "expected GOOG1 ID:SIGNATURE");
  }
  const std::string prefix = authorization.starts_with("AWS ") ? "x-amz-" : "x-goog-";
  const std::string time(request.headers.Has(prefix + "date") ? "" : request.headers.Get("Date"));
  std::optional<SignatureFlaw> first;
  for (const std::string& resource : SpellingsOf(ResourceOf(request, bucket))) {
    auto flaw = CheckTextV2(std::string(pair.substr(0, colon)),
                            StringToSignV2(request, time, resource, prefix),
                            std::string(pair.substr(colon + 1)));
    if (!flaw || flaw->code != "SignatureDoesNotMatch") return flaw;
    if (!first) first = std::move(flaw);
  }
  return first;
}

}  // namespace caip::gcs
