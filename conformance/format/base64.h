#pragma once
// Bytes that no YAML text can hold.

#include <optional>
#include <string>

namespace conform {

/// The bytes that RFC 4648's base64 text stands for; nullopt: it is none.
std::optional<std::string> FromBase64(const std::string& text);

}  // namespace conform
