#include "host/process/entering_process.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "host/process/process_status.h"

#ifndef SYS_mount_setattr  // Linux 5.12
#define SYS_mount_setattr 442
#endif

namespace caip::host {
namespace {

constexpr char kRunningProgram[] = "/proc/self/exe";

bool IsOnReadOnlyMount(const char* file) {
  struct statvfs status {};
  return ::statvfs(file, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// Mounts the file on itself, in a mount namespace of this process alone. So the program keeps its
// path, by which it finds its libraries.
bool MountReadOnly(const char* file) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(file, file, nullptr, MS_BIND, nullptr) == 0 &&
         ::syscall(SYS_mount_setattr, AT_FDCWD, file, 0, &attributes, sizeof attributes) == 0 &&
         IsOnReadOnlyMount(file);
}

}  // namespace

void RunFromReadOnlyMount() {
  if (IsOnReadOnlyMount(kRunningProgram)) return;
  std::error_code error;
  const std::string file = std::filesystem::read_symlink(kRunningProgram, error);
  const auto line = ReadFile("/proc/self/cmdline");
  if (!line.ok() || line->empty() || !MountReadOnly(file.c_str())) return;
  std::vector<std::string> words = Split(*line, '\0');
  words.pop_back();  // the empty one after the last NUL
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(file.c_str(), arguments.data());
}

// Programs of that user must not look at this process, which was root.
bool BecomeUserOf(pid_t process) {
  const uid_t user = EffectiveUserOf(process);
  const gid_t group = EffectiveGroupOf(process);
  if (::geteuid() != 0 || user == 0) return true;
  const std::vector<gid_t> groups = GroupsOf(process);
  return ::setgroups(groups.size(), groups.data()) == 0 && ::setresgid(group, group, group) == 0 &&
         ::setresuid(user, user, user) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
}

}  // namespace caip::host
