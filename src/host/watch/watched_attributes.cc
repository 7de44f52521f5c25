#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/watch/reachable_path.h"
#include "host/watch/watched_files.h"
#include "host/watch/watched_process.h"

namespace caip::host {

// Calls that set the modes and times of files and directories.

/// Describes such a call.
struct WatchedFiles::AttributeCall {
  int descriptor = AT_FDCWD;           // where the path begins; without a path, the file itself
  std::optional<uint64_t> path = {};   // the address of its text
  bool follows_link = true;            // at the end of the path
  std::optional<mode_t> mode = {};     // that the file gets
  std::array<timespec, 2> times = {};  // if there is no mode: of the last access, the last write
};

namespace {

constexpr int kFchmodat2Number = 452;  // Linux 6.6, on all machines; older headers lack its name
constexpr long kMicrosecondsPerSecond = 1'000'000;
using Times = std::array<timespec, 2>;

// The times of a call whose argument has the present time if it is null. The kernel takes the same
// for both.
constexpr Times kNowForBoth = {timespec{0, UTIME_NOW}, timespec{0, UTIME_NOW}};

template <typename Value>
std::optional<Value> ReadStruct(const WatchedCall& call, uint64_t address) {
  const auto bytes = call.Read(address, sizeof(Value));
  if (!bytes) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

// The next functions return nullopt where the kernel refuses the call.

std::optional<Times> ReadTimespecs(const WatchedCall& call, uint64_t address) {
  if (address == 0) return kNowForBoth;
  return ReadStruct<Times>(call, address);
}

std::optional<Times> ReadTimevals(const WatchedCall& call, uint64_t address) {
  if (address == 0) return kNowForBoth;
  const auto values = ReadStruct<std::array<timeval, 2>>(call, address);
  if (!values) return std::nullopt;
  Times times{};
  for (size_t i = 0; i < times.size(); ++i) {
    const timeval& value = (*values)[i];
    if (value.tv_usec < 0 || value.tv_usec >= kMicrosecondsPerSecond) return std::nullopt;
    times[i] = {value.tv_sec, value.tv_usec * 1000};
  }
  return times;
}

#ifdef SYS_utime  // not on arm64
std::optional<Times> ReadSeconds(const WatchedCall& call, uint64_t address) {
  if (address == 0) return kNowForBoth;
  const auto value = ReadStruct<utimbuf>(call, address);
  if (!value) return std::nullopt;
  return Times{timespec{value->actime, 0}, timespec{value->modtime, 0}};
}
#endif

// The kernel refuses some of the other flags. Programs hardly use the rest.
bool HasOtherFlags(uint32_t flags) { return (flags & ~uint32_t{AT_SYMLINK_NOFOLLOW}) != 0; }

}  // namespace

// Calls of other kinds are tried next.
Handled WatchedFiles::HandleAttributes(const WatchedCall& call) {
  switch (call.number()) {
#ifdef SYS_chmod  // not on arm64
    case SYS_chmod:
#endif
    case SYS_fchmod:
    case SYS_fchmodat:
    case kFchmodat2Number:
      return SetMode(call);
#ifdef SYS_utime
    case SYS_utime:
    case SYS_utimes:
    case SYS_futimesat:
#endif
    case SYS_utimensat:
      return SetTimes(call);
    default:
      return HandleClose(call);
  }
}

Handled WatchedFiles::SetMode(const WatchedCall& call) {
  const auto mode = [&](int index) { return static_cast<mode_t>(call.argument(index)) & 07777; };
  if (call.number() == SYS_fchmod) {
    return SetAttributes(call, {.descriptor = call.descriptor(0), .mode = mode(1)});
  }
#ifdef SYS_chmod
  if (call.number() == SYS_chmod) {
    return SetAttributes(call, {.path = call.argument(0), .mode = mode(1)});
  }
#endif
  const bool has_flags = call.number() == kFchmodat2Number;
  const uint32_t flags = has_flags ? static_cast<uint32_t>(call.argument(3)) : 0;
  if (HasOtherFlags(flags)) return Handled::kNotMine;
  return SetAttributes(call, {.descriptor = call.descriptor(0),
                              .path = call.argument(1),
                              .follows_link = flags == 0,
                              .mode = mode(2)});
}

Handled WatchedFiles::SetTimes(const WatchedCall& call) {
  AttributeCall wanted;
  std::optional<Times> times;
  switch (call.number()) {
#ifdef SYS_utime
    case SYS_utime:
      wanted.path = call.argument(0);
      times = ReadSeconds(call, call.argument(1));
      break;
    case SYS_utimes:
      wanted.path = call.argument(0);
      times = ReadTimevals(call, call.argument(1));
      break;
#endif
    default: {  // without a path, the descriptor is that of the file
      const bool is_new = call.number() == SYS_utimensat;
      const uint32_t flags = is_new ? static_cast<uint32_t>(call.argument(3)) : 0;
      if (HasOtherFlags(flags)) return Handled::kNotMine;
      wanted.descriptor = call.descriptor(0);
      if (call.argument(1) != 0) wanted.path = call.argument(1);
      wanted.follows_link = flags == 0;
      times = is_new ? ReadTimespecs(call, call.argument(2)) : ReadTimevals(call, call.argument(2));
    }
  }
  if (!times) return Handled::kNotMine;
  wanted.times = *times;
  return SetAttributes(call, wanted);
}

// caip carries out the call, so that the watcher learns of it when it is over. The kernel carries
// out those that change a link itself, and refuses those that are not valid.
Handled WatchedFiles::SetAttributes(const WatchedCall& call, const AttributeCall& wanted) {
  const auto path = PathOf(call, wanted);
  if (!path || !IsChangeWatched(*path)) return Handled::kNotMine;
  FileOperation operation{FileOperation::Kind::kAttributes, *path};
  const timespec* times = wanted.times.data();
  const long written = wanted.times[1].tv_nsec;
  operation.sets_time = !wanted.mode && written != UTIME_NOW && written != UTIME_OMIT;
  if (!wanted.path) {
    const auto file = BorrowDescriptor(call, wanted.descriptor);
    if (!file.ok()) return Handled::kNotMine;
    const int64_t result = ResultWith(root_.caller().Find(), [&] {
      return wanted.mode ? ::fchmod(file->get(), *wanted.mode) : ::futimens(file->get(), times);
    });
    return Answer(call, operation, result);
  }
  const Fd file = root_.Open(*path, O_PATH | O_NOFOLLOW, 0);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return Handled::kNotMine;
  if (S_ISLNK(status.st_mode)) return Handled::kNotMine;
  const std::string opened = "/proc/self/fd/" + std::to_string(file.get());
  const int64_t result = ResultWith(root_.caller().Find(), [&] {
    return wanted.mode ? ::chmod(opened.c_str(), *wanted.mode)
                       : ::utimensat(AT_FDCWD, opened.c_str(), times, 0);
  });
  return Answer(call, operation, result);
}

std::optional<std::string> WatchedFiles::PathOf(const WatchedCall& call,
                                                const AttributeCall& wanted) const {
  if (wanted.path) {
    const auto text = call.ReadText(*wanted.path);
    // /proc/self would be caip's own directory here.
    if (!text || text->starts_with("/proc/") || !call.IsWaiting()) return std::nullopt;
    const PathEnd end = wanted.follows_link ? PathEnd::kFollowed : PathEnd::kName;
    const NamedPath named{wanted.descriptor, *text, end};
    // The kernel refuses what the caller may not reach.
    if (!MayReach(call, root_.caller().Find(), named)) return std::nullopt;
    return ResolvePath(call, root_, named);
  }
  const auto id = written_.empty() ? std::nullopt : call.Identify(wanted.descriptor);
  const auto found = id ? written_.find(*id) : written_.end();
  if (found != written_.end()) return found->second.path;
  return PathOfDescriptor(call, wanted.descriptor);
}

}  // namespace caip::host
