#pragma once
// Every message about signatures that a client can receive. Private to fakes/gcs/signing.

#include <string>
#include <string_view>

#include "fakes/gcs/signing/signature_check.h"

namespace caip::gcs::flaws {

SignatureFlaw Malformed(std::string_view what, std::string_view rule);
SignatureFlaw Expired(Instant at);
SignatureFlaw NotYetValid(std::string_view timestamp);
SignatureFlaw Skewed(std::string_view timestamp);
SignatureFlaw HeaderMissing(std::string_view name);
SignatureFlaw KeyUnknown(std::string_view id);
SignatureFlaw KeyInactive(std::string_view id);
SignatureFlaw DoesNotMatch(std::string_view string_to_sign, std::string_view canonical_request);
SignatureFlaw AuthenticationRequired();

}  // namespace caip::gcs::flaws
