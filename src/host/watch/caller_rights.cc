#include "host/watch/caller_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files.h"
#include "host/launcher/container_rights.h"
#include "host/watch/watched_call.h"

namespace caip::host {
namespace {

using launcher::CapabilityBits;

// Those that decide about the calls that caip carries out.
constexpr uint64_t kFileCapabilities =
    CapabilityBits({CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID});
// Those that the kernel takes from a thread whose user for files stops being root
// (capabilities(7), "Effect of user ID changes on capabilities").
constexpr uint64_t kRootsCapabilities =
    kFileCapabilities |
    CapabilityBits({CAP_CHOWN, CAP_MKNOD, CAP_LINUX_IMMUTABLE, CAP_MAC_OVERRIDE});
constexpr uint64_t kChangesOfUser = CapabilityBits({CAP_SETUID, CAP_SETGID});

/// The effective and the permitted capabilities of a thread.
struct ThreadCapabilities {
  uint64_t effective = 0;
  uint64_t permitted = 0;
};

/// Reads and writes a thread's capabilities. 0: this thread.
class CapabilityCall {
 public:
  explicit CapabilityCall(pid_t thread) : head_{_LINUX_CAPABILITY_VERSION_3, thread} {}

  std::optional<ThreadCapabilities> Read() {
    if (::syscall(SYS_capget, &head_, parts_) != 0) return std::nullopt;
    return ThreadCapabilities{Join(parts_[0].effective, parts_[1].effective),
                              Join(parts_[0].permitted, parts_[1].permitted)};
  }
  /// After Read.
  bool WriteEffective(uint64_t effective) {
    parts_[0].effective = static_cast<uint32_t>(effective);
    parts_[1].effective = static_cast<uint32_t>(effective >> 32);
    return ::syscall(SYS_capset, &head_, parts_) == 0;
  }

 private:
  static uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

