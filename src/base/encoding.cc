#include "base/encoding.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace caip {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsUnreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  const auto byte = [&bytes](size_t at) {
    return at < bytes.size() ? static_cast<uint32_t>(static_cast<unsigned char>(bytes[at])) : 0u;
  };
  char* out = text.data();
  for (size_t i = 0; i < bytes.size(); i += 3, out += 4) {
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out[0] = kBase64Alphabet[group >> 18];
    out[1] = kBase64Alphabet[group >> 12 & 63];
    if (i + 1 < bytes.size()) out[2] = kBase64Alphabet[group >> 6 & 63];
    if (i + 2 < bytes.size()) out[3] = kBase64Alphabet[group & 63];
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (char c : text) {
    const char standard = c == '-' ? '+' : c == '_' ? '/' : c;
    const size_t value = kBase64Alphabet.find(standard);
    if (value == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> bits & 0xff);
    }
  }
  if (bits >= 6) return std::nullopt;
  return bytes;
}

std::string Base64Url(std::string_view bytes, bool padded) {
  std::string text = Base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  if (!padded) text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  if (text.find_first_of("+/") != std::string_view::npos) return std::nullopt;
  return FromBase64(text);
}

std::string Hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (unsigned char c : bytes) {
    text += "0123456789abcdef"[c >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return text;
}

std::string PercentEncoded(std::string_view text, std::string_view keep) {
  std::string encoded;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsUnreserved(byte) || keep.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += "0123456789ABCDEF"[byte >> 4];
      encoded += "0123456789ABCDEF"[byte & 15];
    }
  }
  return encoded;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string PointerStep(std::string_view name) {
  return "/" + ReplaceAll(ReplaceAll(std::string(name), "~", "~0"), "/", "~1");
}

std::string NameOfPointerStep(std::string_view part) {
  return ReplaceAll(ReplaceAll(std::string(part), "~1", "/"), "~0", "~");
}

}  // namespace caip
