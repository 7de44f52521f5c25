#pragma once
// Names of resources that jobs of several APIs refer to.

#include <optional>
#include <string>
#include <string_view>

namespace caip::google {

/// projects/{NUMBER}/global/networks/{name}. The name may have capital letters, as in the
/// documentation's example (docs/service/api.md, section 7).
bool IsNetworkName(std::string_view name);

/// The location of projects/P/locations/R/keyRings/K/cryptoKeys/N; nullopt for other texts.
std::optional<std::string> LocationOfKmsKey(std::string_view name);

/// An e-mail address, or the account's numeric id.
bool IsServiceAccount(std::string_view account);

/// REGISTRY/PATH, then :TAG or @DIGEST, as container tools write it.
bool IsImageUri(std::string_view uri);

/// Names joined by dots, as `python -m` takes them.
bool IsPythonModule(std::string_view module);

}  // namespace caip::google
