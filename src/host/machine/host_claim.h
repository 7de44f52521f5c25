#pragma once
// Exclusive names on this host, between all emulators of all users: which GPU, which block of
// loopback addresses, which port is in use.

#include <optional>
#include <string>

#include "base/files.h"

namespace caip::host {

/// A name that no other process on this host holds: a socket in the abstract namespace. It leaves
/// no file behind and the kernel takes it back when the process ends, killed or not. Move-only.
class HostClaim {
 public:
  /// nullopt when another process holds it. `name` is at most 90 bytes.
  static std::optional<HostClaim> Take(const std::string& name);

 private:
  explicit HostClaim(Fd socket) : socket_(std::move(socket)) {}
  Fd socket_;
};

}  // namespace caip::host
