#pragma once
// gcloud's properties, so that a configured gcloud need not be configured again: flag, then
// CLOUDSDK_<SECTION>_<NAME>, then the active configuration's file.

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "emulator/cli/commands/commands.h"

namespace caip::cli {

/// The property `section/name`, from the environment or gcloud's configuration: --configuration,
/// $CLOUDSDK_ACTIVE_CONFIG_NAME, or the active one.
std::optional<std::string> GcloudProperty(const GcloudFlags& flags, const std::string& section,
                                          const std::string& name);

/// --project, else core/project. Error: gcloud's text, with what to do.
Result<std::string> ProjectOf(const GcloudFlags& flags);

/// --state, else $CAIP_STATE, else $XDG_STATE_HOME/caip, else ~/.local/state/caip.
Path StateDirectory(const EmulatorFlags& flags);

}  // namespace caip::cli
