#pragma once
// /dev of a machine.

#include <vector>

#include "engine/ports.h"
#include "host/launcher/protocol.h"

namespace caip::host {

/// The nodes that every machine has, those of devices that are not lent, and those that the launch
/// names; with /dev/pts, /dev/shm and /dev/mqueue of the machine itself.
std::vector<launcher::MachineMount> DeviceMounts(const engine::ReplicaLaunch& launch);

}  // namespace caip::host
