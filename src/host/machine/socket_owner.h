#pragma once
// Finds the replica that has the other end of a connection. Replicas that share a network have the
// same addresses, but the metadata server must answer each replica about itself.

#include <string>
#include <string_view>

#include "engine/ports.h"

namespace caip::host {

/// The task (run::Name) of the replica with the socket that is bound to `client`
/// ("127.0.0.1:51234") in the run's network; "" if the socket cannot be found, for example because
/// it was closed. Searches /proc, which takes milliseconds.
std::string TaskOfClient(const std::string& state_id, const engine::RunKey& run,
                         const std::string& client);

/// The inode of the established connection whose local end is `client`, in the text of a
/// /proc/PID/net/tcp; "" if there is none.
std::string InodeOfClient(std::string_view tcp_table, const std::string& client);

}  // namespace caip::host
