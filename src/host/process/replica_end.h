#pragma once
// Turns what caip-launcher reports about a replica's end into an exit for the engine and entries
// for the log. Pure, but for a look at the program that could not be started.

#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/process/replica_output.h"

namespace caip::host {

/// Exit code or signal, from the native status.
engine::ReplicaExit ExitOf(const engine::ReplicaKey& key, const launcher::Report& report);

/// Why a start failed: what was to be done, the kernel's reason, and the culprit.
std::string StartError(const std::string& program, const std::string& directory,
                       const launcher::Report& report);

/// The processes that outlived the main one: "421 sleep 600".
std::vector<std::string> LeftRunning(const launcher::Report& report);

/// What the log should say of the end beyond what the replica printed.
std::vector<ReplicaOutput::Remark> Remarks(const engine::ReplicaExit& exit,
                                           const launcher::Report& report);

}  // namespace caip::host
