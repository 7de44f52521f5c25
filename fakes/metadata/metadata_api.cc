
#include "fakes/metadata/metadata_api.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "fakes/metadata/tree.h"

namespace caip::metadata {
namespace {

constexpr std::string_view kRoot = "/computeMetadata";
constexpr std::string_view kVersion = "/computeMetadata/v1";
constexpr int64_t kWaitSecondsMax = 30 * 24 * 3600;
// The names under which programs find the server.
constexpr std::string_view kServerNames[] = {"metadata.google.internal", "metadata",
                                             "169.254.169.254"};

std::string HostName(std::string_view host) { return LowerCase(host.substr(0, host.find(':'))); }

bool HasFlavor(const http::Request& request) {
  return LowerCase(request.headers.Get("Metadata-Flavor")) == "google" ||
         LowerCase(request.headers.Get("X-Google-Metadata-Request")) == "true";
}

// A hash of the JSON text, so that it is the same for all forms of the value.
std::string ComputeEtag(const std::string& text) {
  const uint64_t hash = Fnv1a(text);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

http::Response TextAnswer(std::string text) {
  http::Response response;
  response.headers.Set("Content-Type", "application/text");
  response.body = std::move(text);
  return response;
}

http::Response JsonAnswer(const Json& json) {
  http::Response response;
  response.headers.Set("Content-Type", "application/json");
  response.body = CompactJson(json);
  return response;
}

// A parameter without a value ("?recursive") counts as true.
bool IsTrue(const http::Request& request, std::string_view name) {
  return request.HasQuery(name) &&
         (request.Query(name).empty() || LowerCase(request.Query(name)) == "true");
}

std::optional<http::Response> ReadQueryOptions(const http::Request& request,
                                               QueryOptions& options) {
  options.recursive = IsTrue(request, "recursive");
  options.wait = IsTrue(request, "wait_for_change");
  const std::string_view alt = request.Query("alt");
  if (!alt.empty() && alt != "json" && alt != "text") {
    return errors::ParameterInvalid("alt", alt, "must be json or text");
  }
  options.as_json = alt == "json" || (options.recursive && alt != "text");
  options.as_text = alt == "text";
  if (request.HasQuery("last_etag")) options.last_etag = std::string(request.Query("last_etag"));
  if (!request.HasQuery("timeout_sec")) return std::nullopt;
  const std::string_view text = request.Query("timeout_sec");
  int64_t seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() || seconds < 0) {
    return errors::ParameterInvalid("timeout_sec", text, "must be a number of seconds, 0 or more");
  }
  options.deadline = MonotonicNow() + std::chrono::seconds(std::min(seconds, kWaitSecondsMax));
  return std::nullopt;
}

http::Response RenderNode(const Node& node, const QueryOptions& options) {
  if (node.IsDirectory()) {
    if (options.recursive) {
      return options.as_json ? JsonAnswer(ToJson(node)) : TextAnswer(RecursiveText(node));
    }
    return options.as_json ? JsonAnswer(ListingJson(node)) : TextAnswer(ListingText(node));
  }
  const bool json = options.as_json || (node.json_by_default && !options.as_text);
  return json ? JsonAnswer(ToJson(node)) : TextAnswer(ValueText(node));
}

// Splits "/computeMetadata/v1/instance/disks/" into {"instance", "disks"}. nullopt: a broken escape
// or an empty segment.
std::optional<std::vector<std::string>> SplitPath(std::string_view path) {
  path.remove_prefix(kVersion.size());
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> segments;
  if (path.empty()) return segments;
  for (const std::string& raw : Split(path, '/')) {
    auto segment = PercentDecoded(raw);
    if (!segment || segment->empty()) return std::nullopt;
    segments.push_back(*std::move(segment));
  }
  return segments;
}

// Redirects a request for a directory without its final slash.
http::Response Redirect(const http::Request& request) {
  std::string location = request.BaseUrl() + request.path + "/";
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    location += separator + PercentEncoded(name) + "=" + PercentEncoded(value);
    separator = '&';
  }
  http::Response response = TextAnswer(location + "\n");
  response.status = 301;
  response.headers.Set("Location", location);
  return response;
}

}  // namespace

bool IsMetadataRequest(const http::Request& request) {
  const std::string& path = request.path;
  const bool below_root =
      path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
  if (below_root) return true;
  if (path == "/" && HasFlavor(request)) return true;
  const std::string host = HostName(request.host);
  return std::find(std::begin(kServerNames), std::end(kServerNames), host) !=
         std::end(kServerNames);
}

