
#include "fakes/gcs/store/names.h"

#include <arpa/inet.h>

#include "base/encoding.h"
#include "base/text.h"

namespace caip::gcs {
namespace {

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool HasMisplacedDot(std::string_view name) {
  for (std::string_view pair : {"..", ".-", "-."}) {
    if (name.find(pair) != std::string_view::npos) return true;
  }
  return false;
}

bool IsAddress(std::string_view name) {
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(name).c_str(), &address) == 1;
}

}  // namespace

std::optional<std::string> BucketNameProblem(std::string_view name) {
  const bool dotted = name.find('.') != std::string_view::npos;
  if (name.size() < 3 || name.size() > (dotted ? 222u : 63u)) {
    return "it must have 3 to 63 characters (up to 222 with dots)";
  }
  for (char c : name) {
    if (!IsLetterOrDigit(c) && c != '-' && c != '_' && c != '.') {
      return "it may only have lower-case letters, digits, '-', '_' and '.'";
    }
  }
  if (!IsLetterOrDigit(name.front()) || !IsLetterOrDigit(name.back())) {
    return "it must begin and end with a letter or digit";
  }
  if (HasMisplacedDot(name)) return "a dot must stand between letters or digits";
  for (const std::string& part : Split(name, '.')) {
    if (part.size() > 63) return "each part between dots may have 63 characters at most";
  }
  if (IsAddress(name)) return "it must not look like an IP address";
  if (name.starts_with("goog")) return "it must not begin with 'goog'";
  if (name.find("google") != std::string_view::npos ||
      name.find("g00gle") != std::string_view::npos) {
    return "it must not contain 'google' or anything like it";
  }
  return std::nullopt;
}

std::optional<std::string> ObjectNameProblem(std::string_view name) {
  if (name.empty()) return "it must not be empty";
  if (name.size() > kObjectNameBytesMax) return "it may have 1024 bytes at most";
  if (!IsUtf8(name)) return "it must be UTF-8";
  if (name.find_first_of("\r\n") != std::string_view::npos) return "it must not have a line end";
  if (name == "." || name == "..") return "it must not be '.' or '..'";
  if (name.starts_with(".well-known/acme-challenge/")) {
    return "it must not begin with '.well-known/acme-challenge/'";
  }
  return std::nullopt;
}

namespace {

constexpr size_t kPieceBytesMax = 255;  // the limit of Linux file systems
constexpr size_t kCutBytes = 240;       // of a longer component, in each piece
constexpr std::string_view kMark = "%~";
constexpr std::string_view kBeside = "%~file";

bool IsUpperHex(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); }

bool IsControl(unsigned char c) { return c < 0x20 || c == 0x7f; }

bool LooksEscaped(std::string_view text) {  // text starts with '%'
  if (text.size() >= 2 && text[1] == '~') return true;
  return text.size() >= 3 && IsUpperHex(text[1]) && IsUpperHex(text[2]);
}

std::string Escaped(char c) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kDigits[byte >> 4], kDigits[byte & 15]};
}

// The length of the first UTF-8 character; 0 if the text does not begin with one.
size_t CharacterLength(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  for (size_t length = 2; length <= 4 && length <= text.size(); ++length) {
    if (IsUtf8(text.substr(0, length))) return length;
  }
  return 0;
}

// Removes the first unit (a character or an escape) from the component and returns its escaped
// form.
std::string TakeUnit(std::string_view& component) {
  const char first = component.front();
  const size_t length = CharacterLength(component);
  const bool escape = length == 0 || IsControl(static_cast<unsigned char>(first)) ||
                      (first == '%' && LooksEscaped(component));
  std::string unit = escape ? Escaped(first) : std::string(component.substr(0, length));
  component.remove_prefix(escape ? 1 : length);
  return unit;
}

// Encodes the component, followed by `suffix`. Cuts it into directories if it is too long for one
// name.
std::string EncodeComponent(std::string_view component, std::string_view suffix) {
  if (component.empty()) return std::string(kMark).append(suffix);
  if (component == ".") return Escaped('.').append(suffix);
  if (component == "..") return (Escaped('.') + Escaped('.')).append(suffix);
  std::string whole;
  if (IsPlainPiece(component)) {
    whole = component;
  } else {
    for (std::string_view rest = component; !rest.empty();) whole += TakeUnit(rest);
  }
  if (whole.size() + suffix.size() <= kPieceBytesMax) return whole.append(suffix);
  std::string path;
  for (size_t piece = 0; !component.empty();) {
    const std::string unit = TakeUnit(component);
    if (piece + unit.size() > kCutBytes) {
      path.append(kMark).append("/");
      piece = 0;
    }
    path += unit;
    piece += unit.size();
  }
  return path.append(suffix);
}

std::string Encode(std::string_view name, std::string_view suffix) {
  std::string path;
  while (true) {
    const size_t slash = name.find('/');
    const bool last = slash == std::string_view::npos;
    path += EncodeComponent(name.substr(0, slash), last ? suffix : std::string_view());
    if (last) return path;
    path += '/';
    name.remove_prefix(slash + 1);
  }
}

std::string Unescaped(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && IsUpperHex(text[i + 1]) &&
        IsUpperHex(text[i + 2])) {
      bytes += *PercentDecoded(text.substr(i, 3));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

}  // namespace

bool IsPlainPiece(std::string_view piece) {
  if (piece.empty() || piece == "." || piece == ".." || piece.size() > kPieceBytesMax) return false;
  for (char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsControl(byte) || byte >= 0x80 || c == '%') return false;
  }
  return true;
}

std::string PlainPath(std::string_view name) { return Encode(name, ""); }

std::string BesidePath(std::string_view name) { return Encode(name, kBeside); }

PathPiece DecodePiece(std::string_view piece) {
  using Kind = PathPiece::Kind;
  Kind kind = Kind::kComponent;
  if (piece.ends_with(kBeside)) {
    kind = Kind::kBeside;
    piece.remove_suffix(kBeside.size());
  }
  if (piece == kMark) return {kind, ""};
  if (kind == Kind::kComponent && piece.ends_with(kMark)) {
    kind = Kind::kContinues;
    piece.remove_suffix(kMark.size());
  }
  return {kind, Unescaped(piece)};
}

std::optional<std::string> NameOfPath(std::string_view path) {
  std::string name;
  bool beside = false;
  for (std::string_view rest = path;;) {
    const size_t slash = rest.find('/');
    const PathPiece piece = DecodePiece(rest.substr(0, slash));
    name += piece.text;
    beside = piece.kind == PathPiece::Kind::kBeside;
    if (slash == std::string_view::npos) break;
    if (piece.kind == PathPiece::Kind::kComponent) name += '/';
    rest.remove_prefix(slash + 1);
  }
  const std::string canonical = beside ? BesidePath(name) : PlainPath(name);
  if (canonical != path) return std::nullopt;
  return name;
}

}  // namespace caip::gcs
