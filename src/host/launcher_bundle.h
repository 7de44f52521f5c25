#pragma once
// A bundle of a launcher and the ports that must fit it, chosen in one place.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/abilities.h"
#include "host/containers/container_engine.h"
#include "host/devices/devices_binder.h"
#include "host/process/image_map.h"
#include "host/python/interpreters.h"
#include "host/python/packages.h"

namespace caip::host {

/// The kinds of launchers that caip has.
enum class LauncherKind {
  kProcess,  // replicas are processes of this host
};
/// The names of launchers in configuration files.
std::vector<std::pair<std::string, LauncherKind>> LauncherKinds();

/// How replicas find each other: each has its own loopback address, or its own port of localhost.
enum class Addressing { kLoopback, kPorts };

struct LauncherOptions {
  LauncherKind kind = LauncherKind::kProcess;
  Path state;  // the emulator's state directory
  /// The state directories of the user, if `state` is that of a scenario's run.
  std::vector<Path> outer_states = {};
  ImageMap images = {};
  Path image_store = {};  // directory of images/image_store.h; "": <state>/images
  ContainerEngineKind container_engine = ContainerEngineKind::kBundled;  // what runs images
  bool strict_images = false;  // an image that is missing when its job is submitted is refused
  uint64_t seed = 0;
  Variables own_environment = {};  // OwnEnvironment()
  bool own_machines = false;       // each replica gets a machine of its own
  bool own_roots = true;           // with a file system of its own
  bool keep_disks = false;         // what runs leave on their disks is kept
  uint64_t disk_bytes_max = 0;     // of a boot disk; 0: disks are not limited
  /// The limit is for jobs that ask for a size. Machines have it where the host allows it, and
  /// other replicas have none.
  bool only_named_disk_sizes = false;
  bool machine_limits = false;  // the CPUs and memory of machine types are limited
  Addressing addressing = Addressing::kLoopback;
  DeviceMode devices = DeviceMode::kByHost;
  std::string fake_gpus = {};                        // "4xNVIDIA_TESLA_T4"; "": none
  std::string fake_tpu = {};                         // "v2-8"; "": none
  std::vector<Path> interpreters = {};               // pythons to consider first
  std::string python = {};                           // of all jobs; "": by their versions
  Path runtime_store = {};                           // "": <state>/runtimes
  std::map<std::string, std::string> runtimes = {};  // runtime or Python version -> interpreter
  bool strict_runtime = false;
  /// Ends the wait for replicas of an earlier emulator once it is true; empty: nothing does.
  std::function<bool()> interrupted = {};
};

/// Objects that a bundle uses. They must outlive the bundle.
struct LauncherWorld {
  Clock& clock;
  engine::LogSink& output;  // gets the output of replicas
  engine::LogSink& log;     // gets the messages of the bundle itself
  PackageSource& packages;
  /// The directory of a gs:// URI, whether it exists or not; "" if it has none.
  std::function<Path(const std::string& uri)> directory_of;
  /// Images that are replaced, unless they are mapped.
  BuiltInCommand built_in_images = {};
};

/// A launcher with its packager, device binder and address lender, and its abilities beyond the
/// ports. `launcher` also reads the reports of trials. To decorate it, move it into the decorator.
struct LauncherBundle {
  std::string name;                            // the launcher's name: "process"
  std::unique_ptr<Interpreters> interpreters;  // used by the packager
  std::unique_ptr<engine::Launcher> launcher;
  std::unique_ptr<engine::Packager> packager;
  std::unique_ptr<engine::DeviceBinder> devices;
  std::unique_ptr<engine::AddressLender> addresses;

  // Abilities. Each is null if the launcher lacks it. They belong to `launcher`.
  engine::LocalDisks* disks = nullptr;
  Freezable* freezable = nullptr;
  Watchable* watchable = nullptr;
  OwnMachines* machines = nullptr;
  DisturbsNetworks* networks = nullptr;
  ShowsProcesses* processes = nullptr;

  /// Why machine types are not limited, or not in all; "" unless it is asked for.
  std::string limits_note;
  /// Whether the hosts file of a replica has the names of its run's machines.
  bool names_resolve = false;
  /// The address of this host that listeners for replicas bind to.
  std::string address;
  /// The same as replicas see it.
  std::string address_for_replicas;
  /// The URL by which replicas reach the emulator that clients reach by `url`.
  std::function<std::string(const std::string& url)> url_for_replicas;
};

/// Makes the bundle that `options.kind` names. Kills replicas that an earlier emulator left on the
/// state directory. kFailedPrecondition: the host lacks what the options ask for. kCancelled: the
/// options ended the wait.
Result<LauncherBundle> OpenLauncherBundle(const LauncherOptions& options, LauncherWorld world);

}  // namespace caip::host
