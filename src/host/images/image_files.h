#pragma once
// The files of an image that no machine has mounted: those of all its layers, as an overlay shows
// them. No path leads out of the image, whatever links it has.

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace caip::host {

class ImageFiles {
 public:
  enum class Kind {
    kMissing,
    kFile,  // any that is not a directory
    kDirectory,
    kBelowFile,  // a part of the path before the last one is a file
    kTooManyLinks,
    kTooLong,  // the path, or a name in it
  };

  /// `layers` are the unpacked layers, lowest first.
  explicit ImageFiles(const std::vector<Path>& layers);

  /// What the path is after all symbolic links. The root of the image is the root of an absolute
  /// link, and ".." ends there. A link whose target is missing is missing.
  Kind KindOf(std::string_view path) const;
  /// The head of a regular file, at most `bytes_max` bytes; "" if the path is anything else.
  std::string ReadHead(std::string_view path, size_t bytes_max) const;
  /// The attributes of a directory. nullopt: the path is anything else, or has symbolic links.
  /// `path` is absolute and normal.
  std::optional<struct stat> StatusOfDirectory(std::string_view path) const;

 private:
  /// A directory of the image, or a file. Its path has no links, so that it is the same in each
  /// layer.
  struct Place {
    std::string path;
    std::vector<size_t> layers;  // that have it, the highest first
  };
  struct Entry {
    Kind kind = Kind::kMissing;
    Place place = {};
    std::optional<std::string> link = {};  // the target of a symbolic link
  };
  class Walk;

  Entry Find(std::string_view path) const;
  Entry LookUp(const Place& directory, const std::string& name) const;
  Fd Open(size_t layer, const std::string& path, int flags) const;

  std::vector<Fd> roots_;
};

}  // namespace caip::host
