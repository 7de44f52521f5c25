#pragma once
// The rights of programs on a machine. Makes only system calls, so that a process that shares
// another's memory until its exec can use it.

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

namespace caip::host::launcher {

constexpr uint64_t CapabilityBits(std::initializer_list<int> capabilities) {
  uint64_t bits = 0;
  for (const int capability : capabilities) bits |= uint64_t{1} << capability;
  return bits;
}

/// The capabilities of a container's processes: those that Docker leaves them, and CAP_SYS_PTRACE
/// for debuggers and profilers. Not CAP_MKNOD: no list of devices limits a machine, so a program
/// could make the file of any device. NVIDIA's libraries do: they make those of all GPUs.
inline constexpr uint64_t kContainerCapabilities =
    CapabilityBits({CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID,
                    CAP_SETUID, CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SYS_CHROOT,
                    CAP_SYS_PTRACE, CAP_AUDIT_WRITE, CAP_SETFCAP});

/// Leaves the program that this process executes next only those. The exec grants root only what is
/// in the bounding set.
inline void DropCapabilities() {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (kContainerCapabilities >> capability & 1) continue;
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

/// Leaves this process itself at most these. False with errno: it may have others.
inline bool LimitOwnCapabilities(uint64_t kept) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, words) != 0) return false;
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) {
    const auto kept_here = static_cast<uint32_t>(kept >> (32 * i));
    words[i].permitted &= kept_here;
    words[i].effective &= kept_here;
    words[i].inheritable = 0;
  }
  return ::syscall(SYS_capset, &header, words) == 0;
}

/// Leaves the capabilities of a container to this process itself and to its next program. False
/// with errno: it may have others.
inline bool DropOwnCapabilities() {
  DropCapabilities();
  return LimitOwnCapabilities(kContainerCapabilities);
}

}  // namespace caip::host::launcher
