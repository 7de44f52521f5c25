#pragma once
// Bytes as text: Base64, hexadecimal digits, percent encoding, steps of JSON pointers.

#include <optional>
#include <string>
#include <string_view>

namespace caip {

/// Encodes in the standard alphabet, with padding (RFC 4648, section 4).
std::string Base64(std::string_view bytes);
/// Decodes both alphabets of RFC 4648, with or without padding; nullopt for any other character.
std::optional<std::string> FromBase64(std::string_view text);
/// Encodes in the alphabet that needs no escapes in a URL (RFC 4648, section 5).
std::string Base64Url(std::string_view bytes, bool padded = false);
/// Decodes only that alphabet, with or without padding.
std::optional<std::string> FromBase64Url(std::string_view text);
/// Two lower-case digits for each byte.
std::string Hex(std::string_view bytes);

/// Whether a URI may have the character without an escape (RFC 3986, section 2.3).
bool IsUnreserved(unsigned char c);
/// Writes %XX for all characters except the unreserved ones and those in `keep`.
std::string PercentEncoded(std::string_view text, std::string_view keep = "");
/// nullopt if an escape is not valid.
std::optional<std::string> PercentDecoded(std::string_view text);

/// "/" and the name, escaped: one step of a JSON pointer (RFC 6901, section 3).
std::string PointerStep(std::string_view name);
/// The name that the part of a JSON pointer after a "/" stands for.
std::string NameOfPointerStep(std::string_view part);

}  // namespace caip
