#pragma once
// Access tokens and identity tokens: fake, but well-formed and expiring. They contain their owner.

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

/// The owner of a token.
struct Identity {
  std::string account;  // e-mail
  std::string project = {};
  std::string job = {};      // "" none
  std::string replica = {};  // "worker-replica-1"
  bool operator==(const Identity&) const = default;
};

/// The contents of an access token.
struct TokenFacts {
  Identity identity;
  std::vector<std::string> scopes;
  std::optional<int64_t> expires;  // seconds since 1970; unset: never
};

/// Makes the tokens of one state directory. `wall` is the real time, which clients see; it must
/// outlive the mint. Any thread.
class TokenMint {
 public:
  /// `keys` is <state>/keys. Creates it if necessary.
  static Result<std::unique_ptr<TokenMint>> Open(const Path& keys, const Clock& wall);

  struct AccessToken {
    std::string text;
    int64_t expires_in = 0;  // seconds
  };
  /// Returns the same token until 300 seconds before its end, as Compute Engine does.
  AccessToken Access(const Identity& identity, const std::vector<std::string>& scopes) const;
  /// Returns a token that never expires, for environment variables. It is always the same.
  std::string Lasting(const Identity& identity, const std::vector<std::string>& scopes) const;
  /// Reads the contents of an access token, even if it has expired; nullopt if the mint did not
  /// make it.
  std::optional<TokenFacts> Read(std::string_view token) const;

  /// The key. The first call creates it, which takes some time.
  Result<const ServiceAccountKey*> key() const;
  int64_t NowSeconds() const;

 private:
  TokenMint(Path keys, std::string secret, const Clock& wall);
  std::string Seal(const std::string& payload) const;

  Path keys_;
  std::string secret_;
  const Clock& wall_;
  mutable std::mutex mutex_;  // guards the creation of the key
  mutable std::optional<ServiceAccountKey> key_;
};

}  // namespace caip::metadata
