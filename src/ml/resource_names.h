#pragma once
// Names of resources of this and of other services, parsed and made.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::ml {

struct JobName {
  std::string project;
  std::string job_id;
  bool operator==(const JobName&) const = default;
};

/// "projects/p" -> "p"; the error is that of a bad `parent`.
Result<std::string> ParseProjectName(std::string_view name);
/// "projects/p/jobs/j". The id is not checked: a job with an invalid id is not found.
Result<JobName> ParseJobName(std::string_view name);
std::string ProjectName(std::string_view project);
std::string Text(const JobName& name);

/// projects/{NUMBER}/global/networks/{name}.
bool IsNetworkName(std::string_view name);

/// The location of projects/P/locations/R/keyRings/K/cryptoKeys/N; nullopt for other texts.
std::optional<std::string> LocationOfKmsKey(std::string_view name);

/// An e-mail address, or the account's numeric id.
bool IsServiceAccount(std::string_view account);

/// REGISTRY/PATH, then :TAG or @DIGEST, as container tools write it.
bool IsImageUri(std::string_view uri);

/// Names joined by dots, as `python -m` takes them.
bool IsPythonModule(std::string_view module);

}  // namespace caip::ml
