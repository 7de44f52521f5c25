#include "fakes/metadata/token_mint.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "fakes/metadata/service_account_key.h"

namespace caip::metadata {
namespace {

constexpr char kSecretName[] = "tokens.key";
constexpr size_t kSecretBytes = 32;
constexpr size_t kSealBytes = 16;
// The last part of a token's life, in which the mint no longer returns it.
constexpr int64_t kRenewalSeconds = 300;

Result<std::string> OpenSecret(const Path& keys) {
  const Path file = keys / kSecretName;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    RETURN_IF_ERROR(MakeDirectories(keys));
    ::chmod(keys.c_str(), 0700);
    std::string made(kSecretBytes, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(made.data()), kSecretBytes) != 1) {
      return errors::KeyNotCreated(file.string(), "the system has no random bytes");
    }
    RETURN_IF_ERROR(WriteKeyIfAbsent(file, made));
  }
  ::chmod(file.c_str(), 0600);  // an earlier version let others read it
  ASSIGN_OR_RETURN(std::string secret, ReadFileUpTo(file, kSecretBytes));
  if (secret.size() != kSecretBytes) return errors::KeyUnreadable(file.string());
  return secret;
}

// One-letter names keep the token short: every request contains it.
std::string MakePayload(const Identity& identity, const std::vector<std::string>& scopes,
                        std::optional<int64_t> expires) {
  Json payload = {{"a", identity.account}, {"p", identity.project}};
  if (!identity.job.empty()) payload["j"] = identity.job;
  if (!identity.replica.empty()) payload["r"] = identity.replica;
  payload["s"] = scopes;
  if (expires) payload["x"] = *expires;
  return CompactJson(payload);
}

}  // namespace

TokenMint::TokenMint(Path keys, std::string secret, const Clock& wall)
    : keys_(std::move(keys)), secret_(std::move(secret)), wall_(wall) {}

Result<std::unique_ptr<TokenMint>> TokenMint::Open(const Path& keys, const Clock& wall) {
  ASSIGN_OR_RETURN(std::string secret, OpenSecret(keys));
  return std::unique_ptr<TokenMint>(new TokenMint(keys, std::move(secret), wall));
}

int64_t TokenMint::NowSeconds() const {
  return std::chrono::floor<std::chrono::seconds>(wall_.Now()).time_since_epoch().count();
}

std::string TokenMint::Seal(const std::string& payload) const {
  return HmacSha256(secret_, payload).substr(0, kSealBytes);
}

// Time is divided into windows, so the mint stores nothing: all requests in one window get the same
// token, which stays valid for a while in the next window.
TokenMint::AccessToken TokenMint::Access(const Identity& identity,
                                         const std::vector<std::string>& scopes) const {
  constexpr int64_t kWindow = kTokenSeconds - kRenewalSeconds;
  const int64_t now = NowSeconds();
  const int64_t expires = now - now % kWindow + kTokenSeconds;
  const std::string payload = MakePayload(identity, scopes, expires);
  return {kTokenPrefix + Base64Url(payload) + "." + Base64Url(Seal(payload)), expires - now};
}

std::string TokenMint::Lasting(const Identity& identity,
                               const std::vector<std::string>& scopes) const {
  const std::string payload = MakePayload(identity, scopes, std::nullopt);
  return kTokenPrefix + Base64Url(payload) + "." + Base64Url(Seal(payload));
}

std::optional<TokenFacts> TokenMint::Read(std::string_view token) const {
  if (!token.starts_with(kTokenPrefix)) return std::nullopt;
  token.remove_prefix(sizeof kTokenPrefix - 1);
  const size_t dot = token.find('.');
  if (dot == token.npos) return std::nullopt;
  const auto payload = FromBase64Url(token.substr(0, dot));
  const auto seal = FromBase64Url(token.substr(dot + 1));
  if (!payload || !seal || seal->size() != kSealBytes) return std::nullopt;
  if (CRYPTO_memcmp(seal->data(), Seal(*payload).data(), kSealBytes) != 0) return std::nullopt;
  const auto json = ParseJson(*payload);
  if (!json.ok()) return std::nullopt;
  TokenFacts facts{
      {StringOr(*json, "a"), StringOr(*json, "p"), StringOr(*json, "j"), StringOr(*json, "r")},
      {},
      std::nullopt};
  if (const Json* scopes = Member(*json, "s")) {
    facts.scopes = scopes->get<std::vector<std::string>>();
  }
  if (Member(*json, "x")) facts.expires = IntOr(*json, "x", 0);
  return facts;
}

Result<const ServiceAccountKey*> TokenMint::key() const {
  const std::lock_guard lock(mutex_);
  if (!key_) {
    ASSIGN_OR_RETURN(key_, ServiceAccountKey::Open(keys_, wall_.Now()));
  }
  return &*key_;
}

}  // namespace caip::metadata
