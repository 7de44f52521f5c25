#pragma once
// The state directory and its single owner.
//
//   owner.lock     locked while the owner lives; names the owner
//   launcher.lock  locked while processes live that start replicas (launcher_lock.h)
//   jobs.db        jobs (job_store.h)
//   buckets/       Cloud Storage
//   images/        container images (images/image_store.h)
//   disks/         boot disks of replicas (boot_disks.h)
//   environments/  Python environments by content (environment_cache.h)
//   runtimes/      environments of runtime versions (runtime_environments.h)
//   python/        the hook of Python replicas (python_hook.h)
//   packages/      packages during their installation
//   tmp/           files of tasks that are under way (scratch.h)
//   scenarios/     state directories of runs of scenarios, and their caches
//   interpreters.json  facts about the host's Pythons (interpreters.h)

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// What Cloud Storage keeps for itself in `buckets` (fakes/gcs/store). Replicas that see the
/// buckets find empty directories there, which they can neither change nor replace.
inline constexpr const char* kWorkOfStorage[] = {".caip-tmp", ".caip-versions"};

/// Where the log files of machines are in a state directory (metrics/log_file_launcher.h). They are
/// deleted with the boot disks, also after a kill.
inline constexpr char kLogFilesOfMachines[] = "disks/.log-storage";

/// The name of a network file system by its number in statfs(2), such as "NFS"; "" for others.
/// File systems in user space (sshfs) all have one number, and are not recognized.
std::string_view NetworkFileSystemName(uint32_t number);

/// kFailedPrecondition if the directory, or the nearest that exists above it, is on a network file
/// system. A second host could use the databases there at the same time: SQLite's shared memory and
/// locks do not reach it (https://www.sqlite.org/wal.html, section 1).
Status CheckIsOnThisHost(const Path& directory);

/// The owner of a state directory.
struct StateOwner {
  pid_t pid = 0;
  // The process's start since boot. A later process with the same pid has another start.
  uint64_t start_ticks = 0;
  std::string url;  // "" before Publish
  std::string version;
  std::string started_at;  // RFC 3339
};

/// The start of the process since boot, in clock ticks; 0: it does not exist here.
uint64_t StartTicks(pid_t pid);

/// The right to write in a state directory. The kernel releases it when the process ends, even if
/// the process is killed. Move-only; one thread.
class StateDirectory {
 public:
  /// Creates the directory (0700) if it does not exist, and closes it to other users. kAborted
  /// names the present owner, which may end or begin to serve meanwhile. kPermissionDenied: this
  /// user can never own the directory.
  static Result<StateDirectory> Own(const Path& path, const std::string& version, Instant now);

  /// Creates the directory as Own does, for commands that need no emulator and add to it what an
  /// emulator does not own alone.
  static Status Make(const Path& path);

  /// The living owner; nullopt if there is none, or the directory does not exist.
  static Result<std::optional<StateOwner>> Peek(const Path& path);

  /// Records the URL at which the owner serves.
  Status Publish(const std::string& url);

  StateDirectory(StateDirectory&&) = default;
  StateDirectory& operator=(StateDirectory&&) = default;
  ~StateDirectory();

  const Path& path() const { return path_; }

 private:
  StateDirectory(Path path, Fd lock, StateOwner owner)
      : path_(std::move(path)), lock_(std::move(lock)), owner_(std::move(owner)) {}

  Path path_;
  Fd lock_;
  StateOwner owner_;
};

}  // namespace caip::host
