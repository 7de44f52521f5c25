#pragma once
// The CPUs and the memory of machine types, as limits of the kernel (man 7 cgroups, both versions).

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// Where the host has its control groups.
struct GroupPlaces {
  Path root = "/sys/fs/cgroup";
  Path own = "/proc/self/cgroup";  // the groups of this process
};

/// Makes a control group for each boot of a replica. Any thread.
class MachineLimits {
 public:
  /// Finds a group in which this user may make others, and tries it. An Error says why there is
  /// none. `name`: of all groups; those that an earlier emulator left are removed.
  static Result<std::unique_ptr<MachineLimits>> Open(const std::string& name,
                                                     const GroupPlaces& places = {});
  MachineLimits(const MachineLimits&) = delete;
  MachineLimits& operator=(const MachineLimits&) = delete;
  ~MachineLimits();

  /// What cannot be limited here: "CPUs", "memory"; "" nothing.
  std::string missing() const;

  /// Makes the groups of a boot that has a number of its own. Returns the files that take its
  /// processes.
  Result<std::vector<std::string>> Make(uint64_t number, const engine::ReplicaMachine& machine);
  /// Removes them. The processes must be dead, or about to be.
  void Remove(uint64_t number);

 private:
  /// A directory of groups, and the limits that its groups have.
  struct Tree {
    Path directory;
    bool limits_memory = false;
    bool limits_cpu = false;
    bool is_second_version = false;
  };
  explicit MachineLimits(std::vector<Tree> trees) : trees_(std::move(trees)) {}
  static std::vector<Tree> FindFirstVersion(const std::string& name, const GroupPlaces& places);
  static std::vector<Tree> FindSecondVersion(const std::string& name, const GroupPlaces& places);
  static Status SetLimits(const Tree& tree, const Path& group,
                          const engine::ReplicaMachine& machine);
  Status Try();
  void RemoveLeft();

  std::vector<Tree> trees_;
  std::mutex mutex_;
  std::vector<Path> left_;  // groups whose processes still end; guarded by mutex_
};

}  // namespace caip::host
