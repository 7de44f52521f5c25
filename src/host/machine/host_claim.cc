#include "host/machine/host_claim.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cassert>
#include <cstddef>
#include <cstring>

namespace caip::host {

std::optional<HostClaim> HostClaim::Take(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string full = "caip/" + name;
  assert(full.size() + 1 <= sizeof address.sun_path);
  std::memcpy(address.sun_path + 1, full.data(), full.size());  // a leading NUL: abstract
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + full.size());
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return std::nullopt;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return std::nullopt;
  return HostClaim(std::move(socket));
}

}  // namespace caip::host
