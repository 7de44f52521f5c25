#include "host/launcher/sealed_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#ifndef MFD_EXEC  // Linux 6.3
#define MFD_EXEC 0x0010U
#endif

namespace caip::host::launcher {
namespace {

constexpr char kOwnProgram[] = "/proc/self/exe";

int MakeMemoryFile(const char* name) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int file = ::memfd_create(name, flags | MFD_EXEC);
  return file < 0 && errno == EINVAL ? ::memfd_create(name, flags) : file;
}

bool CopyWhole(int from, int to) {
  constexpr size_t kMost = 1u << 30;
  ssize_t copied = 0;
  while ((copied = ::sendfile(to, from, nullptr, kMost)) > 0) continue;
  return copied == 0;
}

bool Seal(int file) {
  return ::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
}

std::string PathOf(int file) { return "/proc/self/fd/" + std::to_string(file); }

// The kernel executes no file that a descriptor may write, so this one only reads. -1: none.
int MakeSealedCopy(const char* name) {
  const int program = ::open(kOwnProgram, O_RDONLY | O_CLOEXEC);
  if (program < 0) return -1;
  const int file = MakeMemoryFile(name);
  const bool is_made = file >= 0 && CopyWhole(program, file) && Seal(file);
  const int copy = is_made ? ::open(PathOf(file).c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) ::close(file);
  ::close(program);
  return copy;
}

}  // namespace

bool RunsSealedCopy() {
  const int program = ::open(kOwnProgram, O_RDONLY | O_CLOEXEC);
  if (program < 0) return false;
  const int seals = ::fcntl(program, F_GET_SEALS);
  ::close(program);
  return seals >= 0 && (seals & F_SEAL_WRITE) != 0;
}

void RunFromSealedCopy(const char* name, char* const* arguments, char* const* environment) {
  if (RunsSealedCopy()) {
    ::prctl(PR_SET_NAME, name);  // the exec named it after a descriptor
    return;
  }
  const int copy = MakeSealedCopy(name);
  if (copy < 0) return;
  ::execve(PathOf(copy).c_str(), arguments, environment);
  ::close(copy);
}

}  // namespace caip::host::launcher
