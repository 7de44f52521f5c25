#pragma once
// The commands on whole state directories, and `version`, as values.

#include <string>

#include "emulator/app/settings/emulator_flags.h"
#include "emulator/cli/commands/gcloud_flags.h"

namespace caip::cli {

/// `state info`.
struct StateInfoCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  bool json = false;
};

/// `state migrate`.
struct StateMigrateCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  bool dry_run = false;
};

/// `state backup FILE`.
struct StateBackupCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::string file;
  bool with_images = true;  // --no-images
};

/// `state restore FILE`.
struct StateRestoreCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::string file;
};

/// `version` and --version.
struct VersionCommand {
  enum class Form { kShort, kLong, kJson };
  Form form = Form::kShort;
};

}  // namespace caip::cli
