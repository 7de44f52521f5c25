#pragma once
// The keys that the emulator knows: HMAC keys that it created, and public keys of service accounts.
// They are stored on disk, so signed URLs stay valid after a restart.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "base/result.h"
#include "fakes/gcs/signing/signature_check.h"

namespace caip::gcs {

/// A key as storage.projects.hmacKeys returns it, with its secret. Only the response to the
/// creation has the secret.
struct HmacKey {
  std::string access_id;
  std::string secret;
  std::string project;
  std::string account;
  std::string state = "ACTIVE";  // or INACTIVE, DELETED
  Instant created;
  Instant updated;
  int64_t version = 1;  // for the etag
};

/// The key with which the emulator signs for service accounts.
struct SignerKey {
  std::string id;           // as key files and identity tokens name it
  std::string private_pem;  // RSA
};

/// Called on any thread each time an account signs.
using SigningKeySource = std::function<Result<SignerKey>()>;

/// Stores the keys. Any thread. `directory` holds hmac_keys.json and public_keys.json (mode 0600).
class ServiceKeys final : public KeyRing {
 public:
  static Result<std::unique_ptr<ServiceKeys>> Open(Path directory, const Clock& clock,
                                                   Random random, SigningKeySource signer);

  std::optional<HmacSecret> SecretOf(const std::string& access_id) const override;
  std::vector<std::string> PublicKeysOf(const std::string& account) const override;

  Result<HmacKey> CreateHmac(const std::string& project, const std::string& account);
  /// Sorted by access id. Includes deleted keys.
  std::vector<HmacKey> ListHmac(const std::string& project) const;
  Result<HmacKey> GetHmac(const std::string& project, const std::string& access_id) const;
  /// `state`: ACTIVE or INACTIVE. `etag`: "" or that of the key, else kFailedPrecondition.
  Result<HmacKey> UpdateHmac(const std::string& project, const std::string& access_id,
                             const std::string& state, const std::string& etag);
  /// kInvalidArgument while the key is active.
  Status DeleteHmac(const std::string& project, const std::string& access_id);

  /// Adds a public key (or certificate) in PEM with which the account's signatures are checked.
  Status Register(const std::string& account, const std::string& pem);
  /// Signs as the account with the emulator's key (RSA, SHA-256) and registers that key for the
  /// account.
  struct Signed {
    std::string key_id;
    std::string signature;
  };
  Result<Signed> SignAs(const std::string& account, std::string_view bytes);

 private:
  ServiceKeys(Path directory, const Clock& clock, Random random, SigningKeySource signer)
      : directory_(std::move(directory)),
        clock_(clock),
        signer_(std::move(signer)),
        random_(random) {}
  Status Load();
  Status SaveHmac() const;
  Status SavePublic() const;
  std::string NewAccessId();

  const Path directory_;
  const Clock& clock_;
  const SigningKeySource signer_;
  mutable std::mutex mutex_;
  Random random_;
  std::map<std::string, HmacKey> hmac_;
  std::map<std::string, std::vector<std::string>> public_;
};

std::string EtagOf(const HmacKey& key);

}  // namespace caip::gcs
