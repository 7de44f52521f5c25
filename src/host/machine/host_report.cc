#include "host/machine/host_report.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>

#include "base/json.h"
#include "base/text.h"
#include "host/machine/addresses.h"
#include "host/machine/machine_limits.h"
#include "host/machine/machines.h"
#include "host/process/child_process.h"
#include "host/process/launcher_link.h"
#include "host/watch/call_source.h"

namespace caip::host {
namespace {

using Found = HostFact::Found;

constexpr uint64_t kEnoughSpaceBytes = 5ull << 30;

HostFact Fact(std::string name, bool found, std::string detail, std::string cost) {
  return {found ? Found::kYes : Found::kNo, std::move(name), std::move(detail),
          found ? "" : std::move(cost)};
}

// Finds a program by name only, because some programs start slowly (gcloud takes a second).
HostFact ProgramFact(const std::string& program, const std::string& path, const std::string& cost) {
  const std::string found = FindProgram(program, path);
  return Fact(program, !found.empty(), found.empty() ? "not on PATH" : found, cost);
}

std::string ToolsOf(const Interpreter& python) {
  const auto part = [](const char* name, const std::string& version) {
    const std::string shown = version == "unknown" ? "of unknown version" : version;
    return std::string(name) + " " + (shown.empty() ? "missing" : shown);
  };
  return part("pip", python.pip) + ", " + part("setuptools", python.setuptools) + ", " +
         part("wheel", python.wheel);
}

std::vector<HostFact> PythonFacts(const HostReportOptions& options, Interpreters& interpreters) {
  std::vector<HostFact> facts;
  const std::vector<Interpreter> all = interpreters.All();
  for (const Interpreter& python : all) {
    HostFact fact = Fact("python " + python.version, true,
                         python.path.string() + " (" + ToolsOf(python) + ")", "");
    if (python.pip.empty()) {
      fact.found = Found::kPartly;
      fact.cost_when_missing = "packages are installed with the pip that ensurepip carries, if any";
    } else if (python.setuptools.empty()) {
      fact.found = Found::kPartly;
      fact.cost_when_missing = "building an sdist fetches setuptools from the network";
    }
    facts.push_back(std::move(fact));
  }
  for (const std::string& wanted : options.pythons) {
    const auto minor = ParsePythonMinor(wanted);
    bool is_there = false;
    for (const Interpreter& python : all) is_there = is_there || (minor && python.minor == *minor);
    if (is_there) continue;
    facts.push_back(Fact("python " + wanted, false, "not found on PATH, in /usr/bin or in pyenv",
                         "jobs that ask for it run the nearest version, with a warning"));
  }
  return facts;
}

std::vector<HostFact> DeviceFacts(const HostReportOptions& options) {
  const DeviceInventory inventory = ReadInventory(options.devices);
  std::vector<HostFact> facts;
  for (const Gpu& gpu : inventory.gpus) {
    facts.push_back(Fact("gpu " + std::to_string(gpu.index), true,
                         gpu.name + ", " + std::to_string(gpu.memory_mib) + " MiB, " + gpu.uuid +
                             " (by " + inventory.gpu_source + ")",
                         ""));
  }
  if (inventory.gpus.empty()) {
    facts.push_back(Fact("gpu", false, "neither NVML nor nvidia-smi nor /proc/driver/nvidia",
                         "jobs with GPUs run on the CPU, with a warning (--fake-gpus emulates "
                         "GPUs)"));
  }
  std::vector<std::string> chips;
  for (const TpuChip& chip : inventory.tpu_chips) chips.push_back(chip.device);
  facts.push_back(Fact("tpu", !chips.empty(),
                       chips.empty() ? "no /dev/accel*, no /dev/vfio" : Join(chips, ", "),
                       "TPU jobs get a TPU's variables and run on the CPU"));
  return facts;
}

std::vector<HostFact> NamespaceFacts() {
  std::vector<HostFact> facts;
  const auto add = [&](const char* name, int flags, const char* cost) {
    const auto why_not = TryNamespaces(flags);
    facts.push_back(Fact(name, !why_not, why_not.value_or("one was made"), cost));
  };
  const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
  add("user namespaces", CLONE_NEWUSER,
      "without root, replicas are not held together by the kernel: process groups are used");
  add("pid namespaces", user | CLONE_NEWPID,
      "replicas' daemons are found by a variable of their environment instead");
  add("mount namespaces", user | CLONE_NEWNS, "replicas see the host's /tmp and /var");
  return facts;
}

// The state directory, or the nearest one above it that exists.
Path ExistingAbove(const Path& state) {
  std::error_code error;
  Path existing = std::filesystem::absolute(state.empty() ? Path(".") : state, error);
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  return existing;
}

uint64_t FileSystemOf(const Path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

// The file system of the state directory decides whether machines can have boot disks.
Result<TemporaryDirectory> PlaceOfATrial(const Path& state) {
  auto usual = TemporaryDirectory::Make("caip-doctor-");
  const Path existing = ExistingAbove(state);
  if (usual.ok() && FileSystemOf(usual->path()) == FileSystemOf(existing)) return usual;
  return TemporaryDirectory::MakeIn(existing, ".caip-doctor-");
}

// What the host cannot do without machines. Without /proc, replicas cannot be processes of the host
// either (LauncherLink::Start).
const char* CostOfNoMachines() {
  if (::access("/proc/self/exe", F_OK) != 0) {
    return "no emulator can run here: every command that needs one is refused, with "
           "`--isolation process`, too. Mount /proc, then run the command again";
  }
  return "`--isolation machine` is refused: replicas share the host's files, processes, network "
         "and hosts file, and find Google's names and the metadata server through variables only";
}

HostFact IsolationFact(const HostReportOptions& options) {
  const auto place = PlaceOfATrial(options.state);
  const Path launcher = options.launcher.empty() ? OwnLauncher() : options.launcher;
  const auto why_not =
      place.ok() ? TryMachine(launcher, place->path()) : std::optional(place.error().message);
  return Fact("isolation", !why_not,
              why_not.value_or("--isolation machine works: each replica has files, processes, a "
                               "host name and a network of its own; with --isolation process, "
                               "replicas share the host's"),
              CostOfNoMachines());
}

HostFact LimitsFact() {
  const char* cost = "`--machine-limits` has no effect: replicas share the host's CPUs and memory";
  const auto limits = MachineLimits::Open("caip-doctor-" + std::to_string(::getpid()));
  if (!limits.ok()) return Fact("machine limits", false, limits.error().message, cost);
  const std::string missing = (*limits)->missing();
  HostFact fact = Fact("machine limits", true, "by control groups", "");
  if (!missing.empty()) {
    fact.found = Found::kPartly;
    fact.cost_when_missing = "`--machine-limits` does not limit the " + missing + " of replicas";
  }
  return fact;
}

// Whether docker's configuration names another context than the one without a name. Such a context
// may lead anywhere.
bool HasDockerContext(const Variables& own) {
  if (!FindVariable(own, "DOCKER_CONTEXT").value_or("").empty()) return true;
  const Path home = FindVariable(own, "HOME").value_or("");
  const Path directory = FindVariable(own, "DOCKER_CONFIG").value_or((home / ".docker").string());
  const auto text = ReadFile(directory / "config.json");
  const auto config = text.ok() ? ParseJson(*text) : Result<Json>(Json());
  const std::string context = config.ok() ? StringOr(*config, "currentContext") : "";
  return !context.empty() && context != "default";
}

// The socket of docker's daemon on this host; "" if the daemon is elsewhere.
std::string DockerSocket() {
  constexpr std::string_view kScheme = "unix://";
  const Variables own = OwnEnvironment();
  const std::string host = FindVariable(own, "DOCKER_HOST").value_or("");
  if (host.starts_with(kScheme)) return host.substr(kScheme.size());
  return host.empty() && !HasDockerContext(own) ? "/var/run/docker.sock" : "";
}

// Why no program accepts connections at the socket; "" if one does.
std::string WhyNotServed(const std::string& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return std::strerror(ENAMETOOLONG);
  socket_path.copy(address.sun_path, socket_path.size());
  const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const bool is_served =
      ::connect(client.get(), generic, sizeof address) == 0 || errno == EAGAIN;  // it is busy
  return is_served ? "" : std::strerror(errno);
}

// Starts no program of an engine. podman needs no daemon.
HostFact EngineFact(const std::string& engine, const std::string& path) {
  const std::string refused = "`--container-engine " + engine + "` is refused";
  HostFact fact = ProgramFact(engine, path, refused + "; caip runs images without it");
  const std::string socket =
      fact.found == Found::kYes && engine == "docker" ? DockerSocket() : std::string();
  const std::string why_not = socket.empty() ? "" : WhyNotServed(socket);
  if (why_not.empty()) return fact;
  fact.found = Found::kPartly;
  fact.cost_when_missing = refused + ", because its daemon cannot be reached at " + socket + " (" +
                           why_not + "); caip runs images without it";
  return fact;
}

HostFact WatchFact() {
  const char* cost = "faults at an exact system call of a replica are not possible";
  const Interposition found = InterpositionOf();
  using Kind = Interposition::Kind;
  HostFact fact =
      Fact("watched replicas", found.kind != Kind::kNone,
           found.kind == Kind::kSeccomp ? "by seccomp user notification" : found.reason, cost);
  if (found.kind == Kind::kPreload) {
    fact.found = Found::kPartly;
    fact.detail = "by LD_PRELOAD (" + found.reason + ")";
    fact.cost_when_missing = "programs that are linked statically cannot be watched";
  }
  return fact;
}

HostFact FaketimeFact() {
  const char* cost = "a replica's own clock cannot be changed";
  for (const char* directory :
       {"/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime",
        "/usr/lib/faketime", "/usr/lib64/faketime", "/usr/local/lib/faketime"}) {
    const Path library = Path(directory) / "libfaketime.so.1";
    if (::access(library.c_str(), R_OK) == 0) return Fact("libfaketime", true, library, "");
  }
  return Fact("libfaketime", false, "not installed", cost);
}

HostFact SpaceFact(const Path& state) {
  const Path existing = ExistingAbove(state);
  struct statvfs space = {};
  if (::statvfs(existing.c_str(), &space) != 0) {
    return Fact("disk space", false, std::strerror(errno), "nothing can be stored");
  }
  const uint64_t bytes = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
  const std::string detail = std::to_string(bytes >> 30) + " GiB free at " + existing.string();
  HostFact fact = Fact("disk space", true, detail, "");
  if (bytes < kEnoughSpaceBytes) {
    fact.found = Found::kPartly;
    fact.cost_when_missing = "environments of large packages and checkpoints may not fit";
  }
  return fact;
}

}  // namespace

HostFact ReportLoopback() {
  const bool usable = CanListen("127.77.77.77", 0);
  HostFact fact = Fact(
      "loopback addresses", usable, usable ? "127.0.0.0/8 can be listened on" : "only 127.0.0.1",
      "replicas need --addressing=ports: localhost:PORT instead of an address each");
  if (usable && IsTaskPortTaken()) {
    fact.found = Found::kPartly;
    fact.detail = "a program listens on port 2222 of all addresses";
    fact.cost_when_missing = "replicas get localhost:PORT instead of an address each";
  }
  return fact;
}

std::optional<std::string> TryNamespaces(int flags) {
  // A raw clone without a stack is a fork. The child exits at once.
  const auto pid = static_cast<pid_t>(::syscall(
      SYS_clone, static_cast<unsigned long>(flags | SIGCHLD), nullptr, nullptr, nullptr, nullptr));
  if (pid == 0) ::_exit(0);
  if (pid < 0) return std::strerror(errno);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

std::vector<HostFact> ReportHost(const HostReportOptions& options, Interpreters& interpreters) {
  using Facts = std::vector<HostFact>;
  const std::string& path = options.path;
  auto devices = std::async(std::launch::async, [&] { return DeviceFacts(options); });
  Facts facts = PythonFacts(options, interpreters);
  const auto append = [&](Facts more) { facts.insert(facts.end(), more.begin(), more.end()); };
  append(devices.get());
  append(NamespaceFacts());
  append({IsolationFact(options), LimitsFact(), WatchFact(), FaketimeFact(), ReportLoopback(),
          SpaceFact(options.state)});
  append({EngineFact("podman", path), EngineFact("docker", path),
          ProgramFact("gcloud", path, "caip needs none; scripts that call gcloud do"),
          ProgramFact("gsutil", path, "trainers that call gsutil fail; caip needs none")});
  return facts;
}

}  // namespace caip::host
