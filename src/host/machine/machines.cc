#include "host/machine/machines.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/machine/machine_files.h"
#include "host/process/launcher_link.h"

namespace caip::host {
namespace {

constexpr uint64_t kTrial = 1;
constexpr char kTrialAddress[] = "10.128.0.2";
constexpr std::chrono::seconds kTrialLimit{10};

const char* DescribeStep(launcher::Step step) {
  using launcher::Step;
  switch (step) {
    case Step::kNetwork:
      return "making a network namespace";
    case Step::kUserMap:
      return "mapping the user's ID in a user namespace";
    case Step::kAddress:
      return "giving a machine its address";
    case Step::kEndpointOpened:
      return "listening in the network of a run";
    case Step::kMounts:
      return "keeping a machine's mounts from the host";
    case Step::kRoot:
      return "making the root of a machine";
    case Step::kEnterNetwork:
      return "joining the network of a machine";
    case Step::kHostName:
      return "giving a machine its host name";
    case Step::kUser:
      return "becoming the user that the image names";
    case Step::kGroup:
      return "joining a control group";
    case Step::kRelay:
      return "making the devices of a packet relay";
    case Step::kRule:
      return "routing packets to a packet relay";
    default:
      return "making the namespaces of a machine";
  }
}

// The root of a machine is an overlay whose changes are below the state directory.
std::string AdviceOnOverlay(const launcher::Report& report, bool is_overlay) {
  if (report.step != launcher::Step::kRoot && !is_overlay) return "";
  switch (report.error) {
    case EINVAL:
      return ". The state directory must be on a file system that can hold the changes of an "
             "overlay: ext4, xfs, btrfs or tmpfs, not the files of a container";
    case ENODEV:
      return ". The kernel has no overlay file system";
    case EPERM:
      return ". Only root may mount overlays before Linux 5.11";
    default:
      return "";
  }
}

// Files that podman and docker make in their containers.
bool IsInContainer() {
  return ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0;
}

// Engines forbid namespaces to containers. The kernel lets a user namespace mount /proc only if it
// shows no more than the one that is there, and engines cover parts of that.
std::string AdviceOnContainers(const launcher::Report& report) {
  const std::string start =
      "start the container with `docker run --security-opt seccomp=unconfined --security-opt "
      "systempaths=unconfined`";
  if (report.error != EPERM) return "";
  if (report.step == launcher::Step::kMount && std::string_view(report.left) == "/proc") {
    return ". Another mount hides a part of /proc, so the kernel permits no new one. If caip runs "
           "in a container, " +
           start;
  }
  const bool is_forbidden = report.step == launcher::Step::kMachine && IsInContainer();
  return is_forbidden ? ". To permit it, " + start : "";
}

// A setting of the kernel that keeps users from making namespaces of a kind.
struct Denial {
  const char* file;
  const char* denied;  // the value that does so
  const char* kind;
  const char* remedy;
};

constexpr Denial kDenials[] = {
    {"/proc/sys/user/max_user_namespaces", "0", "user", "user.max_user_namespaces=15000"},
    {"/proc/sys/kernel/unprivileged_userns_clone", "0", "user",
     "kernel.unprivileged_userns_clone=1"},
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "user",
     "kernel.apparmor_restrict_unprivileged_userns=0"},
    {"/proc/sys/user/max_net_namespaces", "0", "network", "user.max_net_namespaces=15000"},
    {"/proc/sys/user/max_pid_namespaces", "0", "PID", "user.max_pid_namespaces=15000"},
    {"/proc/sys/user/max_mnt_namespaces", "0", "mount", "user.max_mnt_namespaces=15000"},
    {"/proc/sys/user/max_uts_namespaces", "0", "UTS", "user.max_uts_namespaces=15000"},
    {"/proc/sys/user/max_ipc_namespaces", "0", "IPC", "user.max_ipc_namespaces=15000"},
};

std::string AdviceOnSettings(const launcher::Report& report) {
  using launcher::Step;
  const bool is_of_namespaces = report.step == Step::kMachine || report.step == Step::kUserMap ||
                                report.step == Step::kNetwork;
  if (!is_of_namespaces) return "";
  for (const Denial& denial : kDenials) {
    const Result<std::string> value = ReadFile(denial.file);
    if (!value.ok() || Trim(*value) != denial.denied) continue;
    return std::string(". A setting of this host denies ") + denial.kind +
           " namespaces; as root, run `sysctl " + denial.remedy + "`";
  }
  // The kernel's error of a full disk means something else here.
  return report.error == ENOSPC
             ? ". No more namespaces are permitted: `sysctl -a | grep namespaces` "
               "shows the limits of this host"
             : "";
}

}  // namespace

