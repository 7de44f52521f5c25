#pragma once
// Bytes as text: Base64, hexadecimal digits, percent encoding.

#include <optional>
#include <string>
#include <string_view>

namespace caip {

/// Encodes in the standard alphabet, with padding (RFC 4648, section 4).
std::string Base64(std::string_view bytes);
/// Decodes both alphabets of RFC 4648, with or without padding; nullopt for any other character.
std::optional<std::string> FromBase64(std::string_view text);
/// Two lower-case digits for each byte.
std::string Hex(std::string_view bytes);

/// Whether a URI may have the character without an escape (RFC 3986, section 2.3).
bool IsUnreserved(unsigned char c);
/// Writes %XX for all characters except the unreserved ones and those in `keep`.
std::string PercentEncoded(std::string_view text, std::string_view keep = "");
/// nullopt if an escape is not valid.
std::optional<std::string> PercentDecoded(std::string_view text);

}  // namespace caip
