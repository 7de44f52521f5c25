#pragma once
// The errors of the XML API: those that only this API has, and the form of every error.
// https://cloud.google.com/storage/docs/xml-api/reference-status

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "fakes/gcs/signing/signature_check.h"
#include "fakes/gcs/xml/place.h"
#include "http/message.h"

namespace caip::gcs {

/// An <Error> document with code, message and details. The error's reason, or else its status,
/// determines the code; some codes depend on whether `place` is a bucket or an object.
http::Response XmlErrorResponse(const Error& error, const Place& place);
/// The code and the message of an error.
struct XmlErrorText {
  std::string code;
  std::string message;
};
XmlErrorText DescribeXmlError(const Error& error, const Place& place);

http::Response XmlErrorResponse(const SignatureFlaw& flaw);

namespace xml_errors {

Error InvalidArgument(std::string_view why);
Error MalformedXml(std::string_view why);
Error InvalidUri(std::string_view why);
Error MethodNotAllowed(std::string_view method, std::string_view what);
Error NotImplemented(std::string_view what);
Error PreconditionFailed(std::string_view condition);
Error InvalidPart(int number);
Error InvalidPartOrder();
Error EntityTooSmall(uint64_t got, uint64_t wanted);
Error EntityTooLarge(uint64_t allowed);
Error LengthRangeInvalid(std::string_view header);
Error MalformedPost(std::string_view why);
Error Internal(std::string_view why);
/// The bytes of a part could not be received or kept.
Error PartLost(const Error& why);

}  // namespace xml_errors
}  // namespace caip::gcs
