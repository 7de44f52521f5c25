#pragma once
// The root of a machine, and the overlays in it. The boot disk has what the replica writes, in
// `changes` or in a directory of `layers`.
//
// With rights over the host, the root is an overlay of the host's root. The only parts are other
// file systems of the host in which the machine has something for itself (MountsWithOwn).
//
// A user without these rights cannot mount an overlay of the whole root of the host. The root is an
// overlay of a layer in memory, which has links, directories and the places of mounts (RootParts).
// An overlay for each larger part is mounted in it.

#include <string>
#include <vector>

#include "base/files.h"
#include "host/launcher/protocol.h"
#include "host/machine/host_tree.h"

namespace caip::host {

/// Makes the directories of a new disk. If a kept one has no layer for a directory, because
/// something else was mounted on the host then, what it has of the directory becomes the layer.
Status MakeLayers(const Path& boot_disk, const RootParts& parts);
/// Whether the disk has them.
bool HasLayers(const Path& boot_disk);

/// The layer of the disk that has what a machine writes to that directory of RootParts::layers.
Path LayerOf(const Path& boot_disk, const std::string& directory);
/// The directories that the disk has layers for.
std::vector<std::string> LayeredDirectories(const Path& boot_disk);
/// Adds these layers of a kept disk where the mounts of this host do not ask for them any more. Not
/// those of directories that are split now.
void AddKeptLayers(const std::vector<std::string>& kept, RootParts& parts);
/// Whether a layer of the disk has what a machine writes at `path`, and not `changes`.
bool IsInLayer(const Path& boot_disk, const std::string& path);
/// The place on a boot disk, with or without layers, of what a machine writes at `path`.
Path UpperOf(const Path& boot_disk, const std::string& path);
/// Makes that place, a directory. Where the host has a directory too, it gets that one's mode, and
/// its owner if this user may change owners. Makes nothing below a link or a file that a machine
/// has put on the way there: the machine does not see the host's files at the path any more.
Status MakeUpper(const Path& boot_disk, const std::string& path);
/// Whether the path is a directory of the disk, and no link is on the way there. A link that a
/// machine has made may lead to files of the host.
bool IsDirectoryOfDisk(const Path& boot_disk, const Path& path);
/// Gives a directory of an upper layer the mode and the owner of the host's, which it hides.
void CopyAccess(const Path& of_host, const Path& upper);

/// Empties the working directories of all overlays of a disk that was used before. The kernel marks
/// those of an overlay that it does not sync (MountOverlay), and refuses them to another overlay.
Status RenewWork(const Path& boot_disk);

/// Sets the overlay of the machine's root, and adds the mounts of the parts.
void AddLayers(const RootParts& parts, const Path& boot_disk, launcher::Machine& machine);
/// The layer in memory. `others`: mounts that come after those of the parts.
std::vector<launcher::MachineMount> PlacesOfLayers(
    const RootParts& parts, const std::vector<launcher::MachineMount>& others);

}  // namespace caip::host
