#pragma once
// All error texts of the metadata server and of the token endpoints.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::metadata::errors {

// Keys.
Error KeyUnreadable(std::string_view file);
Error KeyNotCreated(std::string_view file, std::string_view why);

// Requests to the token endpoints.
Error FormInvalid();
Error JwtPartsInvalid();
/// `part` is "header", "claims part" or "signature".
Error JwtPartInvalid(std::string_view part);

// The metadata server: HTML pages, as from Compute Engine.
http::Response NotFound(std::string_view path);
http::Response FlavorMissing();
http::Response Forwarded();
http::Response MethodNotAllowed(std::string_view method);
http::Response ParameterInvalid(std::string_view name, std::string_view value,
                                std::string_view rule);
http::Response AudienceMissing();
http::Response MachineRemoved();
http::Response KeyUnusable(const Error& error);

// OAuth: {"error": ..., "error_description": ...}.
http::Response GrantUnsupported(std::string_view grant);
http::Response AssertionInvalid(std::string_view why);
http::Response RefreshTokenMissing();
http::Response TokenInvalid();

}  // namespace caip::metadata::errors
