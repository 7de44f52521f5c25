#include "http/errors.h"

#include <cerrno>
#include <cstring>

#include "base/json.h"

namespace caip::http::errors {
namespace {

constexpr const char* kTokenNotValid =
    "The token is not valid here: another emulator made it, or it has expired. "
    "`caip env --remote` prints a token that does not expire.";

std::string FormatPlace(std::string_view address, uint16_t port) {
  const bool six = address.find(':') != std::string_view::npos;
  const std::string host = six ? "[" + std::string(address) + "]" : std::string(address);
  return host + ":" + std::to_string(port);
}

struct StatusNames {
  int status;
  const char* canonical;
  const char* reason;
};

constexpr StatusNames kStatusNames[] = {
    {400, "INVALID_ARGUMENT", "invalid"},     {403, "PERMISSION_DENIED", "forbidden"},
    {404, "NOT_FOUND", "notFound"},           {405, "INVALID_ARGUMENT", "methodNotAllowed"},
    {408, "DEADLINE_EXCEEDED", "timeout"},    {413, "RESOURCE_EXHAUSTED", "uploadTooLarge"},
    {431, "RESOURCE_EXHAUSTED", "invalid"},   {500, "INTERNAL", "internalError"},
    {501, "UNIMPLEMENTED", "notImplemented"}, {503, "UNAVAILABLE", "backendError"},
    {502, "UNAVAILABLE", "badGateway"},       {504, "DEADLINE_EXCEEDED", "gatewayTimeout"},
    {505, "INVALID_ARGUMENT", "invalid"},
};

StatusNames FindNames(int status) {
  for (const StatusNames& names : kStatusNames) {
    if (names.status == status) return names;
  }
  return {status, "UNKNOWN", "unknown"};
}

}  // namespace

Error PortTaken(std::string_view address, uint16_t port) {
  return {Code::kAlreadyExists, "Cannot listen on " + FormatPlace(address, port) +
                                    ": another program uses this port. Choose another port, or 0 "
                                    "for any free one."};
}

Error AddressInvalid(std::string_view address) {
  return {Code::kInvalidArgument, "Cannot listen on '" + std::string(address) +
                                      "': it is not an IPv4 or IPv6 address, and not localhost."};
}

Error CannotListen(std::string_view address, uint16_t port, int error_number) {
  const Code code = error_number == EACCES          ? Code::kPermissionDenied
                    : error_number == EADDRNOTAVAIL ? Code::kInvalidArgument
                                                    : Code::kInternal;
  return {code,
          "Cannot listen on " + FormatPlace(address, port) + ": " + std::strerror(error_number)};
}

Error ListenerExists(std::string_view tag) {
  return {Code::kAlreadyExists, "A listener named '" + std::string(tag) + "' already exists."};
}

Error NoCertificate(std::string_view why) {
  return {Code::kInternal, "Cannot create a certificate: " + std::string(why)};
}

Error NoTls(std::string_view why) {
  return {Code::kInternal, "Cannot set up TLS: " + std::string(why)};
}

Error TrustUnreadable(std::string_view file) {
  return {Code::kInvalidArgument,
          "'" + std::string(file) + "' does not contain certificate authorities in PEM format."};
}

Error TlsRefused(std::string_view base, std::string_view why) {
  return {Code::kUnavailable,
          "Cannot establish TLS with " + std::string(base) + ": " + std::string(why)};
}

Error BodyTooLarge(size_t limit) {
  return {Code::kResourceExhausted,
          "The request body is larger than " + std::to_string(limit) + " bytes."};
}

Error BodyTruncated() {
  return {Code::kUnavailable, "The connection ended before the whole body had arrived."};
}

Error BodyMalformed(std::string_view why) {
  return {Code::kInvalidArgument, "The body is malformed: " + std::string(why)};
}

Error PeerSilent(int seconds) {
  return {Code::kUnavailable, "The peer was silent for " + std::to_string(seconds) + " s."};
}

Error PeerGone() { return {Code::kUnavailable, "The peer closed the connection."}; }

Error BaseInvalid(std::string_view base) {
  return {Code::kInvalidArgument,
          "'" + std::string(base) +
              "' is not an address of the form http://host:port with a port from 1 to 65535."};
}

Error CannotReach(std::string_view base, std::string_view why) {
  return {Code::kUnavailable, "Cannot reach " + std::string(base) + ": " + std::string(why)};
}

Error AddressForbidden(std::string_view host) {
  return {Code::kPermissionDenied,
          "'" + std::string(host) +
              "' is an address of this machine or of its link. The proxy does "
              "not relay to such addresses."};
}

Error NoAnswer(std::string_view base, std::string_view why) {
  return {Code::kUnavailable,
          "No complete response from " + std::string(base) + ": " + std::string(why)};
}

Error ClosedBeforeAnswer(std::string_view base) {
  return {Code::kAborted, "No response from " + std::string(base) + ": the connection was closed"};
}

Error AnswerSilent(std::string_view base, int seconds) {
  return {Code::kDeadlineExceeded,
          std::string(base) + " was silent for " + std::to_string(seconds) + " s."};
}

Response Refusal(int status, std::string_view message) {
  const StatusNames names = FindNames(status);
  const Json detail = {{"message", message}, {"domain", "global"}, {"reason", names.reason}};
  const Json error = {{"code", status},
                      {"message", message},
                      {"status", names.canonical},
                      {"errors", Json::array({detail})}};
  return JsonResponse(status, PrettyJson(Json{{"error", error}}));
}

Response TooManyConnections(int limit) {
  Response response = Refusal(
      503, "All " + std::to_string(limit) + " connections of the emulator are busy. Try again.");
  response.headers.Add("Retry-After", "1");
  return response;
}

Response HeadTimeout() { return Refusal(408, "The request's header did not arrive in time."); }

Response HeadTooLarge(size_t limit) {
  return Refusal(431, "The request's header is larger than " + std::to_string(limit) + " bytes.");
}

Response NotHttp(std::string_view why) {
  return Refusal(400, "The request is not valid HTTP/1.1: " + std::string(why) + ".");
}

Response VersionNotSupported() {
  return Refusal(505, "The server supports only HTTP/1.0 and HTTP/1.1.");
}

Response TransferCodingNotSupported() {
  return Refusal(501, "The server supports only the transfer coding 'chunked'.");
}

Response TransferCodingFieldCount() {
  return Refusal(400, "A request must have at most one Transfer-Encoding field.");
}

Response HostFieldCount() {
  return Refusal(400, "An HTTP/1.1 request must have exactly one Host field.");
}

Response HostDiffers(std::string_view host, std::string_view authority) {
  return Refusal(400, "The field host is '" + std::string(host) + "', and :authority is '" +
                          std::string(authority) + "'. Both must name the same host.");
}

Response SchemeUnknown(std::string_view scheme) {
  return Refusal(400, "The scheme '" + std::string(scheme) + "' is not http or https.");
}

Response TargetMalformed(std::string_view target) {
  return Refusal(400, "The request's target '" + std::string(target) + "' is malformed.");
}

Response HandlerFailed(std::string_view why) {
  return Refusal(500, why.empty() ? "Internal error." : "Internal error: " + std::string(why));
}

Response HostNotAllowed(std::string_view host) {
  return Refusal(403, "The host name '" + std::string(host) +
                          "' is not served here. Use a loopback address or localhost, or name the "
                          "host with --allow-host.");
}

Response OriginNotAllowed(std::string_view origin) {
  return Refusal(403, "Requests from pages of '" + std::string(origin) +
                          "' are refused: only this server's own pages may call it.");
}

Response SiteNotAllowed() {
  return Refusal(403, "Pages of other sites may not change anything here (Sec-Fetch-Site).");
}

Response UserNotAdmitted(std::string_view user) {
  const std::string who =
      user.empty() ? "The user of this client is unknown, because it is on another host or in a "
                     "container, or has closed its connection."
                   : "'" + std::string(user) +
                         "' may not use this emulator: only root and the user who started it may.";
  const std::string remedy = user.empty() ? "" : ", or start the emulator with --allow-users";
  return Refusal(403, who + " Send a token of `caip env --remote`" + remedy + ".");
}

Response TokenNotValid() {
  Response response = Refusal(401, kTokenNotValid);
  response.headers.Add("WWW-Authenticate", "Bearer error=\"invalid_token\"");
  return response;
}

Response WithChallenge(Response refusal) {
  refusal.status = 401;
  refusal.headers.Set("WWW-Authenticate", "Basic realm=\"caip\"");
  return refusal;
}

Response ProxyTokenNotValid() {
  Response response = Refusal(407, kTokenNotValid);
  response.headers.Add("Proxy-Authenticate", "Basic realm=\"caip\"");
  return response;
}

Response TunnelInsideTls() {
  return Refusal(
      501,
      "This proxy does not accept CONNECT over TLS. Use http:// in its address, not https://.");
}

Response TunnelInsideHttp2() {
  return Refusal(501, "This proxy accepts CONNECT over HTTP/1.1 only. Use HTTP/1.1 for it.");
}

Response TunnelWithBody() { return Refusal(400, "A CONNECT request must not have a body."); }

Response DestinationMalformed(std::string_view target) {
  return Refusal(400, "'" + std::string(target) + "' is not a destination of the form name:port.");
}

Response RelayOff(std::string_view host) {
  return Refusal(403, "'" + std::string(host) +
                          "' is not served here, and this proxy does not relay to other hosts.");
}

Response PortNotRelayed(std::string_view host, uint16_t port) {
  return Refusal(403, "This proxy relays only https: port " + std::to_string(port) + " of '" +
                          std::string(host) + "' cannot be reached through it.");
}

Response PlainNotRelayed(std::string_view host) {
  return Refusal(403, "'" + std::string(host) +
                          "' is not served here, and this proxy relays only https. Do not set "
                          "http_proxy to it, or add the host to no_proxy.");
}

Response CannotRelay(const Error& error) {
  switch (error.code) {
    case Code::kPermissionDenied:
      return Refusal(403, error.message);
    case Code::kDeadlineExceeded:
      return Refusal(504, error.message);
    default:
      return Refusal(502, error.message);
  }
}

}  // namespace caip::http::errors
