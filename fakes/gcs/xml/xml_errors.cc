#include "fakes/gcs/xml/xml_errors.h"

#include <string>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

// The code and message of a kind of error. Without a message, the error's own message is shown.
// Otherwise the error's own message becomes <Details>, if the API has details for this code.
struct Wording {
  const char* code;
  const char* message = nullptr;
  bool has_details = true;
};

struct ReasonRow {
  const char* reason;
  Wording wording;
};

constexpr Wording kNoSuchBucket = {"NoSuchBucket", "The specified bucket does not exist.", false};

constexpr ReasonRow kByReason[] = {
    {"bucketNotFound", kNoSuchBucket},
    {"bucketExists", {"BucketAlreadyOwnedByYou"}},
    {"bucketNotEmpty", {"BucketNotEmpty"}},
    {"bucketNameInvalid", {"InvalidBucketName", "The specified bucket is not valid."}},
    {"locationInvalid",
     {"InvalidLocationConstraint", "The specified location constraint is not valid."}},
    {"digestMismatch",
     {"BadDigest", "The Content-MD5 or checksum you specified did not match what we received."}},
    {"quotaExceeded", {"QuotaExceeded"}},
    {"malformedXml",
     {"MalformedXML",
      "The XML you provided was not well-formed or did not validate against our schema."}},
    {"invalidUri", {"InvalidURI", "Couldn't parse the specified URI."}},
    {"methodNotAllowed",
     {"MethodNotAllowed", "The specified method is not allowed against this resource."}},
    {"noSuchUpload", {"NoSuchUpload"}},
    {"invalidPart",
     {"InvalidPart",
      "One or more of the specified parts could not be found, or its ETag does not match."}},
    {"invalidPartOrder", {"InvalidPartOrder"}},
    {"entityTooSmall",
     {"EntityTooSmall", "Your proposed upload is smaller than the minimum allowed."}},
    {"entityTooLarge",
     {"EntityTooLarge", "Your proposed upload exceeds the maximum allowed size."}},
    {"malformedPost",
     {"MalformedPOSTRequest",
      "The body of your POST request is not well-formed multipart/form-data."}},
    {"invalidPolicy",
     {"InvalidPolicyDocument",
      "The content of the form does not meet the conditions specified in the policy document."}},
    {"internalXml", {"InternalError", "We encountered an internal error."}},
};

struct StatusRow {
  int status;
  Wording wording;
};

constexpr StatusRow kByStatus[] = {
    {400, {"InvalidArgument", "Invalid argument."}},
    {401, {"AuthenticationRequired"}},
    {403, {"AccessDenied"}},
    {404, {"NoSuchKey", "The specified key does not exist."}},
    {405, {"MethodNotAllowed"}},
    {408, {"RequestTimeout"}},
    {409, {"OperationAborted"}},
    {410, {"NoSuchUpload"}},
    {412, {"PreconditionFailed", "At least one of the pre-conditions you specified did not hold."}},
    {416, {"InvalidRange", "The requested range cannot be satisfied."}},
    {429, {"TooManyRequests"}},
    {501, {"NotImplemented"}},
    {503, {"ServiceUnavailable"}},
};

Wording WordingOf(const Error& error, const Place& place) {
  const auto [status, json_reason] = errors::HttpFormOf(error);
  const std::string_view reason = error.reason.empty() ? json_reason : error.reason.c_str();
  for (const ReasonRow& row : kByReason) {
    if (reason == row.reason) return row.wording;
  }
  if (place.object.empty() && status == 404) return kNoSuchBucket;
  if (place.object.empty() && status == 409) return {"BucketAlreadyOwnedByYou"};
  for (const StatusRow& row : kByStatus) {
    if (status == row.status) return row.wording;
  }
  return {status >= 500 ? "InternalError" : "InvalidArgument"};
}

}  // namespace

XmlErrorText DescribeXmlError(const Error& error, const Place& place) {
  const Wording wording = WordingOf(error, place);
  return {wording.code, wording.message ? wording.message : error.message};
}

http::Response XmlErrorResponse(const Error& error, const Place& place) {
  if (errors::IsConnectionReset(error)) {
    http::Response response;
    response.reset = true;
    return response;
  }
  const Wording wording = WordingOf(error, place);
  XmlElement root("Error");
  root.Add("Code", wording.code);
  root.Add("Message", wording.message ? wording.message : error.message);
  const bool detailed = wording.message && wording.has_details && !error.message.empty();
  if (detailed) root.Add("Details", error.message);
  return XmlResponse(root, errors::HttpFormOf(error).status);
}

http::Response XmlErrorResponse(const SignatureFlaw& flaw) {
  XmlElement root("Error");
  root.Add("Code", flaw.code);
  root.Add("Message", flaw.message);
  for (const auto& [name, value] : flaw.details) root.Add(name, value);
  return XmlResponse(root, flaw.status);
}

namespace xml_errors {
namespace {

Error Refused(std::string_view reason, std::string_view message) {
  return {Code::kInvalidArgument, std::string(message), {}, std::string(reason)};
}

}  // namespace

Error InvalidArgument(std::string_view why) { return Refused("invalid", why); }

Error MalformedXml(std::string_view why) { return Refused("malformedXml", why); }

Error InvalidUri(std::string_view why) { return Refused("invalidUri", why); }

Error MethodNotAllowed(std::string_view method, std::string_view what) {
  return {Code::kUnimplemented,
          std::string(method) + " of " + std::string(what),
          {},
          "methodNotAllowed"};
}

Error NotImplemented(std::string_view what) { return errors::NotImplemented(what); }

Error PreconditionFailed(std::string_view condition) {
  return {Code::kFailedPrecondition, std::string(condition), {}, "conditionNotMet"};
}

Error InvalidPart(int number) { return Refused("invalidPart", "part " + std::to_string(number)); }

Error InvalidPartOrder() {
  return Refused("invalidPartOrder",
                 "The list of parts was not in ascending order of their numbers.");
}

Error EntityTooSmall(uint64_t got, uint64_t wanted) {
  return Refused("entityTooSmall", std::to_string(got) + " bytes, but at least " +
                                       std::to_string(wanted) + " are needed");
}

Error EntityTooLarge(uint64_t allowed) {
  return Refused("entityTooLarge", "at most " + std::to_string(allowed) + " bytes are allowed");
}

Error LengthRangeInvalid(std::string_view header) {
  return InvalidArgument("'" + std::string(header) +
                         "' is not a valid x-goog-content-length-range. Use MIN,MAX: two numbers "
                         "of bytes, of which MIN is at most MAX.");
}

Error MalformedPost(std::string_view why) { return Refused("malformedPost", why); }

Error Internal(std::string_view why) {
  return {Code::kInternal, std::string(why), {}, "internalXml"};
}

Error PartLost(const Error& why) {
  if (why.code != Code::kUnavailable) return why;
  return {Code::kUnavailable, why.message, {}, "requestTimeout"};
}

}  // namespace xml_errors
}  // namespace caip::gcs
