#include "fakes/gcs/signing/canonical_request.h"

#include <algorithm>
#include <map>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/signing/digest.h"

namespace caip::gcs {
namespace {

// Trims blanks, and replaces each run of blanks inside with a space.
std::string Collapsed(std::string_view value) {
  std::string text;
  for (char c : Trim(value)) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && text.ends_with(' ')) continue;
    text += blank ? ' ' : c;
  }
  return text;
}

std::string ValuesOf(const http::Request& request, const std::string& name) {
  std::string joined;
  bool first = true;
  for (const auto& [field, value] : request.headers.all()) {
    if (LowerCase(field) != name) continue;
    joined += (first ? "" : ",") + Collapsed(value);
    first = false;
  }
  return joined;
}

std::string CanonicalQuery(const http::Request& request) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& [name, value] : request.query) {
    const std::string lower = LowerCase(name);
    if (lower == "x-goog-signature" || lower == "x-amz-signature") continue;
    parameters.emplace_back(PercentEncoded(name), PercentEncoded(value));
  }
  std::sort(parameters.begin(), parameters.end());
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters) parts.push_back(name + "=" + value);
  return Join(parts, "&");
}

// True for query parameters that V2 signs as part of the resource.
bool IsSubResource(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "acl",         "billing",          "compose",
      "cors",        "customPlacement",  "delete",
      "encryption",  "defaultObjectAcl", "encryptionConfig",
      "lifecycle",   "location",         "logging",
      "partNumber",  "policy",           "requestPayment",
      "restore",     "storageClass",     "tagging",
      "torrent",     "uploadId",         "uploads",
      "userProject", "versionId",        "versioning",
      "versions",    "website",          "websiteConfig"};
  return name.starts_with("response-") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

std::string CanonicalRequest(const http::Request& request, const SignedTarget& target,
                             const std::vector<std::string>& signed_headers,
                             std::string_view payload_hash) {
  std::string text = request.method + "\n" + target.path + "\n" + CanonicalQuery(request) + "\n";
  for (const std::string& name : signed_headers) {
    text += name + ":" + (name == "host" ? target.host : ValuesOf(request, name)) + "\n";
  }
  text += "\n" + Join(signed_headers, ";") + "\n";
  return text.append(payload_hash);
}

std::string StringToSign(std::string_view algorithm, std::string_view timestamp,
                         std::string_view scope, std::string_view canonical_request) {
  return std::string(algorithm) + "\n" + std::string(timestamp) + "\n" + std::string(scope) + "\n" +
         Hex(Sha256(canonical_request));
}

std::string SigningKey(std::string_view family, std::string_view secret, std::string_view scope) {
  std::string key = std::string(family) + std::string(secret);
  for (const std::string& part : Split(scope, '/')) key = HmacSha256(key, part);
  return key;
}

std::string StringToSignV2(const http::Request& request, std::string_view time,
                           std::string_view resource, std::string_view prefix) {
  std::map<std::string, std::string> extensions;
  for (const auto& [field, value] : request.headers.all()) {
    const std::string name = LowerCase(field);
    if (!name.starts_with(prefix) || name.starts_with("x-goog-encryption-key")) continue;
    std::string& joined = extensions[name];
    joined += (joined.empty() ? "" : ",") + std::string(Trim(value));
  }
  std::string text = request.method + "\n" + std::string(request.headers.Get("Content-MD5")) +
                     "\n" + std::string(request.headers.Get("Content-Type")) + "\n" +
                     std::string(time) + "\n";
  for (const auto& [name, value] : extensions) text += name + ":" + value + "\n";
  text.append(resource);
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& parameter : request.query) {
    if (IsSubResource(parameter.first)) parameters.push_back(parameter);
  }
  std::sort(parameters.begin(), parameters.end());
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    text += separator + name + (value.empty() ? "" : "=" + value);
    separator = '&';
  }
  return text;
}

}  // namespace caip::gcs
