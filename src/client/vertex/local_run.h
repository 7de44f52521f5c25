#pragma once
// The client's part of `ai custom-jobs local-run`: gcloud's checks of its flags, and the custom job
// that does the same here.

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/vertex/preparation.h"

namespace caip::client::vertex {

/// The flags of `local-run`. Unset: not given.
struct LocalRunRequest {
  GcloudContext gcloud;
  std::string executor_image;
  std::optional<std::string> package_path;  // --local-package-path; default: the current directory
  std::optional<std::string> python_module;
  std::optional<std::string> script;
  std::optional<std::string> output_image;
  std::optional<std::string> key_file;  // --service-account-key-file
  std::vector<std::string> requirements;
  std::vector<std::string> extra_packages;
  std::vector<std::string> extra_dirs;
  bool gpu = false;
  std::vector<std::string> args;  // after `--`
};

/// A run that is ready to start.
struct PreparedLocalRun {
  PreparedJob job;
  std::string directory;  // that the run works in
  std::string image;      // that runs: the executor image, or that of the script
};

/// Checks the flags in gcloud's order. The job runs in the project and the region of gcloud's
/// configuration, else in any. `now`: for the name of an image.
Result<PreparedLocalRun> PrepareLocalRun(const LocalRunRequest& request, Instant now);

}  // namespace caip::client::vertex