  __user_cap_header_struct head_;
  __user_cap_data_struct parts_[2] = {};
};

bool SetOwnEffective(uint64_t effective) {
  CapabilityCall own(0);
  return own.Read() && own.WriteEffective(effective);
}

// CAP_DAC_OVERRIDE includes CAP_DAC_READ_SEARCH, which programs on machines lack.
uint64_t FilePartOf(uint64_t effective) {
  constexpr uint64_t kOverride = CapabilityBits({CAP_DAC_OVERRIDE});
  const uint64_t part = effective & kFileCapabilities;
  return part & kOverride ? part | CapabilityBits({CAP_DAC_READ_SEARCH}) : part;
}

/// The rights of this process. All its threads have them.
struct OwnRights {
  FileRights files;
  ThreadCapabilities capabilities;
  bool may_change = false;    // to other users and groups
  bool is_dumpable = false;   // prctl(2), PR_SET_DUMPABLE
  bool is_unlimited = false;  // no groups could add rights
};

OwnRights ReadOwnRights() {
  OwnRights own;
  own.files.user = ::geteuid();
  own.files.group = ::getegid();
  own.files.groups.resize(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  (void)::getgroups(static_cast<int>(own.files.groups.size()), own.files.groups.data());
  own.capabilities = CapabilityCall(0).Read().value_or(ThreadCapabilities{});
  own.files.capabilities = FilePartOf(own.capabilities.effective);
  own.may_change = (own.capabilities.effective & kChangesOfUser) == kChangesOfUser;
  own.is_dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  own.is_unlimited = own.files.capabilities == kFileCapabilities;
  return own;
}

// They are read before a thread takes others.
const OwnRights& OwnRightsOfProcess() {
  static const OwnRights own = ReadOwnRights();
  return own;
}

std::string PlaceOfThread(pid_t thread) { return "/proc/" + std::to_string(thread); }

// Costs less than reading the status. The directory of a thread belongs to its effective user and
// group. Those for files are the same, unless the thread has set them alone.
bool HasRightsOf(const OwnRights& own, pid_t thread) {
  struct stat place {};
  if (::stat(PlaceOfThread(thread).c_str(), &place) != 0) return false;
  if (place.st_uid != own.files.user || place.st_gid != own.files.group) return false;
  const auto capabilities = CapabilityCall(thread).Read();
  return capabilities && FilePartOf(capabilities->effective) == own.files.capabilities;
}

// The value of a line of /proc/THREAD/status; "" if it is missing.
std::string StatusLineOf(const std::string& status, std::string_view name) {
  const std::string begin = "\n" + std::string(name) + ":";
  const size_t at = status.find(begin);
  if (at == std::string::npos) return "";
  const size_t value = at + begin.size();
  return status.substr(value, status.find('\n', value) - value);
}

std::vector<uint32_t> NumbersIn(const std::string& line) {
  std::vector<uint32_t> numbers;
  char* end = nullptr;
  for (const char* at = line.c_str();; at = end) {
    const unsigned long number = std::strtoul(at, &end, 10);
    if (end == at) return numbers;
    numbers.push_back(static_cast<uint32_t>(number));
  }
}

// Capabilities count in the user namespace of their process only.
bool IsInOwnUserNamespace(pid_t thread) {
  return IdentifyFile(PlaceOfThread(thread) + "/ns/user") == IdentifyFile("/proc/self/ns/user");
}

// nullopt if the thread has ended.
std::optional<FileRights> ReadRightsOf(pid_t thread) {
  constexpr size_t kForFiles = 3;  // of real, effective, saved, for files (proc(5))
  const auto status = ReadFile(PlaceOfThread(thread) + "/status");
  if (!status.ok()) return std::nullopt;
  const auto users = NumbersIn(StatusLineOf(*status, "Uid"));
  const auto groups = NumbersIn(StatusLineOf(*status, "Gid"));
  if (users.size() <= kForFiles || groups.size() <= kForFiles) return std::nullopt;
  FileRights rights{users[kForFiles], groups[kForFiles]};
  rights.groups = NumbersIn(StatusLineOf(*status, "Groups"));
  const std::string effective = StatusLineOf(*status, "CapEff");
  rights.capabilities = FilePartOf(std::strtoull(effective.c_str(), nullptr, 16));
  if (rights.capabilities != 0 && !IsInOwnUserNamespace(thread)) rights.capabilities = 0;
  return rights;
}

// Groups add nothing to the rights of a thread that has all capabilities for files.
bool AreEqual(const FileRights& one, const FileRights& other) {
  return one.user == other.user && one.group == other.group &&
         one.capabilities == other.capabilities &&
         (one.capabilities == kFileCapabilities || one.groups == other.groups);
}

// The system call, because the C library's function changes all threads.
bool SetGroups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

bool SetFileUser(const FileRights& rights) {
  ::syscall(SYS_setfsgid, rights.group);
  ::syscall(SYS_setfsuid, rights.user);
  constexpr auto kNone = static_cast<uint32_t>(-1);  // changes nothing, and returns the present one
  return ::syscall(SYS_setfsgid, kNone) == static_cast<long>(rights.group) &&
         ::syscall(SYS_setfsuid, kNone) == static_cast<long>(rights.user);
}

}  // namespace

void CallerRights::Begin(pid_t thread) {
  thread_ = thread;
  is_known_ = false;
}

const std::optional<FileRights>& CallerRights::Find() const {
  if (!is_known_) rights_ = FindOthers();
  is_known_ = true;
  return rights_;
}

std::optional<FileRights> CallerRights::FindOthers() const {
  if (thread_ == 0) return std::nullopt;
  const OwnRights& own = OwnRightsOfProcess();
  if (!own.may_change) return std::nullopt;
  const bool status_says_more = has_file_users_ || !own.is_unlimited;
  if (!status_says_more && HasRightsOf(own, thread_)) return std::nullopt;
  auto rights = ReadRightsOf(thread_);
  if (!rights || AreEqual(*rights, own.files)) return std::nullopt;
  return rights;
}

TakenRights::TakenRights(const std::optional<FileRights>& rights) {
  if (!rights) return;
  const OwnRights& own = OwnRightsOfProcess();
  const uint64_t effective = (own.capabilities.effective & ~kRootsCapabilities) |
                             (rights->capabilities & own.capabilities.permitted);
  // A user namespace may forbid a change of the groups.
  has_groups_ = rights->groups != own.files.groups;
  if (has_groups_ && !SetGroups(rights->groups)) return;
  is_taken_ = true;
  if (!SetFileUser(*rights) || !SetOwnEffective(effective)) GiveBack();
}

TakenRights::~TakenRights() {
  const int before = errno;
  if (is_taken_) GiveBack();
  errno = before;
}

// A change of the user makes the process undumpable: its files in /proc then belong to root.
void TakenRights::GiveBack() {
  const OwnRights& own = OwnRightsOfProcess();
  const bool is_of_own_groups = !has_groups_ || SetGroups(own.files.groups);
  const bool is_own_user = SetFileUser(own.files);
  const bool is_back =
      SetOwnEffective(own.capabilities.effective) && is_of_own_groups && is_own_user;
  if (!is_back) std::abort();  // later calls would have the rights of another program
  if (own.is_dumpable) ::prctl(PR_SET_DUMPABLE, 1);
  is_taken_ = false;
}

}  // namespace caip::host
