#include "host/containers/container_engine.h"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "host/containers/container_errors.h"

namespace caip::host {
namespace {

constexpr std::chrono::seconds kAnswerTimeout{30};
constexpr std::chrono::minutes kLoadTimeout{30};
constexpr int kBetweenRemovals_ms = 100;
constexpr rlim_t kFilesMax = 1 << 20;  // the kernel's default limit for all processes

using Words = std::vector<std::string>;

// podman asks for an init program that is often not installed; any of these does the same.
constexpr const char* kInitPrograms[] = {"/usr/libexec/podman/catatonit",
                                         "/usr/lib/podman/catatonit", "catatonit", "docker-init",
                                         "tini"};

bool IsSecret(std::string_view name) { return name == "GOOGLE_AUTH_TOKEN_FOR_TESTING"; }

std::string FindInit(const Variables& environment) {
  const std::string path = FindVariable(environment, "PATH").value_or("");
  for (const char* program : kInitPrograms) {
    if (std::string found = FindProgram(program, path); !found.empty()) return found;
  }
  return "";
}

// podman lowers its own limit of processes to this one, where the kernel has it as the highest ID.
constexpr rlim_t kProcessesMax = 32768;

// podman raises the limits of containers, which not every user may do. These are the own ones.
void AddLimit(const char* name, __rlimit_resource kind, rlim_t most, Words& words) {
  rlimit limit{};
  if (::getrlimit(kind, &limit) != 0) return;
  const std::string soft = std::to_string(std::min(limit.rlim_cur, most));
  const std::string hard = std::to_string(std::min(limit.rlim_max, most));
  words.push_back("--ulimit=" + std::string(name) + "=" + soft + ":" + hard);
}

std::string NameOfEngine(ContainerEngineKind kind) {
  return kind == ContainerEngineKind::kDocker ? "docker" : "podman";
}

// One field of a line of CSV.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return '"' + ReplaceAll(text, "\"", "\"\"") + '"';
}

// --volume cannot name a path with a colon.
std::string Mount(const std::string& source, const std::string& target) {
  return "--mount=type=bind," + Field("source=" + source) + "," + Field("target=" + target);
}

// Reading and writing, but not `mknod`: a program that may make files of devices could use others.
std::string DeviceWord(const engine::DeviceNode& node) {
  if (node.is_read_only) return Mount(node.file, node.shown) + ",readonly";
  return "--device=" + node.file + ":" + node.shown + ":rw";
}

std::string LastLine(std::string_view text) {
  const std::vector<std::string> lines = Split(std::string(Trim(text)), '\n');
  return lines.back();
}

}  // namespace

Variables SecretsOf(const Variables& environment) {
  Variables secrets;
  for (const auto& variable : environment) {
    if (IsSecret(variable.first)) secrets.push_back(variable);
  }
  return secrets;
}

ContainerEngine::ContainerEngine(ContainerEngineKind kind, std::string state_id,
                                 Variables own_environment,
                                 std::chrono::milliseconds removal_patience)
    : name_(NameOfEngine(kind)),
      state_id_(std::move(state_id)),
      own_environment_(std::move(own_environment)),
      removal_patience_(removal_patience),
      init_(kind == ContainerEngineKind::kPodman ? FindInit(own_environment_) : "") {}

Result<ToolOutput> ContainerEngine::Ask(std::vector<std::string> words,
                                        std::chrono::milliseconds timeout,
                                        const std::stop_token& stop) const {
  words.insert(words.begin(), name_);
  return CaptureTool({.argv = std::move(words),
                      .environment = own_environment_,
                      .timeout = timeout,
                      .stop = stop});
}

Status ContainerEngine::Check() const {
  const std::string path = FindVariable(own_environment_, "PATH").value_or("");
  if (FindProgram(name_, path).empty()) return errors::EngineMissing(name_);
  const auto asked = Ask({"ps", "--quiet", "--filter", "label=" + Label()}, kAnswerTimeout);
  if (!asked.ok()) return errors::EngineSilent(name_, asked.error().message);
  if (asked->result.ok()) return Ok{};
  return errors::EngineSilent(name_, LastLine(asked->err));
}

