#include "http/errors.h"

#include <cerrno>
#include <cstring>

#include "base/json.h"

namespace caip::http::errors {
namespace {

std::string Place(std::string_view address, uint16_t port) {
  const bool six = address.find(':') != std::string_view::npos;
  const std::string host = six ? "[" + std::string(address) + "]" : std::string(address);
  return host + ":" + std::to_string(port);
}

struct Words {
  int status;
  const char* canonical;
  const char* reason;
};

constexpr Words kWords[] = {
    {400, "INVALID_ARGUMENT", "invalid"},     {403, "PERMISSION_DENIED", "forbidden"},
    {404, "NOT_FOUND", "notFound"},           {405, "INVALID_ARGUMENT", "methodNotAllowed"},
    {408, "DEADLINE_EXCEEDED", "timeout"},    {413, "RESOURCE_EXHAUSTED", "uploadTooLarge"},
    {431, "RESOURCE_EXHAUSTED", "invalid"},   {500, "INTERNAL", "internalError"},
    {501, "UNIMPLEMENTED", "notImplemented"}, {503, "UNAVAILABLE", "backendError"},
    {502, "UNAVAILABLE", "badGateway"},       {504, "DEADLINE_EXCEEDED", "gatewayTimeout"},
    {505, "INVALID_ARGUMENT", "invalid"},
};

Words WordsOf(int status) {
  for (const Words& words : kWords) {
    if (words.status == status) return words;
  }
  return {status, "UNKNOWN", "unknown"};
}

}  // namespace

Error PortTaken(std::string_view address, uint16_t port) {
  return {Code::kAlreadyExists, "cannot listen on " + Place(address, port) +
                                    ": another program has this port. Choose another port, or 0 "
                                    "for any free one."};
}

Error AddressInvalid(std::string_view address) {
  return {Code::kInvalidArgument, "cannot listen on '" + std::string(address) +
                                      "': it is no IPv4 or IPv6 address and not localhost"};
}

Error CannotListen(std::string_view address, uint16_t port, int error_number) {
  const Code code = error_number == EACCES          ? Code::kPermissionDenied
                    : error_number == EADDRNOTAVAIL ? Code::kInvalidArgument
                                                    : Code::kInternal;
  return {code, "cannot listen on " + Place(address, port) + ": " + std::strerror(error_number)};
}

Error ListenerExists(std::string_view tag) {
  return {Code::kAlreadyExists, "there is a listener named '" + std::string(tag) + "' already"};
}

Error NoCertificate(std::string_view why) {
  return {Code::kInternal, "cannot make a certificate: " + std::string(why)};
}

Error NoTls(std::string_view why) {
  return {Code::kInternal, "cannot set up TLS: " + std::string(why)};
}

Error TrustUnreadable(std::string_view file) {
  return {Code::kInvalidArgument,
          "'" + std::string(file) + "' holds no certificate authorities (PEM)"};
}

Error TlsRefused(std::string_view base, std::string_view why) {
  return {Code::kUnavailable, "no TLS with " + std::string(base) + ": " + std::string(why)};
}

Error BodyTooLarge(size_t limit) {
  return {Code::kResourceExhausted,
          "the request body is larger than " + std::to_string(limit) + " bytes"};
}

Error BodyTruncated() {
  return {Code::kUnavailable, "the connection ended before the whole body had arrived"};
}

Error BodyMalformed(std::string_view why) {
  return {Code::kInvalidArgument, "the body is malformed: " + std::string(why)};
}

Error PeerSilent(int seconds) {
  return {Code::kUnavailable, "the peer was silent for " + std::to_string(seconds) + " s"};
}

Error PeerGone() { return {Code::kUnavailable, "the peer closed the connection"}; }

Error BaseInvalid(std::string_view base) {
  return {Code::kInvalidArgument,
          "'" + std::string(base) + "' is no address of the form http://host:port"};
}

Error CannotReach(std::string_view base, std::string_view why) {
  return {Code::kUnavailable, "cannot reach " + std::string(base) + ": " + std::string(why)};
}

Error AddressForbidden(std::string_view host) {
  return {Code::kPermissionDenied, "'" + std::string(host) +
                                       "' is an address of this machine or of its link: such are "
                                       "not relayed to"};
}

Error NoAnswer(std::string_view base, std::string_view why) {
  return {Code::kUnavailable,
          "no whole answer from " + std::string(base) + ": " + std::string(why)};
}

Error AnswerSilent(std::string_view base, int seconds) {
  return {Code::kDeadlineExceeded,
          std::string(base) + " was silent for " + std::to_string(seconds) + " s"};
}

Response Refusal(int status, std::string_view message) {
  const Words words = WordsOf(status);
  const Json detail = {{"message", message}, {"domain", "global"}, {"reason", words.reason}};
  const Json error = {{"code", status},
                      {"message", message},
                      {"status", words.canonical},
                      {"errors", Json::array({detail})}};
  return JsonResponse(status, PrettyJson(Json{{"error", error}}));
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

Response TunnelInsideTls() {
  return Refusal(501, "This proxy is spoken to without TLS: name it as http://, not https://.");
}

Response DestinationMalformed(std::string_view target) {
  return Refusal(400, "'" + std::string(target) + "' is no destination of the form name:port.");
}

Response RelayOff(std::string_view host) {
  return Refusal(403, "'" + std::string(host) +
                          "' is not served here, and this proxy passes nothing on to other hosts.");
}

Response PortNotRelayed(std::string_view host, uint16_t port) {
  return Refusal(403, "This proxy passes on https only: port " + std::to_string(port) + " of '" +
                          std::string(host) + "' cannot be reached through it.");
}

Response PlainNotRelayed(std::string_view host) {
  return Refusal(403, "'" + std::string(host) +
                          "' is not served here, and this proxy passes on https only. Do not name "
                          "it as http_proxy, or name the host in no_proxy.");
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
