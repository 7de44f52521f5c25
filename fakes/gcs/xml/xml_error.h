#pragma once
// Every error of the XML API that a user can read is made here.
// https://cloud.google.com/storage/docs/xml-api/reference-status

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace caip::gcs {

/// An error as the XML API sends it.
struct XmlError {
  int status = 400;
  std::string code;
  std::string message;
  std::vector<std::pair<std::string, std::string>> details = {};
};

/// A result in this dialect: Result<T>'s codes are too few for it.
http::Response ToResponse(const XmlError& error);

namespace xml_errors {

XmlError InvalidArgument(std::string_view why);
XmlError MalformedXml(std::string_view why);
XmlError InvalidUri(std::string_view why);
XmlError MethodNotAllowed(std::string_view method, std::string_view what);
XmlError NotImplemented(std::string_view what);
XmlError PreconditionFailed(std::string_view condition);
XmlError NoSuchUpload();
XmlError InvalidPart(std::string_view which);
XmlError InvalidPartOrder();
XmlError EntityTooSmall(uint64_t got, uint64_t wanted);
XmlError EntityTooLarge(uint64_t allowed);
XmlError BadDigest(std::string_view header);
XmlError MalformedPost(std::string_view why);
XmlError InvalidPolicy(std::string_view why);
XmlError Internal(std::string_view why);

/// What the JSON API said, in XML's words. `bucket_missing`: a 404 that means the bucket.
XmlError FromJson(int status, std::string_view reason, std::string_view message, bool of_object,
                  bool bucket_missing);

}  // namespace xml_errors
}  // namespace caip::gcs