std::string ResolverText(std::string_view own) {
  std::string text = "nameserver " + std::string(kNameServerAddress) + "\n";
  for (const std::string& line : Split(own, '\n')) {
    const bool is_kept =
        line.starts_with("search") || line.starts_with("domain") || line.starts_with("options");
    if (is_kept) text += line + "\n";
  }
  return text;
}

Status WriteResolver(const Path& file) {
  const Result<std::string> own = ReadFile("/etc/resolv.conf");
  const std::string text = ResolverText(own.ok() ? *own : "");
  const Result<std::string> written = ReadFile(file);
  return written.ok() && *written == text ? Status(Ok{}) : WriteFile(file, text);
}

Status WriteConfiguration(const engine::ReplicaLaunch& launch,
                          const MachineConfiguration& configuration) {
  RETURN_IF_ERROR(WriteFile(configuration.hosts, launch.isolation->hosts));
  RETURN_IF_ERROR(WriteResolver(configuration.resolver));
  if (!configuration.host_name.empty()) {
    RETURN_IF_ERROR(WriteFile(configuration.host_name, launch.machine.host_name + "\n"));
  }
  // all users of the machine read them, whatever umask caip has
  ::chmod(configuration.hosts.c_str(), 0644);
  ::chmod(configuration.resolver.c_str(), 0644);
  ::chmod(configuration.host_name.c_str(), 0644);
  return Ok{};
}

launcher::Machine MachineFor(const engine::ReplicaLaunch& launch,
                             const MachineConfiguration& configuration) {
  launcher::Machine machine;
  machine.host_name = launch.machine.host_name;
  machine.mounts = BaseMounts();
  machine.mounts.push_back(
      {launcher::MountKind::kBind, configuration.hosts.string(), "/etc/hosts"});
  const uint32_t flags = configuration.has_own_root ? 0 : launcher::kMountIfThere;
  machine.mounts.push_back({launcher::MountKind::kBind, configuration.resolver.string(),
                            "/etc/resolv.conf", flags | launcher::kMountOptional});
  if (!configuration.host_name.empty()) {
    machine.mounts.push_back({launcher::MountKind::kBind, configuration.host_name.string(),
                              kHostNameFile, flags | launcher::kMountOptional});
  }
  for (const engine::ReplicaIsolation::Cover& cover : launch.isolation->covers) {
    machine.mounts.push_back({launcher::MountKind::kBind, cover.file, cover.covered,
                              launcher::kMountReadOnly});  // all machines have the same file
  }
  return machine;
}

Result<uint32_t> AddressNumber(const std::string& address) {
  in_addr number{};
  if (::inet_pton(AF_INET, address.c_str(), &number) != 1) {
    return errors::EndpointAddressNotValid(address);
  }
  return number.s_addr;
}

Result<launcher::Endpoint> EndpointAt(const std::string& address, uint16_t port) {
  launcher::Endpoint endpoint;
  ASSIGN_OR_RETURN(endpoint.address, AddressNumber(address));
  endpoint.port = htons(port);
  return endpoint;
}

std::string WhyNoMachine(const launcher::Report& report, bool is_overlay) {
  const bool of_mount = report.step == launcher::Step::kMount;
  const std::string what =
      of_mount ? "mounting " + std::string(report.left) : std::string(DescribeStep(report.step));
  return what + ": " + std::strerror(report.error) + AdviceOnOverlay(report, is_overlay) +
         AdviceOnContainers(report) + AdviceOnSettings(report);
}

