#include "fakes/gcs/signing/service_keys.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/signing/digest.h"

namespace caip::gcs {
namespace {

constexpr size_t kPublicKeysMax = 10;  // per account, as in the real service
constexpr int kRandomCharacters = 55;  // after "GOOG1E": 61 in all, as in the real service

Json ToJson(const HmacKey& key) {
  return {{"accessId", key.access_id},
          {"secret", key.secret},
          {"project", key.project},
          {"account", key.account},
          {"state", key.state},
          {"created", Rfc3339(key.created, 9)},
          {"updated", Rfc3339(key.updated, 9)},
          {"version", key.version}};
}

HmacKey FromJson(const Json& json) {
  HmacKey key;
  key.access_id = StringOr(json, "accessId");
  key.secret = StringOr(json, "secret");
  key.project = StringOr(json, "project");
  key.account = StringOr(json, "account");
  key.state = StringOr(json, "state");
  key.created = ParseRfc3339(StringOr(json, "created")).value_or(Instant());
  key.updated = ParseRfc3339(StringOr(json, "updated")).value_or(Instant());
  key.version = IntOr(json, "version", 1);
  return key;
}

Result<Json> ReadJson(const Path& file) {
  if (!std::filesystem::exists(file)) return Json();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  return ParseJson(text);
}

// Only the owner of the file may read secrets.
Status WriteSecretly(const Path& file, std::string_view bytes) {
  return WriteFileDurably(file, bytes, 0600);
}

}  // namespace

std::string EtagOf(const HmacKey& key) {
  return Base64(key.access_id.substr(0, 12) + "/" + std::to_string(key.version));
}

Result<std::unique_ptr<ServiceKeys>> ServiceKeys::Open(Path directory, const Clock& clock,
                                                       Random random, SigningKeySource signer) {
  std::unique_ptr<ServiceKeys> keys(
      new ServiceKeys(std::move(directory), clock, random, std::move(signer)));
  RETURN_IF_ERROR(keys->Load());
  return keys;
}

Status ServiceKeys::Load() {
  RETURN_IF_ERROR(MakeDirectories(directory_));
  if (::chmod(directory_.c_str(), 0700) != 0) {
    return CannotProtect(directory_, errno);
  }
  ASSIGN_OR_RETURN(const Json hmac, ReadJson(directory_ / "hmac_keys.json"));
  for (const Json& json : hmac) {
    HmacKey key = FromJson(json);
    hmac_[key.access_id] = std::move(key);
  }
  ASSIGN_OR_RETURN(const Json known, ReadJson(directory_ / "public_keys.json"));
  for (const auto& [account, list] : known.items()) {
    for (const Json& pem : list) {
      if (pem.is_string()) public_[account].push_back(pem.get<std::string>());
    }
  }
  return Ok{};
}

Status ServiceKeys::SaveHmac() const {
  Json list = Json::array();
  for (const auto& [id, key] : hmac_) list.push_back(ToJson(key));
  return WriteSecretly(directory_ / "hmac_keys.json", PrettyJson(list));
}

Status ServiceKeys::SavePublic() const {
  Json all = Json::object();
  for (const auto& [account, list] : public_) all[account] = list;
  return WriteSecretly(directory_ / "public_keys.json", PrettyJson(all));
}

std::optional<HmacSecret> ServiceKeys::SecretOf(const std::string& access_id) const {
  const std::lock_guard lock(mutex_);
  const auto key = hmac_.find(access_id);
  if (key == hmac_.end()) return std::nullopt;
  return HmacSecret{key->second.secret, key->second.state == "ACTIVE"};
}

std::vector<std::string> ServiceKeys::PublicKeysOf(const std::string& account) const {
  const std::lock_guard lock(mutex_);
  const auto known = public_.find(account);
  return known == public_.end() ? std::vector<std::string>() : known->second;
}

std::string ServiceKeys::NewAccessId() {
  constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string id = "GOOG1E";
  for (int i = 0; i < kRandomCharacters; ++i) id += kBase32[random_.Below(kBase32.size())];
  return id;
}

Result<HmacKey> ServiceKeys::CreateHmac(const std::string& project, const std::string& account) {
  if (account.find('@') == std::string::npos) {
    return errors::ParameterInvalid("serviceAccountEmail", account, "expected an e-mail address");
  }
  const std::lock_guard lock(mutex_);
  HmacKey key;
  do {  // the same seed repeats the ids of an earlier process
    key.access_id = NewAccessId();
  } while (hmac_.contains(key.access_id));
  std::string bytes;
  while (bytes.size() < 30) bytes += static_cast<char>(random_.Below(256));
  key.secret = Base64(bytes);
  key.project = project;
  key.account = account;
  key.created = key.updated = clock_.Now();
  hmac_[key.access_id] = key;
  if (Status saved = SaveHmac(); !saved.ok()) {
    hmac_.erase(key.access_id);
    return saved.error();
  }
  return key;
}

std::vector<HmacKey> ServiceKeys::ListHmac(const std::string& project) const {
  const std::lock_guard lock(mutex_);
  std::vector<HmacKey> list;
  for (const auto& [id, key] : hmac_) {
    if (key.project == project) list.push_back(key);
  }
  return list;
}

Result<HmacKey> ServiceKeys::GetHmac(const std::string& project,
                                     const std::string& access_id) const {
  const std::lock_guard lock(mutex_);
  const auto key = hmac_.find(access_id);
  if (key == hmac_.end() || key->second.project != project)
    return errors::HmacKeyNotFound(access_id);
  return key->second;
}

Result<HmacKey> ServiceKeys::UpdateHmac(const std::string& project, const std::string& access_id,
                                        const std::string& state, const std::string& etag) {
  if (state != "ACTIVE" && state != "INACTIVE") {
    return errors::FieldInvalid("state", "expected ACTIVE or INACTIVE");
  }
  const std::lock_guard lock(mutex_);
  const auto found = hmac_.find(access_id);
  if (found == hmac_.end() || found->second.project != project)
    return errors::HmacKeyNotFound(access_id);
  HmacKey& key = found->second;
  if (!etag.empty() && etag != EtagOf(key)) {
    return errors::HmacKeyChanged();
  }
  if (key.state == "DELETED") return errors::FieldInvalid("state", "a deleted key stays deleted");
  const HmacKey before = key;
  key.state = state;
  key.updated = clock_.Now();
  ++key.version;
  if (Status saved = SaveHmac(); !saved.ok()) {
    key = before;
    return saved.error();
  }
  return key;
}

Status ServiceKeys::DeleteHmac(const std::string& project, const std::string& access_id) {
  const std::lock_guard lock(mutex_);
  const auto found = hmac_.find(access_id);
  if (found == hmac_.end() || found->second.project != project ||
      found->second.state == "DELETED") {
    return errors::HmacKeyNotFound(access_id);
  }
  HmacKey& key = found->second;
  if (key.state != "INACTIVE") {
    return errors::HmacKeyActive(access_id);
  }
  const HmacKey before = key;
  key.state = "DELETED";
  key.updated = clock_.Now();
  ++key.version;
  Status saved = SaveHmac();
  if (!saved.ok()) key = before;
  return saved;
}

Status ServiceKeys::Register(const std::string& account, const std::string& pem) {
  auto key = PublicKeyOf(pem);
  if (!key.ok()) return errors::FieldInvalid("publicKey", key.error().message);
  const std::lock_guard lock(mutex_);
  std::vector<std::string>& known = public_[account];
  if (std::find(known.begin(), known.end(), *key) != known.end()) return Ok{};
  const std::vector<std::string> before = known;
  known.push_back(std::move(*key));
  if (known.size() > kPublicKeysMax) known.erase(known.begin());
  Status saved = SavePublic();
  if (!saved.ok()) known = before;
  return saved;
}

Result<ServiceKeys::Signed> ServiceKeys::SignAs(const std::string& account,
                                                std::string_view bytes) {
  ASSIGN_OR_RETURN(SignerKey key, signer_());
  RETURN_IF_ERROR(Register(account, key.private_pem));
  ASSIGN_OR_RETURN(std::string signature, RsaSign(key.private_pem, bytes));
  return Signed{std::move(key.id), std::move(signature)};
}

}  // namespace caip::gcs
