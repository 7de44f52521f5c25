#pragma once
// `caip migrate` as a value.

#include <optional>
#include <string>
#include <vector>

#include "emulator/cli/commands/gcloud_flags.h"

namespace caip::cli {

/// `migrate FILE` or `migrate -- WORDS`: the job of Vertex AI that means the same.
struct MigrateCommand {
  GcloudFlags gcloud;
  std::optional<std::string> file;  // a Job in YAML or JSON; "-": the standard input
  std::vector<std::string> words;   // else a command line of `jobs submit training`
  std::string executor_image;       // --executor-image-uri
  bool as_command = false;          // --as-command: print a command, not its file
  bool stage = false;               // --stage: upload the packages of the words
};

struct Surroundings;
int RunMigrate(const MigrateCommand& command, const Surroundings& world);

}  // namespace caip::cli
