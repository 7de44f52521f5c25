#pragma once
// Base64, for bytes that a YAML text cannot hold.

#include <optional>
#include <string>

namespace conform {

/// Decodes base64 (RFC 4648); nullopt if the text is not valid.
std::optional<std::string> FromBase64(const std::string& text);

}  // namespace conform
