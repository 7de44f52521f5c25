#include "fakes/gcs/signing/signature_check.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/signing/canonical_request.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/signing/signature_flaws.h"

namespace caip::gcs {
namespace {

using http::Request;

constexpr auto kLongestLife = std::chrono::hours(7 * 24);
constexpr char kPublicHost[] = "storage.googleapis.com";

// Returns the first parameter of that name, without regard to case; nullptr: there is none.
const std::string* FindParameter(const Request& request, std::string_view name) {
  const std::string lower = LowerCase(name);
  for (const auto& [key, value] : request.query) {
    if (LowerCase(key) == lower) return &value;
  }
  return nullptr;
}

std::string QueryOf(const Request& request, std::string_view name) {
  const std::string* value = FindParameter(request, name);
  return value == nullptr ? "" : *value;
}

// Converts "20190201T090000Z" to "2019-02-01T09:00:00Z"; "" for any other form.
std::string ToRfc3339(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T') return "";
  const std::string t(text);
  return t.substr(0, 4) + "-" + t.substr(4, 2) + "-" + t.substr(6, 2) + "T" + t.substr(9, 2) + ":" +
         t.substr(11, 2) + ":" + t.substr(13);
}

std::string Encoded(std::string_view path) {
  const auto decoded = PercentDecoded(path);
  return decoded ? PercentEncoded(*decoded, "/") : std::string(path);
}

// Returns the hosts and paths for which the client may have signed: those of this server and of the
// real service.
std::vector<SignedTarget> TargetsOf(const Request& request, const std::string& bucket) {
  const std::string virtual_host = bucket + "." + kPublicHost;
  const std::string host = request.host.substr(0, request.host.find(':'));
  const bool bucket_in_host = !bucket.empty() && host == virtual_host;
  const std::string in_bucket =
      bucket_in_host ? request.path
                     : request.path.substr(std::min(request.path.size(), bucket.size() + 1));
  const std::string with_bucket = bucket_in_host ? "/" + bucket + request.path : request.path;
  std::vector<SignedTarget> targets = {{request.host, Encoded(request.path)},
                                       {request.host, request.path},
                                       {kPublicHost, Encoded(with_bucket)},
                                       {kPublicHost, with_bucket}};
  if (!bucket.empty()) {
    targets.push_back({virtual_host, Encoded(in_bucket.empty() ? "/" : in_bucket)});
  }
  return targets;
}

// Returns the value of one field of "Credential=a, SignedHeaders=b, Signature=c".
std::string FieldOf(std::string_view text, std::string_view name) {
  for (const std::string& part : Split(text, ',')) {
    const std::string_view field = Trim(part);
    if (field.size() > name.size() && field.starts_with(name) && field[name.size()] == '=') {
      return std::string(field.substr(name.size() + 1));
    }
  }
  return "";
}

// Returns "/bucket/object", for path style and virtual-host style.
std::string ResourceOf(const Request& request, const std::string& bucket) {
  const bool has_bucket = request.path == "/" + bucket ||
                          request.path.starts_with("/" + bucket + "/") || bucket.empty();
  return has_bucket ? request.path : "/" + bucket + request.path;
}

// Returns all forms of a resource that signers use: a path %-encoded or plain, and a bucket with or
// without the final slash.
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

// A V4 signature as the request states it.
struct SignatureCheck::Claim {
  std::string algorithm;
  std::string credential;  // "<id>/<date>/<region>/<service>/<terminator>"
  std::string timestamp;
  std::string expires;  // seconds; "" in a header
  std::string signed_headers;
  std::string signature;
  bool in_query = false;

  bool amazon() const { return algorithm.starts_with("AWS4-"); }
  std::string id() const;
  std::string scope() const;

