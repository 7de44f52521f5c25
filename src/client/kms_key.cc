#include "client/kms_key.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "client/errors.h"

namespace caip::client {

Result<std::optional<std::string>> KmsKeyOf(const KmsFlags& kms, const GcloudContext& gcloud) {
  std::string key = kms.key.value_or("");
  const bool url = key.starts_with("https://") || key.starts_with("http://");
  if (url) key = key.substr(std::min(key.find("/projects/"), key.size() - 1) + 1);
  const std::vector<std::string> parts = Split(key, '/');
  const bool full = parts.size() >= 8 && parts[0] == "projects" && parts[2] == "locations" &&
                    parts[4] == "keyRings" && parts[6] == "cryptoKeys";
  if (full && !parts[1].empty() && !parts[3].empty() && !parts[5].empty()) {
    return std::optional(key);
  }
  const std::string ring = kms.keyring.value_or("");
  const std::string location = kms.location.value_or("");
  const std::string own_project = kms.project.value_or("");
  const bool is_given = !key.empty() || !ring.empty() || !location.empty() || !own_project.empty();
  if (!is_given) return std::optional<std::string>();
  const Result<std::string> project =
      own_project.empty() ? ProjectOf(gcloud) : Result<std::string>(own_project);
  if (full || url || key.empty() || ring.empty() || location.empty() || !project.ok()) {
    return errors::EncryptionKeyIncomplete();
  }
  return std::optional("projects/" + *project + "/locations/" + location + "/keyRings/" + ring +
                       "/cryptoKeys/" + key);
}

}  // namespace caip::client
