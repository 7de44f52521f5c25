#include "host/machine/machine_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "host/machine/machine_errors.h"

namespace caip::host {
namespace {

constexpr uint64_t kTrialGroup = 0;
constexpr int kPeriod_us = 100'000;  // of the CPU's limit
constexpr char kProcesses[] = "cgroup.procs";
constexpr char kControllers[] = "cgroup.subtree_control";  // of the second version

bool PutInGroup(const Path& file, const std::string& text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd.valid() && WriteAll(fd.get(), text);
}

bool HasWord(const Path& file, std::string_view word) {
  const auto text = ReadFile(file);
  if (!text.ok()) return false;
  const std::vector<std::string> words = Split(std::string(Trim(*text)), ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The path of this process's group: in the line "4:cpu,cpuacct:/user", or "0::/user" for the second
// version, whose controller is "".
std::string OwnGroup(const Path& file, std::string_view controller) {
  const auto text = ReadFile(file);
  for (const std::string& line : Split(text.ok() ? *text : "", '\n')) {
    const std::vector<std::string> parts = Split(line, ':');
    if (parts.size() < 3) continue;
    const std::vector<std::string> named = Split(parts[1], ',');
    if (std::find(named.begin(), named.end(), controller) != named.end()) return parts[2];
  }
  return "/";
}

Path GroupAt(const Path& root, const std::string& path) {
  return root / Path(path).relative_path();
}

bool IsGroup(const Path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Removes the groups that an emulator left, which have no process.
void RemoveGroupsBelow(const Path& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (entry->is_directory(unreadable)) ::rmdir(entry->path().c_str());
  }
}

bool MakeGroup(const Path& directory) {
  RemoveGroupsBelow(directory);
  return ::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST;
}

}  // namespace

// Version one: a tree for each controller, with this process's group in each.
std::vector<MachineLimits::Tree> MachineLimits::FindFirstVersion(const std::string& name,
                                                                 const GroupPlaces& places) {
  std::vector<Tree> trees;
  for (const char* controller : {"memory", "cpu"}) {
    const Path root = places.root / controller;
    Path parent = GroupAt(root, OwnGroup(places.own, controller));
    if (!IsGroup(parent)) parent = root;  // the group is outside of what this container sees
    const bool is_memory = std::string_view(controller) == "memory";
    if (!IsGroup(root) || !MakeGroup(parent / name)) continue;
    trees.push_back({parent / name, is_memory, !is_memory, false});
  }
  return trees;
}

// Version two: a group that has processes can have no limited groups below it, so the new group is
// beside that of this process, or for root at the top.
std::vector<MachineLimits::Tree> MachineLimits::FindSecondVersion(const std::string& name,
                                                                  const GroupPlaces& places) {
  const Path own = GroupAt(places.root, OwnGroup(places.own, ""));
  for (const Path& parent : {own.parent_path(), places.root}) {
    if (!IsGroup(parent / kControllers)) continue;
    for (const char* controller : {"+memory", "+cpu"})
      PutInGroup(parent / kControllers, controller);
    const Path group = parent / name;
    if (!MakeGroup(group)) continue;
    for (const char* controller : {"+memory", "+cpu"}) PutInGroup(group / kControllers, controller);
    const Tree tree{group, HasWord(group / kControllers, "memory"),
                    HasWord(group / kControllers, "cpu"), true};
    if (tree.limits_memory || tree.limits_cpu) return {tree};
    ::rmdir(group.c_str());
  }
  return {};
}

Result<std::unique_ptr<MachineLimits>> MachineLimits::Open(const std::string& name,
                                                           const GroupPlaces& places) {
  const bool is_second = IsGroup(places.root / "cgroup.controllers");
  auto trees = is_second ? FindSecondVersion(name, places) : FindFirstVersion(name, places);
  if (trees.empty()) return errors::NoControlGroups(places.root);
  std::unique_ptr<MachineLimits> limits(new MachineLimits(std::move(trees)));
  RETURN_IF_ERROR(limits->Try());
  return limits;
}

MachineLimits::~MachineLimits() {
  RemoveLeft();
  for (const Tree& tree : trees_) ::rmdir(tree.directory.c_str());
}

std::string MachineLimits::missing() const {
  const auto has = [&](bool Tree::*limit) {
    return std::any_of(trees_.begin(), trees_.end(), [&](const Tree& tree) { return tree.*limit; });
  };
  if (!has(&Tree::limits_memory)) return "memory";
  return has(&Tree::limits_cpu) ? "" : "CPUs";
}

Status MachineLimits::SetLimits(const Tree& tree, const Path& group,
                                const engine::ReplicaMachine& machine) {
  const auto put = [&](const char* file, const std::string& text) -> Status {
    if (PutInGroup(group / file, text)) return Ok{};
    return CannotWrite(group / file, errno);
  };
  if (tree.limits_memory && machine.memory_bytes > 0) {
    const std::string bytes = std::to_string(machine.memory_bytes);
    RETURN_IF_ERROR(put(tree.is_second_version ? "memory.max" : "memory.limit_in_bytes", bytes));
    // A machine has no swap. Not every host counts it.
    if (tree.is_second_version) PutInGroup(group / "memory.swap.max", "0");
    if (!tree.is_second_version) PutInGroup(group / "memory.memsw.limit_in_bytes", bytes);
  }
  if (!tree.limits_cpu || machine.vcpus <= 0) return Ok{};
  const std::string quota = std::to_string(machine.vcpus * kPeriod_us);
  if (tree.is_second_version) return put("cpu.max", quota + " " + std::to_string(kPeriod_us));
  RETURN_IF_ERROR(put("cpu.cfs_period_us", std::to_string(kPeriod_us)));
  return put("cpu.cfs_quota_us", quota);
}

Result<std::vector<std::string>> MachineLimits::Make(uint64_t number,
                                                     const engine::ReplicaMachine& machine) {
  RemoveLeft();
  std::vector<std::string> files;
  for (const Tree& tree : trees_) {
    const Path group = tree.directory / std::to_string(number);
    if (!MakeGroup(group)) return CannotMake(group, errno);
    RETURN_IF_ERROR(SetLimits(tree, group, machine));
    files.push_back((group / kProcesses).string());
  }
  return files;
}

void MachineLimits::Remove(uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    for (const Tree& tree : trees_) left_.push_back(tree.directory / std::to_string(number));
  }
  RemoveLeft();
}

// A killed process is in its group until the kernel has dismantled it.
void MachineLimits::RemoveLeft() {
  const std::lock_guard lock(mutex_);
  std::erase_if(left_,
                [](const Path& group) { return ::rmdir(group.c_str()) == 0 || errno != EBUSY; });
}

// The files may exist although this user must not move a process into the group.
Status MachineLimits::Try() {
  engine::ReplicaMachine machine;
  machine.vcpus = 1;
  machine.memory_bytes = 1ll << 30;
  ASSIGN_OR_RETURN(const std::vector<std::string> files, Make(kTrialGroup, machine));
  const pid_t child = ::fork();
  if (child == 0) {
    for (const std::string& file : files) {
      const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || ::write(fd, "0", 1) != 1) ::_exit(errno);
    }
    ::_exit(0);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  Remove(kTrialGroup);
  const int error = child < 0 ? EAGAIN : WEXITSTATUS(status);
  if (error == 0) return Ok{};
  return errors::CannotJoinGroup(error);
}

}  // namespace caip::host
