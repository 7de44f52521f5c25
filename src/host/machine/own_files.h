#pragma once
// Files and directories that a machine has for itself, on its boot disk (machine_files.h).

#include <string>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/machine/host_tree.h"

namespace caip::host {

/// Whether a disk has it, also as a link or as the mark of a file that the machine has deleted.
bool IsLeft(const Path& path);

/// The directory of this host in whose place a machine has the directory of `file`. The kernel does
/// not report writes below an overlay to those who watch its upper layer.
Path LiveOf(const Path& boot_disk, const std::string& file);
/// Makes it. All users of the machine may look into it.
Status MakeLive(const Path& boot_disk, const std::string& file);

/// Notes on a new disk at which paths the machine has something for itself. A kept disk needs this
/// when the host has something there by then.
Status NoteOwnPlaces(const Path& boot_disk, const std::vector<std::string>& places);
/// What was noted.
std::vector<std::string> NotedOwnPlaces(const Path& boot_disk);

/// Makes one of kEmptyDirectories in an upper layer. A kept disk may have one in a layer of its own
/// since something was mounted on the host.
Status MakeEmptyDirectory(const Path& boot_disk, const EmptyDirectory& directory, bool is_kept);

/// Gives the machine its own host name file, which it may change. Where an overlay has all of /etc,
/// the boot disk has the file, else the layer in memory.
Status WriteHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk, bool is_kept);
void AddHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                 std::vector<launcher::MachineMount>& places);

}  // namespace caip::host
