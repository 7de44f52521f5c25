#pragma once
// Everything that can be said about an emulator, checked: from flags and a config file.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/emulator_flags.h"
#include "host/launcher_bundle.h"
#include "run/limits.h"
#include "run/queueing.h"

namespace caip::app {

/// What becomes of jobs that ask for more accelerators than the host has.
enum class GpuMode { kByHost, kQueue, kShare, kCpu };
/// What TF_CONFIG names: an own loopback address for each replica, or localhost with own ports.
using host::Addressing;
/// What a trainer gets as --job-dir: the gs:// URI, or the directory behind it.
enum class StorageView { kGs, kPath };
/// How replicas whose software insists on Google's https names are led here: not at all, or by
/// https_proxy and our certificate authority in their environment.
enum class GsFront { kOff, kProxy };

/// Whether each run has a network namespace of its own, and each replica a mount namespace.
enum class Isolation { kNone, kNamespaces };

struct EmulatorOptions {
  Path state;  // the state directory; has one owner
  std::string address = "127.0.0.1";
  std::optional<uint16_t> port;  // 0: any free one; unset: the usual one (usual_port.h)
  bool remember_port = false;    // it becomes the usual one of this state directory
  std::vector<std::string> allowed_hosts;
  host::LauncherKind launcher = host::LauncherKind::kProcess;  // what starts replicas
  bool create_buckets = false;  // a missing bucket is made instead of refused
  GpuMode gpus = GpuMode::kByHost;
  std::string fake_gpus;  // "4xNVIDIA_TESLA_T4"; "" none
  Addressing addressing = Addressing::kLoopback;
  StorageView storage_view = StorageView::kGs;
  GsFront gs_front = GsFront::kProxy;
  Isolation isolation = Isolation::kNone;
  bool durable_storage = true;  // what storage acknowledged outlives a power cut
  std::string access_log;       // file, "-" standard output, "off"; "": <state>/access.log
  run::DelayModel queue_delay = run::NoDelay{};
  run::DelayModel provision_delay = run::NoDelay{};
  run::DelayModel restart_delay = run::NoDelay{};
  Duration grace = run::kGraceDefault;  // between SIGTERM and SIGKILL
  int jobs_max = 0;                     // jobs that run at once; 0: no limit
  bool strict_runtime = false;          // refuse where the asked Python is not on the host
  uint64_t seed = 0;
  std::map<std::string, std::vector<std::string>> images;  // image URI -> local command
  std::map<std::string, std::string> runtimes;  // runtime or Python version -> interpreter
  std::vector<std::string> interpreters;        // further pythons to consider
  std::vector<std::string> extra_regions;
  std::vector<std::string> companions;  // emulators of the Cloud SDK that replicas can reach
  std::string cloud_sdk;                // its root; "" looked for
  std::string project_number = "123456789012";
  std::string service_account;         // "" the managed one of the project
  std::string background_idle = "5m";  // how long a background server stays when it is idle
  /// Takes a line of the emulator's own log. Any thread; empty: nobody reads one.
  std::function<void(const std::string&)> say = {};
};

/// Flags over config file (`--emulator-config`, else <state>/config.yaml if there is one) over
/// defaults. All mistakes at once, as violations; those of the file with line and column.
Result<EmulatorOptions> ReadOptions(const EmulatorFlags& flags, const Path& state);

}  // namespace caip::app
