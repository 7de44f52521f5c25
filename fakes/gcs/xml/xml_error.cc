#include "fakes/gcs/xml/xml_error.h"

#include "fakes/gcs/xml/xml_text.h"

namespace caip::gcs {

http::Response ToResponse(const XmlError& error) {
  XmlElement root("Error");
  root.Add("Code", error.code);
  root.Add("Message", error.message);
  for (const auto& [name, value] : error.details) root.Add(name, value);
  http::Response response;
  response.status = error.status;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  response.body = XmlDocument(root);
  return response;
}

namespace xml_errors {
namespace {

XmlError Made(int status, const char* code, std::string message, std::string_view details = {}) {
  XmlError error{status, code, std::move(message)};
  if (!details.empty()) error.details.emplace_back("Details", std::string(details));
  return error;
}

}  // namespace

XmlError InvalidArgument(std::string_view why) {
  return Made(400, "InvalidArgument", "Invalid argument.", why);
}

XmlError MalformedXml(std::string_view why) {
  return Made(400, "MalformedXML",
              "The XML you provided was not well-formed or did not validate against our schema.",
              why);
}

XmlError InvalidUri(std::string_view why) {
  return Made(400, "InvalidURI", "Couldn't parse the specified URI.", why);
}

XmlError MethodNotAllowed(std::string_view method, std::string_view what) {
  return Made(405, "MethodNotAllowed", "The specified method is not allowed against this resource.",
              std::string(method) + " of " + std::string(what));
}

XmlError NotImplemented(std::string_view what) {
  return Made(501, "NotImplemented", std::string(what) + " is not implemented by this emulator.");
}

XmlError PreconditionFailed(std::string_view condition) {
  return Made(412, "PreconditionFailed",
              "At least one of the pre-conditions you specified did not hold.", condition);
}

XmlError NoSuchUpload() {
  return Made(404, "NoSuchUpload",
              "The requested upload was not found: it was completed, aborted, or never begun.");
}

XmlError InvalidPart(std::string_view which) {
  return Made(400, "InvalidPart",
              "One or more of the specified parts could not be found, or its ETag does not match.",
              which);
}

XmlError InvalidPartOrder() {
  return Made(400, "InvalidPartOrder",
              "The list of parts was not in ascending order of their numbers.");
}

XmlError EntityTooSmall(uint64_t got, uint64_t wanted) {
  return Made(
      400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed.",
      std::to_string(got) + " bytes, but at least " + std::to_string(wanted) + " are needed");
}

XmlError EntityTooLarge(uint64_t allowed) {
  return Made(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size.",
              "at most " + std::to_string(allowed) + " bytes are allowed");
}

XmlError BadDigest(std::string_view header) {
  return Made(400, "BadDigest",
              "The Content-MD5 or checksum you specified did not match what we received.", header);
}

XmlError MalformedPost(std::string_view why) {
  return Made(400, "MalformedPOSTRequest",
              "The body of your POST request is not well-formed multipart/form-data.", why);
}

XmlError InvalidPolicy(std::string_view why) {
  return Made(400, "InvalidPolicyDocument",
              "The content of the form does not meet the conditions specified in the policy "
              "document.",
              why);
}

XmlError Internal(std::string_view why) {
  return Made(500, "InternalError", "We encountered an internal error.", why);
}

namespace {

XmlError NotFound(std::string_view message, bool of_object, bool bucket_missing) {
  if (bucket_missing || !of_object) {
    return Made(404, "NoSuchBucket", "The specified bucket does not exist.");
  }
  return Made(404, "NoSuchKey", "The specified key does not exist.", message);
}

XmlError BadRequest(std::string_view message) {
  const auto says = [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (says("doesn't match calculated")) return BadDigest(message);
  if (says("nvalid bucket name")) {
    return Made(400, "InvalidBucketName", "The specified bucket is not valid.", message);
  }
  return InvalidArgument(message);
}

}  // namespace

XmlError FromJson(int status, std::string_view reason, std::string_view message, bool of_object,
                  bool bucket_missing) {
  const std::string text(message);
  switch (status) {
    case 400:
      return BadRequest(message);
    case 401:
      return Made(401, "AuthenticationRequired", text);
    case 403:
      return Made(403, reason == "quotaExceeded" ? "QuotaExceeded" : "AccessDenied", text);
    case 404:
      return NotFound(message, of_object, bucket_missing);
    case 405:
      return Made(405, "MethodNotAllowed", text);
    case 408:
      return Made(408, "RequestTimeout", text);
    case 409:
      if (of_object) return Made(409, "OperationAborted", text);
      return Made(409,
                  text.find("not empty") != std::string::npos ? "BucketNotEmpty"
                                                              : "BucketAlreadyOwnedByYou",
                  text);
    case 410:
      return Made(410, "NoSuchUpload", text);
    case 412:
      return PreconditionFailed(message);
    case 416:
      return Made(416, "InvalidRange", "The requested range cannot be satisfied.", message);
    case 429:
      return Made(429, "TooManyRequests", text);
    case 501:
      return Made(501, "NotImplemented", text);
    case 503:
      return Made(503, "ServiceUnavailable", text);
    default:
      return Made(status, status >= 500 ? "InternalError" : "InvalidArgument", text);
  }
}

}  // namespace xml_errors
}  // namespace caip::gcs
