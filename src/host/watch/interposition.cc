#include "host/watch/interposition.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "host/watch/preloaded_calls.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV  // Linux 5.19
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace caip::host {
namespace {

// "" when the kernel holds calls for us.
std::string WhyNoSeccomp() {
  const char* wish = std::getenv("CAIP_INTERPOSITION");
  if (wish && std::string_view(wish) == "preload") return "CAIP_INTERPOSITION=preload asks for it";
  // The filter's address is 0: EFAULT shows that the kernel understood everything else.
  const unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr);
  if (errno == EINVAL) return "seccomp user notification needs Linux 5.19 or later";
  return errno == EFAULT ? "" : "seccomp: " + std::string(std::strerror(errno));
}

// Both ways look into the memory of who calls.
std::string WhyNoMemory() {
  char from = 'x';
  char to = '\0';
  iovec ours{&to, 1};
  iovec theirs{&from, 1};
  if (::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) == 1) return "";
  return "reading a process's memory: " + std::string(std::strerror(errno));
}

}  // namespace

Interposition InterpositionOf() {
  using Kind = Interposition::Kind;
  if (const std::string why = WhyNoMemory(); !why.empty()) return {Kind::kNone, why};
  const std::string why = WhyNoSeccomp();
  if (why.empty()) return {Kind::kSeccomp, ""};
  const Path library = PreloadLibraryBesideUs();
  if (::access(library.c_str(), R_OK) == 0) return {Kind::kPreload, why};
  return {Kind::kNone, why + "; and '" + library.string() + "' does not exist"};
}

}  // namespace caip::host
