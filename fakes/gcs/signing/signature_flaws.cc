#include "fakes/gcs/signing/signature_flaws.h"

#include "base/time_text.h"

namespace caip::gcs::flaws {

SignatureFlaw Malformed(std::string_view what, std::string_view rule) {
  return {400, "InvalidArgument",
          "Invalid signature: " + std::string(what) + ": " + std::string(rule) + "."};
}

SignatureFlaw Expired(Instant at) {
  return {400,
          "ExpiredToken",
          "The provided token has expired. Sign a new one.",
          {{"Details", "Request signature expired at: " + Rfc3339(at)}}};
}

SignatureFlaw NotYetValid(std::string_view timestamp) {
  return {403, "AccessDenied",
          "The signature is dated " + std::string(timestamp) +
              ", which is in the future. Compare the signer's clock with this machine's."};
}

SignatureFlaw Skewed(std::string_view timestamp) {
  return {403, "RequestTimeTooSkewed",
          "The difference between the request's time (" + std::string(timestamp) +
              ") and the server's is too large: at most 15 minutes are allowed."};
}

SignatureFlaw HeaderMissing(std::string_view name) {
  return {400,
          "MalformedSecurityHeader",
          "Your request has a malformed header: it was signed, but it is not in the request.",
          {{"ParameterName", std::string(name)}}};
}

SignatureFlaw KeyUnknown(std::string_view id) {
  return {403, "InvalidSecurity",
          "The key of '" + std::string(id) +
              "' is not known here. Make an HMAC key, or register the account's public key."};
}

SignatureFlaw KeyInactive(std::string_view id) {
  return {403, "InvalidSecurity",
          "The HMAC key '" + std::string(id) + "' is inactive. Activate it, or use another one."};
}

SignatureFlaw DoesNotMatch(std::string_view string_to_sign, std::string_view canonical_request) {
  SignatureFlaw flaw{403,
                     "SignatureDoesNotMatch",
                     "Access denied. The request signature we calculated does not match the "
                     "signature you provided. Check the secret key and the signing method.",
                     {{"StringToSign", std::string(string_to_sign)}}};
  if (!canonical_request.empty()) {
    flaw.details.emplace_back("CanonicalRequest", std::string(canonical_request));
  }
  return flaw;
}

SignatureFlaw AuthenticationRequired() {
  return {401, "AuthenticationRequired",
          "Authentication required: this server takes signed requests only."};
}

}  // namespace caip::gcs::flaws
