#pragma once
// Reads the properties of the user's gcloud configuration in gcloud's order: the flag, then
// CLOUDSDK_<SECTION>_<NAME>, then the file of the active configuration.

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// The flags that choose the project and the gcloud configuration.
struct GcloudContext {
  std::optional<std::string> project;        // --project
  std::optional<std::string> configuration;  // --configuration NAME
};

/// The property `section/name` from the environment or from a gcloud configuration: that of
/// --configuration, $CLOUDSDK_ACTIVE_CONFIG_NAME, or the active one.
std::optional<std::string> GcloudProperty(const GcloudContext& context, const std::string& section,
                                          const std::string& name);

/// --project, or the property core/project. The error has gcloud's text and a remedy.
Result<std::string> ProjectOf(const GcloudContext& context);

}  // namespace caip::client
