#pragma once
// Checks signatures of requests: signed URLs (V4, V2) and Authorization headers.
// https://cloud.google.com/storage/docs/access-control/signed-urls

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/message.h"

namespace caip::gcs {

struct HmacSecret {
  std::string secret;
  bool active = true;
};

/// A port to the keys that signatures are checked with. Any thread.
class KeyRing {
 public:
  virtual ~KeyRing() = default;
  /// nullopt: the emulator did not create this key.
  virtual std::optional<HmacSecret> SecretOf(const std::string& access_id) const = 0;
  /// PEM of a service account's RSA keys. If there are none, its signatures cannot be checked.
  virtual std::vector<std::string> PublicKeysOf(const std::string& account) const = 0;
};

/// The reason why a signature is not valid, as an error of the XML API.
struct SignatureFlaw {
  int status = 403;
  std::string code;
  std::string message;
  std::vector<std::pair<std::string, std::string>> details = {};  // further elements of the error
};

struct SignatureOptions {
  /// Refuses unknown keys. If false, only the format, dates and expiry of signatures with unknown
  /// keys are checked, so that a client with a dummy key works offline.
  bool strict = false;
  /// The largest difference between a request's date and the server's time.
  Duration skew = std::chrono::minutes(15);
};

/// Checks the signatures of requests. The keys and the clock must outlive it. The clock is the wall
/// clock, which signers use. Any thread.
class SignatureCheck {
 public:
  SignatureCheck(const KeyRing& keys, const Clock& clock, SignatureOptions options = {})
      : keys_(keys), clock_(clock), options_(options) {}

  /// nullopt if the signature is valid or missing. `bucket` is the request's, from its host or its
  /// path. A URL signed for storage.googleapis.com is valid at every address of the emulator.
  std::optional<SignatureFlaw> Check(const http::Request& request, const std::string& bucket) const;

  /// Checks a V4 signature over a text that is not a request (a policy document). `scope` does not
  /// include the id.
  std::optional<SignatureFlaw> CheckText(const std::string& algorithm, const std::string& id,
                                         const std::string& scope, std::string_view text,
                                         const std::string& signature_hex) const;
  /// The same for V2, where the signature is base64.
  std::optional<SignatureFlaw> CheckTextV2(const std::string& id, std::string_view text,
                                           const std::string& signature_base64) const;

 private:
  struct Claim;
  std::optional<SignatureFlaw> CheckV4(const http::Request& request, const std::string& bucket,
                                       const Claim& claim) const;
  std::optional<SignatureFlaw> CheckTimes(const Claim& claim) const;
  std::optional<SignatureFlaw> CheckUrlV2(const http::Request& request,
                                          const std::string& bucket) const;
  std::optional<SignatureFlaw> CheckHeaderV2(const http::Request& request,
                                             const std::string& bucket,
                                             std::string_view authorization) const;

  const KeyRing& keys_;
  const Clock& clock_;
  SignatureOptions options_;
};

/// "20190201T090000Z".
std::optional<Instant> ParseCompactTime(std::string_view text);

}  // namespace caip::gcs