bool ContainerEngine::HasImage(const std::string& image) const {
  const auto asked = Ask({"image", "inspect", "--format", "{{.Id}}", image}, kAnswerTimeout);
  return asked.ok() && asked->result.ok();
}

Status ContainerEngine::Load(const Path& archive, const std::stop_token& stop) const {
  const auto loaded = Ask({"load", "--input", archive.string()}, kLoadTimeout, stop);
  if (!loaded.ok()) return loaded.error();
  if (loaded->result.ok()) return Ok{};
  return errors::EngineCannotLoad(name_, LastLine(loaded->err));
}

// Its program is a child of an init process, so that signals end it as they end other programs.
std::vector<std::string> ContainerEngine::CommandFor(const ContainerRun& run) const {
  Words words = {name_,
                 "run",
                 "--name=" + run.name,
                 "--label=" + Label(),
                 "--network=host",
                 "--pull=never",
                 "--hostname=" + run.host_name};
  // podman makes the image's own directory, but refuses a named one that does not exist.
  if (!run.working_directory.empty()) words.push_back("--workdir=" + run.working_directory);
  const bool is_podman = name_ == "podman";
  if (!is_podman || !init_.empty()) words.push_back("--init");
  if (is_podman && !init_.empty()) words.push_back("--init-path=" + init_);
  if (is_podman) {
    AddLimit("nofile", RLIMIT_NOFILE, kFilesMax, words);
    AddLimit("nproc", RLIMIT_NPROC, kProcessesMax, words);
  }
  for (const auto& [name, address] : run.hosts)
    words.push_back("--add-host=" + name + ":" + address);
  for (const auto& [directory, shown] : run.directories) words.push_back(Mount(directory, shown));
  for (const std::string& place : run.hidden) {
    words.push_back("--tmpfs=" + place + ":ro,size=4k" + (is_podman ? ",notmpcopyup" : ""));
  }
  for (const auto& [file, shown] : run.files) words.push_back(Mount(file, shown) + ",readonly");
  for (const engine::DeviceNode& node : run.devices) words.push_back(DeviceWord(node));
  for (const auto& [name, value] : run.environment) {
    words.push_back("--env=" + name + (IsSecret(name) ? "" : "=" + value));
  }
  words.push_back("--entrypoint=" + run.argv.front());
  words.push_back(run.image);
  words.insert(words.end(), run.argv.begin() + 1, run.argv.end());
  return words;
}

Result<Words> ContainerEngine::Names(const std::string& filter) const {
  ASSIGN_OR_RETURN(
      const ToolOutput listed,
      Ask({"ps", "--all", "--format", "{{.Names}}", "--filter", filter}, kAnswerTimeout));
  if (!listed.result.ok()) return errors::EngineSilent(name_, LastLine(listed.err));
  Words names;
  for (const std::string& line : Split(listed.out, '\n')) {
    if (!Trim(line).empty()) names.emplace_back(Trim(line));
  }
  return names;
}

Words ContainerEngine::RemovalOf(const std::string& container) const {
  return {name_, "rm", "--force", container};
}

// A command of an earlier emulator may be removing it (protocol.h, Removal). docker then fails at
// once, and the container is listed for some time.
Status ContainerEngine::Remove(const std::string& container) const {
  const auto deadline = MonotonicNow() + removal_patience_;
  for (;;) {
    const auto removed = Ask({"rm", "--force", container}, kAnswerTimeout);
    if (removed.ok() && removed->result.ok()) return Ok{};
    const auto left =
        Names("name=^" + container + "$");  // for some engines, a missing one is an error
    if (left.ok() && left->empty()) return Ok{};
    if (MonotonicNow() > deadline) {
      return errors::EngineCannotRemove(
          name_, container, removed.ok() ? LastLine(removed->err) : removed.error().message);
    }
    ::poll(nullptr, 0, kBetweenRemovals_ms);
  }
}

Status ContainerEngine::RemoveAll() const {
  ASSIGN_OR_RETURN(const Words names, Names("label=" + Label()));
  Status first = Ok{};
  for (const std::string& name : names) {
    Status removed = Remove(name);
    if (first.ok()) first = std::move(removed);
  }
  return first;
}

}  // namespace caip::host
