#pragma once
// Access tokens and identity tokens: fake, but well-formed, expiring, and they tell whose they are.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "fakes/metadata/service_account_key.h"

namespace caip::metadata {

inline constexpr int64_t kTokenSeconds = 3600;
inline constexpr char kTokenPrefix[] = "ya29.caip.";

/// Who speaks.
struct Identity {
  std::string account;  // e-mail
  std::string project = {};
  std::string job = {};      // "" none
  std::string replica = {};  // "worker-replica-1"
  bool operator==(const Identity&) const = default;
};

/// What a token of ours says.
struct TokenFacts {
  Identity identity;
  std::vector<std::string> scopes;
  std::optional<int64_t> expires;  // seconds since 1970; unset: never
};

/// Mints for one state directory. Any thread. `wall` is the time that clients see, not the
/// emulated one; it outlives the mint.
class TokenMint {
 public:
  /// `keys` is <state>/keys: made when there is none.
  static Result<std::unique_ptr<TokenMint>> Open(const Path& keys, const Clock& wall);

  struct AccessToken {
    std::string text;
    int64_t expires_in = 0;  // seconds
  };
  /// As Compute Engine does, the same token until 300 seconds before its end.
  AccessToken Access(const Identity& identity, const std::vector<std::string>& scopes) const;
  /// One that never expires, always the same: for variables that are read once.
  std::string Lasting(const Identity& identity, const std::vector<std::string>& scopes) const;
  /// What an access token says, expired or not; nullopt where we did not make it.
  std::optional<TokenFacts> Read(std::string_view token) const;

  /// Made at first use, which takes a moment.
  Result<const ServiceAccountKey*> key() const;
  int64_t NowSeconds() const;

 private:
  TokenMint(Path keys, std::string secret, const Clock& wall);
  std::string Seal(const std::string& payload) const;

  Path keys_;
  std::string secret_;
  const Clock& wall_;
  mutable std::mutex mutex_;  // of the key's making
  mutable std::optional<ServiceAccountKey> key_;
};

}  // namespace caip::metadata
