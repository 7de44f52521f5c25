#include "emulator/api/ml/policies.h"

#include <openssl/sha.h>

#include "base/encoding.h"
#include "base/json.h"
#include "emulator/api/errors.h"

namespace caip::api {
namespace {

constexpr size_t kPolicyBytesMax = 1 << 20;
constexpr const char* kEtagOfNone = "ACAB";  // the service's, of a policy that was never set

// A hash of what was and what is, so that going back does not bring back the old etag.
std::string NextEtag(const std::string& previous, const Json& policy) {
  const std::string text = previous + CompactJson(policy);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return Base64(std::string_view(reinterpret_cast<const char*>(digest), 8));
}

}  // namespace

// A hash keeps a project's name, whatever is in it, from leaving the directory.
Path PolicyStore::FileOf(const std::string& project, const std::string& job_id) const {
  const std::string name = "projects/" + project + "/jobs/" + job_id;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest);
  const auto* bytes = reinterpret_cast<const char*>(digest);
  return directory_ / (Hex(std::string_view(bytes, 16)) + ".json");
}

Result<Json> PolicyStore::Read(const Path& file) const {
  auto text = ReadFileUpTo(file, kPolicyBytesMax);
  if (!text.ok() && text.error().code == Code::kNotFound) return Json{{"etag", kEtagOfNone}};
  if (!text.ok()) return text.error();
  auto policy = ParseJson(*text);
  if (!policy.ok() || !policy->is_object()) return errors::PolicyBroken(file.string());
  return policy;
}

Result<Json> PolicyStore::Get(const std::string& project, const std::string& job_id) const {
  std::lock_guard lock(mutex_);
  return Read(FileOf(project, job_id));
}

Result<Json> PolicyStore::Set(const std::string& project, const std::string& job_id, Json policy) {
  std::lock_guard lock(mutex_);
  const Path file = FileOf(project, job_id);
  ASSIGN_OR_RETURN(const Json present, Read(file));
  const std::string etag = StringOr(present, "etag");
  const std::string sent = StringOr(policy, "etag");
  if (!sent.empty() && sent != etag) return errors::PolicyEtagStale();
  policy["etag"] = NextEtag(etag, policy);
  RETURN_IF_ERROR(MakeDirectories(directory_));
  RETURN_IF_ERROR(WriteFileDurably(file, PrettyJson(policy) + "\n"));
  return policy;
}

}  // namespace caip::api
