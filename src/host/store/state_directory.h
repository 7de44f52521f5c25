#pragma once
// The state directory and its one owner.
//
//   owner.lock     locked for as long as the owner lives; its text says who that is
//   jobs.db        jobs (job_store.h)
//   buckets/       Cloud Storage
//   disks/         boot disks of replicas (boot_disks.h)
//   environments/  Python environments by content (environment_cache.h)
//   python/        what replicas run before their trainer (python_hook.h)
//   packages/      packages on their way into an environment
//   interpreters.json  what is known of the host's Pythons (interpreters.h)

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// What the state directory may be named by, strongest first. "" says nothing.
struct StateNames {
  std::string flag;            // --state
  std::string caip_state;      // $CAIP_STATE
  std::string xdg_state_home;  // $XDG_STATE_HOME
  std::string home;            // $HOME
};

/// --state, else $CAIP_STATE, else $XDG_STATE_HOME/caip, else ~/.local/state/caip. Relative paths
/// of the first two are taken from `current`; the XDG rules ignore a relative $XDG_STATE_HOME.
Result<Path> ResolveStateDirectory(const StateNames& names, const Path& current);

/// The owner of a state directory.
struct StateOwner {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // of the process, since boot: tells it from a later one of that pid
  std::string url;           // "" before Publish
  std::string version;
  std::string started_at;  // RFC 3339
};

/// The right to write in a state directory. The kernel takes it back when the process ends, however
/// that comes about. Move-only; one thread.
class StateDirectory {
 public:
  /// Makes the directory (0700) if there is none. kAborted names the owner there is (who looks
  /// again may find none, or one that serves); kPermissionDenied says why it can never be ours.
  static Result<StateDirectory> Own(const Path& path, const std::string& version, Instant now);

  /// The living owner, or nullopt: nobody has it, or there is no such directory.
  static Result<std::optional<StateOwner>> Peek(const Path& path);

  /// Tells who asks where the owner serves.
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
