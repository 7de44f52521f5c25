// Maps an error of Cloud Storage to its HTTP status and to the reason that the JSON API reports.

#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs::errors {
namespace {

// The reason of an error that has only a code.
constexpr std::pair<Code, const char*> kReasonsOfCodes[] = {
    {Code::kInvalidArgument, "invalid"},
    {Code::kUnauthenticated, "authenticationRequired"},
    {Code::kPermissionDenied, "forbidden"},
    {Code::kResourceExhausted, "quotaExceeded"},
    {Code::kNotFound, "notFound"},
    {Code::kAlreadyExists, "conflict"},
    {Code::kAborted, "conflict"},
    {Code::kFailedPrecondition, "conditionNotMet"},
    {Code::kOutOfRange, "requestedRangeNotSatisfiable"},
    {Code::kUnimplemented, "notImplemented"},
    {Code::kUnavailable, "backendError"},
};

struct Row {
  const char* reason;
  HttpForm form;
};

// An error that a retry cannot fix never has a status that clients retry. They would retry for
// minutes, which looks like a hang. For the same reason, a full disk is a 403.
constexpr Row kForms[] = {
    {"invalid", {400, "invalid"}},
    {"invalidParameter", {400, "invalidParameter"}},
    {"required", {400, "required"}},
    {"bucketNameInvalid", {400, "invalid"}},
    {"locationInvalid", {400, "invalid"}},
    {"digestMismatch", {400, "invalid"}},
    {"malformedXml", {400, "invalid"}},
    {"invalidUri", {400, "invalid"}},
    {"invalidPart", {400, "invalid"}},
    {"invalidPartOrder", {400, "invalid"}},
    {"entityTooSmall", {400, "invalid"}},
    {"entityTooLarge", {400, "invalid"}},
    {"malformedPost", {400, "invalid"}},
    {"invalidPolicy", {400, "invalid"}},
    {"resourceIsEncryptedWithCustomerEncryptionKey",
     {400, "resourceIsEncryptedWithCustomerEncryptionKey"}},
    {"authenticationRequired", {401, "required"}},
    {"forbidden", {403, "forbidden"}},
    {"quotaExceeded", {403, "quotaExceeded"}},
    {"objectUnderActiveHold", {403, "objectUnderActiveHold"}},
    {"retentionPolicyNotMet", {403, "retentionPolicyNotMet"}},
    {"customerEncryptionKeyIsIncorrect", {403, "customerEncryptionKeyIsIncorrect"}},
    {"notFound", {404, "notFound"}},
    {"bucketNotFound", {404, "notFound"}},
    {"noSuchUpload", {404, "notFound"}},
    {"methodNotAllowed", {405, "methodNotAllowed"}},
    {"requestTimeout", {408, "requestTimeout"}},
    {"conflict", {409, "conflict"}},
    {"bucketExists", {409, "conflict"}},
    {"bucketNotEmpty", {409, "conflict"}},
    {"folderNotEmpty", {409, "conflict"}},
    {"gone", {410, "gone"}},
    {"conditionNotMet", {412, "conditionNotMet"}},
    {"requestedRangeNotSatisfiable", {416, "requestedRangeNotSatisfiable"}},
    {"rateLimitExceeded", {429, "rateLimitExceeded"}},
    {"internalError", {500, "internalError"}},
    {"notImplemented", {501, "notImplemented"}},
    {"badGateway", {502, "badGateway"}},
    {"backendError", {503, "backendError"}},
    {"gatewayTimeout", {504, "gatewayTimeout"}},
};

// The error that a fault injects for a status.
struct InjectedRow {
  int status;
  Code code;
  const char* reason;
};
constexpr InjectedRow kInjected[] = {
    {400, Code::kInvalidArgument, "invalid"},
    {401, Code::kUnauthenticated, "required"},
    {403, Code::kPermissionDenied, "forbidden"},
    {404, Code::kNotFound, "notFound"},
    {408, Code::kDeadlineExceeded, "requestTimeout"},
    {409, Code::kAborted, "conflict"},
    {412, Code::kFailedPrecondition, "conditionNotMet"},
    {429, Code::kResourceExhausted, "rateLimitExceeded"},
    {500, Code::kInternal, "internalError"},
    {502, Code::kUnavailable, "badGateway"},
    {503, Code::kUnavailable, "backendError"},
    {504, Code::kUnavailable, "gatewayTimeout"},
};
constexpr std::string_view kInjectedReason = "injected";
constexpr std::string_view kResetReason = "connectionReset";

}  // namespace

Error Injected(int status, std::string_view message) {
  Code code = Code::kUnavailable;
  for (const InjectedRow& row : kInjected) {
    if (row.status == status) code = row.code;
  }
  return {.code = code,
          .message = std::string(message),
          .reason = std::string(kInjectedReason),
          .http_status = status};
}

Error ConnectionReset() {
  return {.code = Code::kUnavailable,
          .message = "Injected fault: return-reset-connection.",
          .reason = std::string(kResetReason)};
}

bool IsConnectionReset(const Error& error) { return error.reason == kResetReason; }

HttpForm HttpFormOf(const Error& error) {
  if (error.http_status != 0) {
    for (const InjectedRow& row : kInjected) {
      if (row.status == error.http_status) return {row.status, row.reason};
    }
    return {error.http_status, kInjectedReason.data()};
  }
  std::string_view reason = error.reason;
  for (const auto& [code, name] : kReasonsOfCodes) {
    if (reason.empty() && code == error.code) reason = name;
  }
  for (const Row& row : kForms) {
    if (reason == row.reason) return row.form;
  }
  return {500, "internalError"};
}

http::Response ToResponse(const Error& error) {
  const auto [status, reason] = HttpFormOf(error);
  Json details = Json::array();
  const auto add = [&details, reason = reason](const std::string& message) {
    details.push_back(Json{{"message", message}, {"domain", "global"}, {"reason", reason}});
  };
  for (const FieldViolation& violation : error.violations) add(violation.description);
  if (details.empty()) add(error.message);
  const Json shown = {{"code", status}, {"message", error.message}, {"errors", std::move(details)}};
  return http::JsonResponse(status, PrettyJson(Json{{"error", shown}}));
}

}  // namespace caip::gcs::errors
