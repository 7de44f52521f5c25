#pragma once
// Which replica of a run has the other end of a connection: replicas that share a network come from
// the same addresses, and the metadata server must tell each about itself.

#include <string>
#include <string_view>

#include "engine/ports.h"

namespace caip::host {

/// The task (run::Name) of the replica among whose processes one holds the socket that is
/// bound to `client` ("127.0.0.1:51234") in the run's network; "" where it cannot be found (any
/// more). Looks through /proc: a matter of milliseconds.
std::string TaskOfClient(const std::string& state_id, const engine::RunKey& run,
                         const std::string& client);

/// The inode of the established connection whose near end is `client`, in the text of a
/// /proc/PID/net/tcp; "" if there is none.
std::string InodeOfClient(std::string_view tcp_table, const std::string& client);

}  // namespace caip::host
