#pragma once
// The places of a state directory that a backup saves (docs/state.md, section "What it contains").
// A restoration accepts no others: a planted environment or package would run as this user.

#include <string_view>

namespace caip::app {

/// Directories whose files only appear, get other names, grow at their ends and go. The last one
/// has the objects.
inline constexpr const char* kLinkedFolders[] = {"uploads", "xml-uploads", "buckets"};
inline constexpr const char* kImageBlobs = "images/blobs";

/// Small files and directories, which a person may edit in place.
inline constexpr const char* kCopiedPlaces[] = {
    "policies", "keys", "client-token", "storage-keys", "ca", "config.yaml", "version.json"};
inline constexpr const char* kImageMap = "images/map.json";

/// Whether a backup may have a file or directory of this relative path.
bool IsSavedPlace(std::string_view path);

}  // namespace caip::app
