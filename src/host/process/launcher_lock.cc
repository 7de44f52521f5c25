#include "host/process/launcher_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include <cerrno>

#include "base/clock.h"
#include "base/errors.h"
#include "host/launcher/protocol.h"

namespace caip::host {
namespace {

constexpr char kLockFile[] = "launcher.lock";
constexpr int kLockPause_ms = 1;

Error StillLocked(const Path& file) {
  return {Code::kDeadlineExceeded,
          "replicas of an earlier emulator have not ended: their processes still hold the lock '" +
              file.string() +
              "'. `lslocks` names them; they may be in an uninterruptible sleep. End them, or use "
              "another --state"};
}

Error InterruptedWaiting(const Path& file) {
  return {Code::kCancelled,
          "Interrupted while processes of an earlier emulator still held the lock '" +
              file.string() + "'."};
}

}  // namespace

Result<Fd> LockForLaunchers(const Path& state_directory, std::chrono::milliseconds patience,
                            const std::function<bool()>& interrupted) {
  RETURN_IF_ERROR(MakeDirectories(state_directory));
  const Path file = state_directory / kLockFile;
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(file, errno);
  const auto deadline = MonotonicNow() + patience;
  if (lock.get() <= launcher::kLock) {  // LauncherLink gives it that number
    lock = Fd(::fcntl(lock.get(), F_DUPFD_CLOEXEC, launcher::kLock + 1));
    if (!lock.valid()) return CannotOpen(file, errno);
  }
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (MonotonicNow() > deadline) return StillLocked(file);
    if (interrupted && interrupted()) return InterruptedWaiting(file);
    ::poll(nullptr, 0, kLockPause_ms);
  }
  return lock;
}

}  // namespace caip::host