http::Response MetadataApi::Handle(const http::Request& request,
                                   const std::string& listener) const {
  http::Response response = Answer(request, listener);
  response.headers.Set("Metadata-Flavor", "Google");
  response.headers.Set("Server", "Metadata Server for VM");
  response.headers.Set("X-XSS-Protection", "0");
  response.headers.Set("X-Frame-Options", "SAMEORIGIN");
  return response;
}

http::Response MetadataApi::Answer(const http::Request& request,
                                   const std::string& listener) const {
  if (request.method != "GET" && request.method != "HEAD") {
    return errors::MethodNotAllowed(request.method);
  }
  if (request.headers.Has("X-Forwarded-For")) return errors::Forwarded();
  if (request.path == "/") return TextAnswer("computeMetadata/\n");
  if (request.path == "/computeMetadata/") return TextAnswer("v1/\n");
  if (request.path == kRoot) return Redirect(request);
  const bool known =
      request.path == kVersion || request.path.starts_with(std::string(kVersion) + "/");
  if (!known) return errors::NotFound(request.path);
  if (!HasFlavor(request)) return errors::FlavorMissing();
  return Serve(request, listener);
}

http::Response MetadataApi::Serve(const http::Request& request, const std::string& listener) const {
  const auto segments = SplitPath(request.path);
  if (!segments) return errors::NotFound(request.path);
  QueryOptions options;
  if (auto refusal = ReadQueryOptions(request, options)) return *std::move(refusal);
  while (true) {
    const auto snapshot = table_.Find(listener);
    if (!snapshot) return errors::MachineRemoved();
    if (auto response = AnswerNow(request, *segments, snapshot->machine, options)) {
      return *std::move(response);
    }
    const auto result = table_.WaitForChange(listener, snapshot->version, options.deadline);
    if (result == MachineTable::WaitResult::kRemoved) return errors::MachineRemoved();
    // If another value changed, the loop waits again.
    if (result == MachineTable::WaitResult::kTimeout) options.wait = false;
  }
}

std::optional<http::Response> MetadataApi::AnswerNow(const http::Request& request,
                                                     const std::vector<std::string>& segments,
                                                     const Machine& machine,
                                                     QueryOptions& options) const {
  const Node root = BuildTree(machine);
  const Node* node = FindNode(root, segments);
  const bool slash = request.path.ends_with('/');
  if (!node || (slash && !node->IsDirectory())) return errors::NotFound(request.path);
  if (node->IsDirectory() && !slash) return Redirect(request);
  if (node->kind == Node::Kind::kOnDemand) {
    return AnswerAccountRequest(node->name, request, machine, mint_);
  }
  const std::string etag = ComputeEtag(CompactJson(ToJson(*node)));
  if (!options.last_etag && options.wait) options.last_etag = etag;
  if (options.wait && options.last_etag == etag) return std::nullopt;
  http::Response response = RenderNode(*node, options);
  response.headers.Set("ETag", etag);
  return response;
}

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
  Json claims = AccountClaims(machine.service_account, audience, mint.NowSeconds());
  if (format == "full") {
    const bool licenses = LowerCase(request.Query("licenses")) == "true";
    claims["google"]["compute_engine"] = MachineClaims(machine, licenses);
  }
  return MakeAnswer("text/html", MakeJwt(claims, **key));
}

}  // namespace

Identity IdentityOfMachine(const Machine& machine) {
  return {machine.service_account, machine.project_id, machine.job, machine.replica};
}

Json AccountClaims(const std::string& account, std::string_view audience, int64_t now) {
  const std::string id = AccountNumber(account);
  return {{"aud", audience},
          {"azp", id},
          {"email", account},
          {"email_verified", true},
          {"exp", now + kTokenSeconds},
          {"iat", now},
          {"iss", "https://accounts.google.com"},
          {"sub", id}};
}

http::Response AnswerAccountRequest(std::string_view what, const http::Request& request,
                                    const Machine& machine, const TokenMint& mint) {
  return what == "token" ? AnswerAccessToken(request, machine, mint)
                         : AnswerIdentityToken(request, machine, mint);
}

// 21 digits that begin with 1, like those of the service.
std::string AccountNumber(std::string_view account) {
  const std::string digits = std::to_string(Fnv1a(account));
  return "1" + std::string(20 - digits.size(), '0') + digits;
}

}  // namespace caip::metadata
