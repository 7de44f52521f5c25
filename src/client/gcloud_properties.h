#pragma once
// gcloud's properties, so that a configured gcloud need not be configured again: flag, then
// CLOUDSDK_<SECTION>_<NAME>, then the active configuration's file.

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace caip::client {

/// What a command says about the project and about which of gcloud's configurations to read.
struct GcloudContext {
  std::optional<std::string> project;        // --project
  std::optional<std::string> configuration;  // --configuration NAME
};

/// The property `section/name`, from the environment or gcloud's configuration: --configuration,
/// $CLOUDSDK_ACTIVE_CONFIG_NAME, or the active one.
std::optional<std::string> GcloudProperty(const GcloudContext& context, const std::string& section,
                                          const std::string& name);

/// --project, else core/project. Error: gcloud's text, with what to do.
Result<std::string> ProjectOf(const GcloudContext& context);

}  // namespace caip::client