namespace {

// The root of a user's machine has overlays for its directories.
bool IsOfOverlay(const launcher::Report& report, const launcher::Machine& machine) {
  return report.step == launcher::Step::kMount &&
         std::any_of(machine.mounts.begin(), machine.mounts.end(), [&](const auto& mount) {
           return mount.kind == launcher::MountKind::kFileSystem && mount.source == "overlay" &&
                  mount.target == report.left;
         });
}

// Starts the program of the trial and waits for its end.
std::optional<std::string> StartTrial(const Path& program, const launcher::Machine& machine) {
  auto answer = std::make_shared<std::promise<std::optional<std::string>>>();
  auto future = answer->get_future();
  const auto is_answered = std::make_shared<std::atomic<bool>>(false);
  const auto report_answer = [answer, is_answered](std::optional<std::string> why_not) {
    if (!is_answered->exchange(true)) answer->set_value(std::move(why_not));
  };
  const auto judge = [report_answer, machine](const launcher::Report& report) {
    using launcher::Report;
    if (report.kind == Report::kNetworkFailed || report.kind == Report::kStartFailed) {
      report_answer(WhyNoMachine(report, IsOfOverlay(report, machine)));
    } else if (report.kind == Report::kEnded) {
      report_answer(std::nullopt);
    }
  };
  LauncherLink::Listener listener;
  listener.report = judge;
  listener.network = judge;
  listener.watched = [](uint64_t, Fd, pid_t) {};
  listener.gone = [report_answer] { report_answer("caip-launcher ended"); };
  const auto link = LauncherLink::Start(program, std::move(listener));
  if (!link.ok()) return link.error().message;
  const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  LauncherLink::Replica trial;
  trial.number = kTrial;
  trial.directory = "/";
  trial.argv = {"/bin/true"};
  trial.out = trial.err = null.get();
  trial.network = kTrial;
  trial.address = *AddressNumber(kTrialAddress);
  trial.machine = machine;
  const auto metadata = EndpointAt("169.254.169.254", 80);
  Status asked = (*link)->OpenNetwork(kTrial, {*metadata});
  if (asked.ok()) asked = (*link)->Launch(trial);
  if (!asked.ok()) return asked.error().message;
  if (future.wait_for(kTrialLimit) != std::future_status::ready) return "it takes too long";
  return future.get();
}

}  // namespace

std::optional<std::string> TryMachine(const Path& program, const Path& state) {
  launcher::Machine machine;
  machine.host_name = "caip";
  machine.mounts = BaseMounts();
  if (state.empty()) return StartTrial(program, machine);
  const Path disk = state / "disks" / ("trial-" + std::to_string(::getpid()));
  const MachineFiles files(state);
  const engine::ReplicaLaunch launch;
  const Result<HostView> host = files.Prepare(disk, launch);
  if (!host.ok()) {
    RemoveTree(disk);
    return host.error().message;
  }
  files.AddTo(machine, disk, *host, launch);
  const auto why_not = StartTrial(program, machine);
  RemoveTree(disk);
  return why_not;
}

namespace {

/// The trials of this process that succeeded. Any thread.
class Trials {
 public:
  bool Knows(const std::string& trial) {
    const std::lock_guard lock(mutex_);
    return succeeded_.contains(trial);
  }
  void Note(const std::string& trial) {
    const std::lock_guard lock(mutex_);
    succeeded_.insert(trial);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> succeeded_;  // guarded by mutex_
};

Trials& TrialsOfThisProcess() {
  static Trials trials;
  return trials;
}

std::string TextOf(const Path& file) {
  const Result<std::string> text = ReadFile(file);
  return text.ok() ? std::string(Trim(*text)) : "";
}

std::string SettingsOfNamespaces() {
  std::string settings;
  for (const Denial& denial : kDenials) settings += TextOf(denial.file) + " ";
  return settings;
}

// The capabilities of this process, and whether engines of containers forbid it system calls.
std::string RightsOfThisProcess() {
  std::string rights;
  for (const std::string& line : Split(TextOf("/proc/self/status"), '\n')) {
    for (const char* name : {"Cap", "Seccomp:", "NoNewPrivs:"}) {
      if (line.starts_with(name)) rights += line + " ";
    }
  }
  return rights;
}

// All that decides whether there can be machines. A container has the boot of its host, but other
// rights and mounts, and its state directory may be one that the host uses.
Json FactsOfTrial(const Path& program) {
  std::error_code error;
  const auto built = std::filesystem::last_write_time(program, error).time_since_epoch().count();
  return {{"boot", TextOf("/proc/sys/kernel/random/boot_id")},
          {"user", ::geteuid()},
          {"launcher", built},
          {"rights", RightsOfThisProcess()},
          {"settings", SettingsOfNamespaces()},
          {"mounts", Fnv1a(TextOf("/proc/self/mountinfo"))}};
}

}  // namespace

std::optional<std::string> TryMachineOnce(const Path& program, const Path& state) {
  const Path note = state / "machines.json";
  const Json tried = FactsOfTrial(program);
  const Result<std::string> noted = ReadFile(note);
  if (noted.ok() && *noted == CompactJson(tried)) return std::nullopt;
  struct stat place {};
  ::stat(state.c_str(), &place);
  const std::string trial =
      program.string() + " " + std::to_string(place.st_dev) + CompactJson(tried);
  auto why_not = TrialsOfThisProcess().Knows(trial) ? std::nullopt : TryMachine(program, state);
  if (!why_not) {
    TrialsOfThisProcess().Note(trial);
    [[maybe_unused]] const Status kept = WriteFile(note, CompactJson(tried));
  }
  return why_not;
}

}  // namespace caip::host
