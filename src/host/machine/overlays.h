#pragma once
// Overlays whose upper layers are on a boot disk (machine_files.h).

#include <string>

#include "base/files.h"

namespace caip::host {

inline constexpr char kChanges[] = "changes";  // an upper layer
inline constexpr char kWork[] = "work";        // belongs to the overlay

/// The name of a layer: "/var/lib" is "var%2Flib".
std::string LayerName(const std::string& directory);

/// Makes the directory of an upper layer hide that of the lower one.
Status MakeOpaque(const Path& directory);

/// Whether this process may set the attributes of overlays that only root of the host may set.
bool HasRights(const Path& boot_disk);
/// Whether HasRights was true for this disk before, and is for this process. A disk that is full
/// or read-only by now does not matter.
bool HadRights(const Path& boot_disk);

/// The options of a mount.
std::string OverlayOptions(const std::string& lower, const Path& upper, const Path& work);
/// The same with a layer in memory over the lower one. All layers look like one file system.
std::string OverlayOptions(const Path& middle, const std::string& lower, const Path& upper,
                           const Path& work);
/// The same without an upper layer. Files have locks and sockets of their own in an overlay.
std::string ReadOnlyOverlayOptions(const std::string& lower);

}  // namespace caip::host
