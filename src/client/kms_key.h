#pragma once
// The encryption key that the flags of a command name.

#include <optional>
#include <string>

#include "base/result.h"
#include "client/gcloud_properties.h"

namespace caip::client {

/// --kms-key, and the flags that complete it if it is not a full resource name.
struct KmsFlags {
  std::optional<std::string> key;
  std::optional<std::string> keyring;
  std::optional<std::string> location;
  std::optional<std::string> project;
};

/// The key's full name, as gcloud makes it: a full name or URL is used unchanged, any other value
/// is a key's ID and needs the other flags. nullopt without a key.
Result<std::optional<std::string>> KmsKeyOf(const KmsFlags& kms, const GcloudContext& gcloud);

}  // namespace caip::client
