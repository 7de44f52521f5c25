#pragma once
// Which user of this host has the other end of a TCP connection.

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

namespace caip::http {

/// Finds the users at the other ends. Asks the kernel by sock_diag requests on one socket, so that
/// a process without free descriptors still gets answers, or else reads /proc/net/tcp. Any thread.
class PeerUsers {
 public:
  PeerUsers();

  /// The user who opened the peer's socket. nullopt: the peer is on another host or in another
  /// network namespace, or has closed its socket already (the kernel forgets the owner of a closed
  /// socket and reports root).
  std::optional<uid_t> Find(int connection);
  /// The same for a connection with these ends.
  std::optional<uid_t> Find(const sockaddr_storage& peer_address,
                            const sockaddr_storage& own_address);

 private:
  Fd netlink_;        // invalid: this host has no sock_diag
  std::mutex mutex_;  // guards the rest, and each exchange on netlink_
  uint32_t sequence_ = 0;
};

/// The owner in the text of /proc/net/tcp or tcp6 (man 5 proc) of the socket between `local` and
/// `remote`, in the table's own form ("0100007F:C822"); nullopt if it is missing or closed.
std::optional<uid_t> UserInTable(std::string_view table, std::string_view local,
                                 std::string_view remote);

/// "alice", or "user 1001" if the host has no name for the user.
std::string UserName(uid_t user);
/// The reverse: a name or a number. nullopt: the host has no such user.
std::optional<uid_t> UserNamed(const std::string& name);

}  // namespace caip::http
