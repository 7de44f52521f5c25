#pragma once
// The keys that signatures are checked with: a port between the checks and where keys are kept.

#include <optional>
#include <string>
#include <vector>

namespace caip::gcs {

struct HmacSecret {
  std::string secret;
  bool active = true;
};

/// Any thread.
class KeyRing {
 public:
  virtual ~KeyRing() = default;
  /// nullopt: a key that was not made here.
  virtual std::optional<HmacSecret> SecretOf(const std::string& access_id) const = 0;
  /// PEM of the RSA keys known of a service account; empty: none, its signatures cannot be checked.
  virtual std::vector<std::string> PublicKeysOf(const std::string& account) const = 0;
};

}  // namespace caip::gcs
