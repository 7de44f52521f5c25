#pragma once
// The commands on what the state directory has for jobs to run, as values: container images and
// runtime versions.

#include <optional>
#include <string>
#include <vector>

#include "emulator/app/settings/emulator_flags.h"
#include "emulator/app/settings/setting_readers.h"
#include "emulator/cli/commands/gcloud_flags.h"

namespace caip::cli {

/// `images list`.
struct ImagesListCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
};

/// `images import ARCHIVE|DIRECTORY`.
struct ImagesImportCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;      // --state
  std::string source;               // "-": the standard input
  std::optional<std::string> name;  // --name URI
};

/// `images map URI=COMMAND|URI=oci:PATH...` and `images map --unset URI`.
struct ImagesMapCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::vector<app::ImageMapping> mappings;
  std::vector<std::string> unset;  // URIs
};

/// `images remove URI...`.
struct ImagesRemoveCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::vector<std::string> names;
};

/// `runtimes list`.
struct RuntimesListCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
};

/// `runtimes install VERSION`.
struct RuntimesInstallCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::string version;          // of the catalog
  std::string python;           // --python; "": the most suitable interpreter
};

/// `runtimes remove VERSION...`.
struct RuntimesRemoveCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
  std::vector<std::string> versions;
};

}  // namespace caip::cli
