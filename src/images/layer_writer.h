#pragma once
// Writes the entries of a layer's archive below one directory, as overlayfs wants a lower layer.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "images/layer_root.h"
#include "images/tar_reader.h"

namespace caip::images {

/// What a layer may have. The defaults are far above real images.
struct UnpackLimits {
  /// The bytes of the archive when it is decompressed, and those of its files with their holes.
  uint64_t bytes = uint64_t{64} << 30;
  /// Of its entries and of the directories that no entry makes.
  uint64_t entries = 4'000'000;
  /// The bytes of the names of its directories, which are kept in memory.
  uint64_t directory_names = 256 << 20;
};

/// Applies the entries of one archive, in order. One thread.
///
/// - A whiteout (".wh.NAME") becomes the character device 0/0, ".wh..wh..opq" the attribute by
///   which overlayfs hides a directory of lower layers. Both concern lower layers only.
/// - Devices are left out: a machine has its own /dev.
/// - Set-user-ID and set-group-ID bits of files are left out, as are file capabilities: the files
///   lie in a directory of the host, where such a program would give the owner's rights to others.
/// - Owners are kept if the process may change them. Without rights, all files belong to the user,
///   who can read all of them.
/// - Of the extended attributes, only "user." ones are kept, and none of overlayfs.
class LayerWriter {
 public:
  LayerWriter(LayerRoot& root, const UnpackLimits& limits);

  /// `data` has the bytes of the entry. kDataLoss, with the reason "layerInvalid", for an entry
  /// that leads out of the layer or makes no sense; kResourceExhausted, with the reason
  /// "imageTooLarge", beyond the limits.
  Status Add(const TarEntry& entry, TarReader& data);
  /// Completes the layer after the last entry.
  Status Finish();
  /// What was left out, in sentences.
  std::vector<std::string> Remarks() const;

 private:
  struct LeftOut {
    uint64_t count = 0;
    std::string first;  // the path of the first entry
  };
  struct Times {
    int64_t seconds = 0;
    long nanoseconds = 0;
  };

  Status CountEntry(const TarEntry& entry);
  Status AddNamed(const TarEntry& entry, const std::string& path, TarReader& data);
  Status AddDirectory(const TarEntry& entry, const std::string& path);
  Result<int> MakeDirectory(const std::string& path);
  Status KeepTimes(const TarEntry& entry, const std::string& path);
  Status AddFile(const TarEntry& entry, const std::string& path, TarReader& data);
  Status WriteData(int file, const TarEntry& entry, const std::string& path, TarReader& data);
  Status AddSymbolicLink(const TarEntry& entry, const std::string& path);
  Status AddHardLink(const TarEntry& entry, const std::string& path);
  Status AddPipe(const TarEntry& entry, const std::string& path);
  Status AddWhiteout(const std::string& path);
  Status HideInLower(const std::string& directory);

  Result<LayerPlace> EmptyPlace(const std::string& path);
  Status SetOwner(int directory, const std::string& name, const TarEntry& entry);
  void SetAttributes(int file, const TarEntry& entry);
  unsigned ModeOf(const TarEntry& entry, bool is_directory);
  void LeaveOut(const char* what, const TarEntry& entry);

  LayerRoot& root_;
  const UnpackLimits limits_;
  const bool has_rights_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  uint64_t directories_ = 0;                      // made for entries of their own
  uint64_t directory_names_ = 0;                  // the bytes of the keys below
  std::map<std::string, Times> directory_times_;  // set at the end: new files change them
  std::map<std::string, LeftOut> left_out_;
};

}  // namespace caip::images
