#pragma once
// The flags that configure the emulator itself, as they were written. `emulator/app` gives them
// their meaning, so that a config file and the command line go through the same checks.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace caip::app {

/// Ours beyond gcloud's. Unset = not given. Accepted by `serve` and by every command that may start
/// an emulator.
struct EmulatorFlags {
  std::optional<std::string> state;            // --state DIR
  std::optional<std::string> config;           // --emulator-config FILE
  std::vector<std::string> map_images;         // --map-image URI=COMMAND, repeatable
  bool create_buckets = false;                 // --create-buckets
  std::optional<std::string> gpus;             // --gpus queue|share|cpu
  std::optional<std::string> fake_gpus;        // --fake-gpus 4xNVIDIA_TESLA_T4
  std::optional<std::string> addressing;       // --addressing loopback|ports
  std::optional<std::string> storage_view;     // --storage-view gs|path
  std::optional<std::string> gs_front;         // --gs-front off|proxy
  std::optional<std::string> isolation;        // --isolation none|namespaces
  std::optional<std::string> durability;       // --durability full|relaxed
  std::optional<std::string> access_log;       // --access-log FILE|-|off
  std::optional<std::string> queue_delay;      // --queue-delay MODEL
  std::optional<std::string> provision_delay;  // --provision-delay MODEL
  bool strict_runtime = false;                 // --strict-runtime
  std::optional<std::string> seed;             // --seed N

  bool operator==(const EmulatorFlags&) const = default;
};

/// --state, else $CAIP_STATE, else $XDG_STATE_HOME/caip, else ~/.local/state/caip.
Path StateDirectory(const EmulatorFlags& flags);

}  // namespace caip::app
