#pragma once
// The name of a blob's contents: "sha256:" and 64 lower-case hexadecimal digits
// (OCI Image Format Specification, "Digests").

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::images {

/// A valid digest. Its hexadecimal digits are safe as the name of a file.
class Digest {
 public:
  /// kInvalidArgument, with the reason "digestInvalid", if `text` is not "sha256:…".
  static Result<Digest> Parse(std::string_view text);
  /// Like Parse, without "sha256:".
  static Result<Digest> ParseHex(std::string_view hex);
  /// The digest of `bytes`.
  static Digest Of(std::string_view bytes);

  /// "sha256:…".
  std::string text() const { return "sha256:" + hex_; }
  const std::string& hex() const { return hex_; }

  friend bool operator==(const Digest&, const Digest&) = default;
  friend std::strong_ordering operator<=>(const Digest& a, const Digest& b) {
    return a.hex_.compare(b.hex_) <=> 0;
  }

 private:
  explicit Digest(std::string hex) : hex_(std::move(hex)) {}

  std::string hex_;
};

}  // namespace caip::images