  static Claim FromQuery(const Request& request, const std::string& prefix) {
    return {QueryOf(request, prefix + "Algorithm"),
            QueryOf(request, prefix + "Credential"),
            QueryOf(request, prefix + "Date"),
            QueryOf(request, prefix + "Expires"),
            QueryOf(request, prefix + "SignedHeaders"),
            QueryOf(request, prefix + "Signature"),
            true};
  }
  static Claim FromHeader(const Request& request, std::string_view authorization) {
    const size_t blank = authorization.find(' ');
    Claim claim;
    claim.algorithm = std::string(authorization.substr(0, blank));
    const std::string_view fields = authorization.substr(std::min(blank, authorization.size()));
    claim.credential = FieldOf(fields, "Credential");
    claim.signed_headers = FieldOf(fields, "SignedHeaders");
    claim.signature = FieldOf(fields, "Signature");
    claim.timestamp =
        std::string(request.headers.Get(claim.amazon() ? "x-amz-date" : "x-goog-date"));
    return claim;
  }
};

// The id may contain slashes: the scope is the last four parts.
std::string SignatureCheck::Claim::scope() const {
  size_t at = credential.size();
  for (int part = 0; part < 4; ++part) {
    at = at == 0 ? std::string::npos : credential.rfind('/', at - 1);
    if (at == std::string::npos) return "";
  }
  return credential.substr(at + 1);
}

std::string SignatureCheck::Claim::id() const {
  const std::string of = scope();
  return of.empty() ? "" : credential.substr(0, credential.size() - of.size() - 1);
}

std::optional<Instant> ParseCompactTime(std::string_view text) {
  const std::string rfc3339 = ToRfc3339(text);
  return rfc3339.empty() ? std::nullopt : ParseRfc3339(rfc3339);
}

std::optional<SignatureFlaw> SignatureCheck::CheckTimes(const Claim& claim) const {
  const auto signed_at = ParseCompactTime(claim.timestamp);
  if (!signed_at) return flaws::Malformed("date", "expected YYYYMMDD'T'HHMMSS'Z'");
  if (claim.scope().substr(0, 8) != claim.timestamp.substr(0, 8)) {
    return flaws::Malformed("credential", "its date must be that of the signature");
  }
  const Instant now = clock_.Now();
  if (!claim.in_query) {
    const bool near = *signed_at - now <= options_.skew && now - *signed_at <= options_.skew;
    return near ? std::nullopt : std::optional(flaws::Skewed(claim.timestamp));
  }
  int64_t seconds = 0;
  const char* end = claim.expires.data() + claim.expires.size();
  const auto [rest, error] = std::from_chars(claim.expires.data(), end, seconds);
  if (error != std::errc() || rest != end || seconds < 1 ||
      std::chrono::seconds(seconds) > kLongestLife) {
    return flaws::Malformed("expires", "expected 1 to 604800 seconds (seven days)");
  }
  if (*signed_at - now > options_.skew) return flaws::NotYetValid(claim.timestamp);
  const Instant end_of_life = *signed_at + std::chrono::seconds(seconds);
  if (now > end_of_life) return flaws::Expired(end_of_life);
  return std::nullopt;
}

std::optional<SignatureFlaw> SignatureCheck::CheckText(const std::string& algorithm,
                                                       const std::string& id,
                                                       const std::string& scope,
                                                       std::string_view text,
                                                       const std::string& signature_hex) const {
  const auto signature = FromHex(signature_hex);
  if (!signature || signature->empty()) return flaws::Malformed("signature", "expected hex digits");
  if (algorithm == "GOOG4-RSA-SHA256") {
    const auto known = keys_.PublicKeysOf(id);
    if (known.empty()) return options_.strict ? std::optional(flaws::KeyUnknown(id)) : std::nullopt;
    const bool holds = std::any_of(known.begin(), known.end(), [&](const std::string& pem) {
      return RsaVerifies(pem, text, *signature);
    });
    return holds ? std::nullopt : std::optional(flaws::DoesNotMatch(text, ""));
  }
  if (algorithm != "GOOG4-HMAC-SHA256" && algorithm != "AWS4-HMAC-SHA256") {
    return flaws::Malformed("algorithm",
                            "expected GOOG4-RSA-SHA256, GOOG4-HMAC-SHA256 or AWS4-HMAC-SHA256");
  }
  const auto secret = keys_.SecretOf(id);
  if (!secret) return options_.strict ? std::optional(flaws::KeyUnknown(id)) : std::nullopt;
  if (!secret->active) return flaws::KeyInactive(id);
  const std::string family = algorithm.substr(0, algorithm.find('-'));
  const std::string wanted = HmacSha256(SigningKey(family, secret->secret, scope), text);
  return SameSecret(wanted, *signature) ? std::nullopt
                                        : std::optional(flaws::DoesNotMatch(text, ""));
}

std::optional<SignatureFlaw> SignatureCheck::CheckV4(const Request& request,
                                                     const std::string& bucket,
                                                     const Claim& claim) const {
  const std::string terminator = claim.amazon() ? "aws4_request" : "goog4_request";
  const std::vector<std::string> scope = Split(claim.scope(), '/');
  if (scope.size() != 4 || claim.id().empty() || scope[3] != terminator ||
      (scope[2] != "storage" && scope[2] != "s3")) {
    return flaws::Malformed("credential", "expected ID/DATE/REGION/storage/" + terminator);
  }
  if (auto flaw = CheckTimes(claim)) return flaw;
  const std::vector<std::string> names = Split(claim.signed_headers, ';');
  if (std::find(names.begin(), names.end(), "host") == names.end()) {
    return flaws::Malformed("signed headers", "'host' must be among them");
  }
  for (const std::string& name : names) {
    if (name != "host" && !request.headers.Has(name)) return flaws::HeaderMissing(name);
  }
  std::string payload(
      request.headers.Get(claim.amazon() ? "x-amz-content-sha256" : "x-goog-content-sha256"));
  if (payload.empty()) payload = "UNSIGNED-PAYLOAD";
  std::optional<SignatureFlaw> first;
  for (const SignedTarget& target : TargetsOf(request, bucket)) {
    const std::string canonical = CanonicalRequest(request, target, names, payload);
    auto flaw = CheckText(claim.algorithm, claim.id(), claim.scope(),
                          StringToSign(claim.algorithm, claim.timestamp, claim.scope(), canonical),
                          claim.signature);
    if (!flaw || flaw->code != "SignatureDoesNotMatch") return flaw;
    if (!first) {
      first = std::move(flaw);
      first->details.emplace_back("CanonicalRequest", canonical);
    }
  }
  return first;
}

std::optional<SignatureFlaw> SignatureCheck::Check(const Request& request,
                                                   const std::string& bucket) const {
  for (const std::string prefix : {"X-Goog-", "X-Amz-"}) {
    if (FindParameter(request, prefix + "Signature") == nullptr &&
        FindParameter(request, prefix + "Algorithm") == nullptr) {
      continue;
    }
    return CheckV4(request, bucket, Claim::FromQuery(request, prefix));
  }
  if (request.HasQuery("Signature")) return CheckUrlV2(request, bucket);
  const std::string_view authorization = Trim(request.headers.Get("Authorization"));
  if (authorization.starts_with("GOOG4-") || authorization.starts_with("AWS4-")) {
    return CheckV4(request, bucket, Claim::FromHeader(request, authorization));
  }
  if (authorization.starts_with("GOOG1 ") || authorization.starts_with("AWS ")) {
    return CheckHeaderV2(request, bucket, authorization);
  }
  if (options_.strict && authorization.empty()) return flaws::AuthenticationRequired();
  return std::nullopt;
}

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
  constexpr int64_t kSecondsMax = int64_t{1} << 33;  // an Instant can hold it
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

// "GOOG1 <access id>:<signature>". The string to sign has the value of Date, or an empty line if
// the request has x-goog-date.
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
