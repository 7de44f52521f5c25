#pragma once
// The files of a layer below one directory. No path leads out of it, whatever links the layer has:
// the directory is the root of every path ("/etc" in a link is <directory>/etc), and ".." stops
// there. The kernel resolves the paths (openat2 with RESOLVE_IN_ROOT).

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace caip::images {

/// Where an entry belongs: an open directory, and a name in it that has no '/'.
struct LayerPlace {
  int directory = -1;
  std::string name;  // "" for the directory itself: the root
};

/// The path of an entry without "." and empty parts: "/a/./b/" is "a/b", "./" is "". kDataLoss,
/// with the reason "layerInvalid", if it has "..": no tool makes such a layer.
Result<std::string> LayerPathOf(std::string_view path);

/// The directory of one layer. One thread.
class LayerRoot {
 public:
  explicit LayerRoot(Fd root) : root_(std::move(root)) {}

  /// Opens the directory for reading; makes it and its parents where they are missing. Links on the
  /// way are followed inside of the layer, also to directories that are missing. The descriptor is
  /// valid until the next call of any function.
  Result<int> Directory(const std::string& path);
  /// The place of an entry. Its parents are made.
  Result<LayerPlace> PlaceOf(const std::string& path);
  /// Opens a directory as Directory does, but makes nothing.
  Result<Fd> Find(const std::string& path) const;

  /// Removes whatever is at the place. A missing file is not an error.
  Status Clear(const LayerPlace& place, const std::string& path);
  /// Lets the directory hide the one of the same name in lower layers.
  Status MakeOpaque(int directory, const std::string& path) const;
  int root() const { return root_.get(); }
  /// The number of directories that were made.
  uint64_t made() const { return made_; }

 private:
  Result<Fd> OpenOrMake(const std::string& path, int links);
  Result<Fd> MakeIn(const Fd& parent, const std::string& path, int links);

  Fd root_;
  uint64_t made_ = 0;
  Fd cached_;
  std::string cached_path_;
};

/// The character device 0/0 by which overlayfs hides a file of lower layers.
bool IsWhiteout(const struct stat& status);

}  // namespace caip::images
