#include "grpc/call_status.h"

#include <algorithm>
#include <memory>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "grpc/message_frame.h"

namespace caip::grpc {
namespace {

// gRPC's C core, and so Python, refuses more than 8 KiB of trailers by default.
constexpr size_t kTrailerBytesMax = 7000;
constexpr std::string_view kCutMark = " [cut]";

struct KnownCode {
  Code code;
  std::string_view name;
  int http_status;
};

// google/rpc/code.proto. Where codes share a status, the first stands for it.
constexpr KnownCode kKnownCodes[] = {
    {Code::kInvalidArgument, "INVALID_ARGUMENT", 400},
    {Code::kFailedPrecondition, "FAILED_PRECONDITION", 400},
    {Code::kOutOfRange, "OUT_OF_RANGE", 400},
    {Code::kUnauthenticated, "UNAUTHENTICATED", 401},
    {Code::kPermissionDenied, "PERMISSION_DENIED", 403},
    {Code::kNotFound, "NOT_FOUND", 404},
    {Code::kAborted, "ABORTED", 409},
    {Code::kAlreadyExists, "ALREADY_EXISTS", 409},
    {Code::kResourceExhausted, "RESOURCE_EXHAUSTED", 429},
    {Code::kResourceExhausted, "RESOURCE_EXHAUSTED", 431},  // a header that is too large
    {Code::kCancelled, "CANCELLED", 499},
    {Code::kInternal, "INTERNAL", 500},
    {Code::kUnknown, "UNKNOWN", 500},
    {Code::kDataLoss, "DATA_LOSS", 500},
    {Code::kUnimplemented, "UNIMPLEMENTED", 501},
    {Code::kUnavailable, "UNAVAILABLE", 503},
    {Code::kDeadlineExceeded, "DEADLINE_EXCEEDED", 504},
};

Code CodeOfHttpStatus(int status) {
  for (const KnownCode& known : kKnownCodes) {
    if (known.http_status == status) return known.code;
  }
  return status >= 500 ? Code::kInternal : Code::kUnknown;
}

Code ReadCode(const Json& error, int http_status) {
  const std::string name = StringOr(error, "status");
  for (const KnownCode& known : kKnownCodes) {
    if (known.name == name) return known.code;
  }
  return CodeOfHttpStatus(http_status);
}

// gRPC over HTTP2, "Status-Message": all bytes that are not printable ASCII, and %, are escaped.
std::string EscapeMessage(std::string_view message) {
  std::string escaped;
  for (const char c : message) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '%';
    escaped += is_plain ? std::string(1, c) : PercentEncoded({&c, 1});
  }
  return escaped;
}

// The start of a message whose escaped form has the size, with a mark.
std::string CutMessage(std::string_view message, size_t escaped_max) {
  size_t escaped = kCutMark.size();
  size_t end = 0;
  while (end < message.size()) {
    const size_t length = std::max<size_t>(Utf8Length(message.substr(end)), 1);
    escaped += EscapeMessage(message.substr(end, length)).size();
    if (escaped > escaped_max) break;
    end += length;
  }
  return std::string(message.substr(0, end)).append(kCutMark);
}

}  // namespace

int HttpStatusOf(Code code) {
  for (const KnownCode& known : kKnownCodes) {
    if (known.code == code) return known.http_status;
  }
  return 200;
}

CallFailure ReadFailure(const Schema& schema, int http_status, const std::string& body) {
  const auto parsed = ParseJson(body);
  const Json* const error = parsed.ok() ? Member(*parsed, "error") : nullptr;
  if (error == nullptr || !error->is_object()) {
    return {{CodeOfHttpStatus(http_status), body}};
  }
  CallFailure failure{{ReadCode(*error, http_status), StringOr(*error, "message")}};
  const Json* const details = Member(*error, "details");
  if (details == nullptr) return failure;
  const Json status = {{"code", static_cast<int>(failure.error.code)},
                       {"message", failure.error.message},
                       {"details", *details}};
  auto bytes = schema.FromJson("google.rpc.Status", CompactJson(status));
  if (bytes.ok()) failure.details = *std::move(bytes);
  return failure;
}

void AddStatus(const CallFailure& failure, http::Headers& fields) {
  fields.Add("grpc-status", std::to_string(static_cast<int>(failure.error.code)));
  if (failure.error.code == Code::kOk) return;
  std::string details = Base64(failure.details);
  details.erase(std::min(details.find('='), details.size()));
  std::string message = EscapeMessage(failure.error.message);
  const bool has_details = !details.empty() && message.size() + details.size() <= kTrailerBytesMax;
  if (message.size() > kTrailerBytesMax) {
    message = EscapeMessage(CutMessage(failure.error.message, kTrailerBytesMax));
  }
  fields.Add("grpc-message", message);
  if (has_details) fields.Add("grpc-status-details-bin", details);
}

http::Response EmptyResponse() {
  http::Response response;
  response.headers.Add("content-type", "application/grpc");
  response.headers.Add("grpc-accept-encoding", "identity, deflate, gzip");
  return response;
}

http::Response FailureResponse(const CallFailure& failure) {
  http::Response response = EmptyResponse();
  AddStatus(failure, response.headers);
  return response;
}

http::Response MessageResponse(std::string_view message) {
  http::Response response = EmptyResponse();
  response.body = FrameMessage(message);
  const auto trailers = std::make_shared<http::Headers>();
  AddStatus({{Code::kOk, ""}}, *trailers);
  response.trailers = trailers;
  return response;
}

}  // namespace caip::grpc
