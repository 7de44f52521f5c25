#pragma once
// /dev of a machine.

#include <vector>

#include "engine/ports.h"
#include "host/launcher/protocol.h"

namespace caip::host {

/// The nodes that every machine has, and those that the launch names, which was lent them; no other
/// device of this host. With /dev/pts, /dev/shm and /dev/mqueue of the machine itself.
std::vector<launcher::MachineMount> DeviceMounts(const engine::ReplicaLaunch& launch);

}  // namespace caip::host
