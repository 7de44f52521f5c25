#include "host/images/image_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace caip::host {
namespace {

constexpr int kLinksFollowedMax = 40;  // as the kernel

// Whether the directory hides those of lower layers. An overlay reads the second attribute if it is
// mounted without rights over the host. The image store sets both, or the one that it may set.
bool HidesLowerOnes(int directory) {
  for (const char* name : {"trusted.overlay.opaque", "user.overlay.opaque"}) {
    char value = '\0';
    if (::fgetxattr(directory, name, &value, 1) == 1 && value == 'y') return true;
  }
  return false;
}

bool IsWhiteoutOfLayer(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

std::string TargetOfLink(int directory, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return target;
}

}  // namespace

/// Follows a path part by part.
class ImageFiles::Walk {
 public:
  Walk(const ImageFiles& files, std::string_view path) : files_(files), rest_(path) {
    Place root;
    for (size_t i = files.roots_.size(); i > 0; --i) root.layers.push_back(i - 1);
    passed_.push_back(std::move(root));
  }

  Entry Run() {
    if (rest_.size() >= PATH_MAX) return {Kind::kTooLong};
    while (!rest_.empty()) {
      const std::string part = TakePart();
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        if (passed_.size() > 1) passed_.pop_back();
        continue;
      }
      if (part.size() > NAME_MAX) return {Kind::kTooLong};
      Entry next = files_.LookUp(passed_.back(), part);
      if (next.link) {
        if (++links_ > kLinksFollowedMax) return {Kind::kTooManyLinks};
        Follow(*next.link);
      } else if (next.kind == Kind::kDirectory) {
        passed_.push_back(std::move(next.place));
      } else {
        const bool is_below = next.kind == Kind::kFile && !rest_.empty();
        return is_below ? Entry{Kind::kBelowFile} : next;
      }
    }
    return {Kind::kDirectory, std::move(passed_.back())};
  }

 private:
  std::string TakePart() {
    const size_t end = std::min(rest_.find('/'), rest_.size());
    std::string part = rest_.substr(0, end);
    rest_.erase(0, std::min(end + 1, rest_.size()));
    return part;
  }
  void Follow(const std::string& target) {
    if (target.starts_with('/')) passed_.resize(1);
    rest_ = rest_.empty() ? target : target + "/" + rest_;
  }

  const ImageFiles& files_;
  std::string rest_;
  std::vector<Place> passed_;  // the root, and the directories below it
  int links_ = 0;
};

ImageFiles::ImageFiles(const std::vector<Path>& layers) {
  for (const Path& layer : layers) {
    roots_.emplace_back(::open(layer.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
}

ImageFiles::Kind ImageFiles::KindOf(std::string_view path) const { return Find(path).kind; }

std::string ImageFiles::ReadHead(std::string_view path, size_t bytes_max) const {
  const Entry entry = Find(path);
  if (entry.kind != Kind::kFile) return "";
  // O_NONBLOCK: a pipe does not wait for a writer
  const Fd file = Open(entry.place.layers.front(), entry.place.path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  std::string text(std::min(static_cast<size_t>(status.st_size), bytes_max), '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// Without links, the path of the directory is the path itself.
std::optional<struct stat> ImageFiles::StatusOfDirectory(std::string_view path) const {
  const Entry entry = Find(path);
  if (entry.kind != Kind::kDirectory || entry.place.path != path.substr(1)) return std::nullopt;
  const Fd directory = Open(entry.place.layers.front(), entry.place.path, O_PATH | O_DIRECTORY);
  struct stat status {};
  if (::fstat(directory.get(), &status) != 0) return std::nullopt;
  return status;
}

ImageFiles::Entry ImageFiles::Find(std::string_view path) const { return Walk(*this, path).Run(); }

// A directory is that of all layers that have it, down to one that hides the lower ones. Any other
// file hides what lower layers have.
ImageFiles::Entry ImageFiles::LookUp(const Place& directory, const std::string& name) const {
  Entry found;
  found.place.path = directory.path.empty() ? name : directory.path + "/" + name;
  for (const size_t layer : directory.layers) {
    const Fd parent = Open(layer, directory.path, O_PATH | O_DIRECTORY);
    struct stat status {};
    if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool is_directory = S_ISDIR(status.st_mode);
    if (!is_directory && found.kind == Kind::kDirectory) return found;
    if (IsWhiteoutOfLayer(status)) return found;
    found.kind = is_directory ? Kind::kDirectory : Kind::kFile;
    found.place.layers.push_back(layer);
    if (S_ISLNK(status.st_mode)) found.link = TargetOfLink(parent.get(), name);
    if (!is_directory) return found;
    if (HidesLowerOnes(Open(layer, found.place.path, O_RDONLY | O_DIRECTORY).get())) return found;
  }
  return found;
}

// The path has no links, and the kernel follows none.
Fd ImageFiles::Open(size_t layer, const std::string& path, int flags) const {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const char* place = path.empty() ? "." : path.c_str();
  return Fd(static_cast<int>(::syscall(SYS_openat2, roots_[layer].get(), place, &how, sizeof how)));
}

}  // namespace caip::host
