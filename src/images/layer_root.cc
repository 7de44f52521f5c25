#include "images/layer_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "images/errors.h"

namespace caip::images {
namespace {

constexpr int kLinksFollowedMax = 40;  // as the kernel
constexpr mode_t kImpliedDirectoryMode = 0755;
constexpr char kTrustedOpaque[] = "trusted.overlay.opaque";
constexpr char kUserOpaque[] = "user.overlay.opaque";

// The only way to a path of a layer with more than one part.
Fd OpenInLayer(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  while (true) {
    const long fd =
        ::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how);
    // The kernel asks for another try when files are renamed elsewhere at the same time.
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return Fd(static_cast<int>(fd));
  }
}

std::string LayerParent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string LayerLeaf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string WithoutEndSlashes(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

std::string LinkTargetAt(int directory, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return target;
}

}  // namespace

bool IsWhiteout(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

Result<std::string> LayerPathOf(std::string_view path) {
  std::string clean;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return errors::PathLeavesImage(path);
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean;
}

Result<int> LayerRoot::Directory(const std::string& path) {
  if (cached_.valid() && path == cached_path_) return cached_.get();
  ASSIGN_OR_RETURN(cached_, OpenOrMake(path, 0));
  cached_path_ = path;
  return cached_.get();
}

Result<LayerPlace> LayerRoot::PlaceOf(const std::string& path) {
  ASSIGN_OR_RETURN(const int parent, Directory(LayerParent(path)));
  return LayerPlace{parent, LayerLeaf(path)};
}

Result<Fd> LayerRoot::Find(const std::string& path) const {
  Fd found = OpenInLayer(root_.get(), path, O_RDONLY | O_DIRECTORY);
  if (!found.valid()) return errors::CannotUnpack(path, errno);
  return found;
}

// A path may have two thousand missing parts, and the targets of forty links as many each: only a
// link takes a level of the stack.
Result<Fd> LayerRoot::OpenOrMake(const std::string& path, int links) {
  std::vector<size_t> missing;  // the lengths of paths, the longest first
  std::string at = path;
  Fd opened = OpenInLayer(root_.get(), at, O_RDONLY | O_DIRECTORY);
  while (!opened.valid()) {
    if ((errno != ENOENT && errno != ENOTDIR) || links > kLinksFollowedMax || at.empty()) {
      return errors::CannotUnpack(at, links > kLinksFollowedMax ? ELOOP : errno);
    }
    missing.push_back(at.size());
    at = LayerParent(at);
    opened = OpenInLayer(root_.get(), at, O_RDONLY | O_DIRECTORY);
  }
  for (; !missing.empty(); missing.pop_back()) {
    ASSIGN_OR_RETURN(opened, MakeIn(opened, path.substr(0, missing.back()), links));
  }
  return opened;
}

// Makes the last part of the path, which is not a directory. A link to nowhere is followed, and its
// target is made. A whiteout becomes a directory that hides the one of lower layers.
Result<Fd> LayerRoot::MakeIn(const Fd& parent, const std::string& path, int links) {
  const std::string name = LayerLeaf(path);
  if (name == "." || name == "..") {  // of the target of a link
    Fd opened = OpenInLayer(root_.get(), path, O_RDONLY | O_DIRECTORY);
    if (opened.valid()) return opened;
    return errors::CannotUnpack(path, errno);
  }
  struct stat status {};
  const bool exists = ::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISLNK(status.st_mode)) {
    const std::string target = WithoutEndSlashes(LinkTargetAt(parent.get(), name));
    return OpenOrMake(target.starts_with('/') ? target : LayerParent(path) + "/" + target,
                      links + 1);
  }
  const bool is_whiteout = exists && IsWhiteout(status);
  if (is_whiteout && ::unlinkat(parent.get(), name.c_str(), 0) != 0) {
    return errors::CannotUnpack(path, errno);
  }
  const bool is_new = ::mkdirat(parent.get(), name.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) return errors::CannotUnpack(path, errno);
  made_ += is_new;
  Fd made(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.valid()) return errors::CannotUnpack(path, errno);
  if (is_new && ::fchmod(made.get(), kImpliedDirectoryMode) != 0) {
    return errors::CannotUnpack(path, errno);
  }
  if (is_whiteout) RETURN_IF_ERROR(MakeOpaque(made.get(), path));
  return made;
}

Status LayerRoot::Clear(const LayerPlace& place, const std::string& path) {
  if (::unlinkat(place.directory, place.name.c_str(), 0) == 0 || errno == ENOENT) return Ok{};
  const int parent = place.directory;
  if (!RemoveTreeAt(parent, place.name).ok()) return errors::CannotUnpack(path, errno);
  return Ok{};
}

// The first attribute is for an overlay that is mounted with rights over the host, the second for
// one without (option userxattr). One of them is enough here.
Status LayerRoot::MakeOpaque(int directory, const std::string& path) const {
  const bool trusted = ::fsetxattr(directory, kTrustedOpaque, "y", 1, 0) == 0;
  const bool user = ::fsetxattr(directory, kUserOpaque, "y", 1, 0) == 0;
  if (!trusted && !user) return errors::CannotUnpack(path, errno);
  return Ok{};
}

}  // namespace caip::images
