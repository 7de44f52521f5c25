#pragma once
// All options of an emulator, checked: from flags and a config file.

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

/// How the emulator runs a job that needs more accelerators than the host has.
enum class GpuMode { kByHost, kQueue, kShare, kCpu };
/// The addresses in TF_CONFIG: each replica has its own loopback address, or its own port of
/// localhost.
using host::Addressing;
/// The --job-dir of a trainer: the gs:// URI, or the local directory that holds its objects.
enum class StorageView { kGs, kPath };
/// How replicas whose software uses only Google's https names reach the emulator: not at all, or
/// through https_proxy and the emulator's certificate authority in their environment.
enum class GsFront { kOff, kProxy };

/// What a replica is: a process of this host, or a machine with namespaces of its own. kByHost: a
/// machine where the host allows it (ChooseIsolation in replica_host.h).
enum class Isolation { kByHost, kProcess, kMachine };

struct EmulatorOptions {
  Path state;  // one emulator owns it
  std::string address = std::string(kDefaultAddress);
  std::optional<uint16_t> port;  // 0: any free port; unset: see PortsToTry in listener.h
  bool remember_port = false;    // the port becomes the first choice of this state directory
  int connections_max = 0;  // at the same time; 0: as many as the limit of open descriptors allows
  std::vector<std::string> allowed_hosts;
  std::vector<uint32_t> allowed_users;  // who may send requests, besides the own user and root
  bool allow_all_users = false;         // everybody who reaches the port may
  std::string token_file;               // its token admits clients of any user and host; "": none
  host::LauncherKind launcher = host::LauncherKind::kProcess;  // what starts replicas
  bool keep_disks = false;  // what replicas leave on their boot disks is kept
  static constexpr uint64_t kByJob = UINT64_MAX;
  uint64_t disk_bytes_max = kByJob;   // of a boot disk; 0: no limit; kByJob: what each job asks for
  bool only_named_disk_sizes = true;  // no limit for jobs that do not ask for a size
  bool machine_limits = false;        // the CPUs and memory of machine types are limited
  bool create_buckets = false;        // a missing bucket is created instead of rejected
  GpuMode gpus = GpuMode::kByHost;
  std::string fake_gpus;  // "4xNVIDIA_TESLA_T4"; "" none
  std::string fake_tpu;   // "v2-8"; "" none
  Addressing addressing = Addressing::kLoopback;
  StorageView storage_view = StorageView::kGs;
  GsFront gs_front = GsFront::kProxy;
  Isolation isolation = Isolation::kByHost;
  bool durable_storage = true;  // acknowledged writes survive a power cut
  std::string access_log;       // file, "-" standard output, "off"; "": <state>/access.log
  run::DelayModel queue_delay = run::NoDelay{};
  run::DelayModel provision_delay = run::NoDelay{};
  run::DelayModel restart_delay = run::NoDelay{};
  Duration failing_restart{0};          // how long a failed replica of a custom job runs again
  Duration grace = run::kGraceDefault;  // time between SIGTERM and SIGKILL
  int jobs_max = 0;                     // jobs that run at once; 0: no limit
  bool strict_runtime = false;          // reject jobs whose Python is missing on the host
  uint64_t seed = 0;
  std::map<std::string, std::vector<std::string>> images;  // host::ImageMap
  bool strict_images = false;
  host::ContainerEngineKind container_engine = host::ContainerEngineKind::kBundled;
  std::vector<Path> outer_states;  // host::LauncherOptions::outer_states
  Path image_store;                // "": <state>/images
  std::string python;  // the interpreter of all jobs, whatever version they ask for; "": none
  Path runtime_store;  // host/python/runtime_environments.h; "": <state>/runtimes
  std::map<std::string, std::string> runtimes;  // runtime or Python version -> interpreter
  std::vector<std::string> interpreters;        // further pythons to consider
  std::vector<std::string> extra_regions;
  std::vector<std::string> persistent_resources;   // of Vertex AI, which jobs may name
  std::map<std::string, std::string> nfs_exports;  // vertex::NfsExports
  std::vector<std::string> companions;  // emulators of the Cloud SDK that replicas can reach
  std::string cloud_sdk;                // its root directory; "": caip searches for it
  std::string project_number = "123456789012";
  std::string service_account;         // "": the managed account of the project
  std::string background_idle = "5m";  // a background server ends after this idle time
  bool is_background = false;          // a command started it, not a user
  /// Writes a line to the emulator's own log. Called on any thread. Empty: no log.
  std::function<void(const std::string&)> say = {};
  /// Ends the start of the emulator once it is true. Empty: nothing does.
  std::function<bool()> interrupted = {};
};

struct Setting;

/// Checks the value of the setting's flag. kInvalidArgument, without the flag's name.
Status CheckFlag(const Setting& setting, const std::string& value);
/// Chooses settings. The values of the others are checked and have no effect.
using SettingChoice = bool (*)(const Setting& setting);
bool IsAnySetting(const Setting& setting);

/// Flags override the config file (`--emulator-config`, else <state>/config.yaml if it exists),
/// which overrides defaults. Reports all mistakes at once, as violations. A violation in the file
/// has a line and a column.
Result<EmulatorOptions> ReadOptions(const EmulatorFlags& flags, const Path& state,
                                    SettingChoice chosen = IsAnySetting);

/// Reads only the flags into `options`.
Status ReadFlags(const EmulatorFlags& flags, SettingChoice chosen, EmulatorOptions& options);

/// kInvalidArgument if the address is not one, or if other hosts can reach it and would need no
/// token.
Status CheckReach(const EmulatorOptions& options);

/// Reads `file` into `options`. Reports all unknown keys and wrong values at once.
Status ReadConfigFile(const Path& file, SettingChoice chosen, EmulatorOptions& options);

}  // namespace caip::app
