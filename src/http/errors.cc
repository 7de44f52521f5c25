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

}  // namespace caip::http::errors
