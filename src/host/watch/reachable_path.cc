#include "host/watch/reachable_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <utility>

#include "base/files.h"

namespace caip::host {
namespace {

constexpr int kWalkedLinksMax = 40;  // as in the kernel

Fd OpenPlaceOf(const WatchedCall& call, const std::string& place) {
  return Fd(::open(call.Proc(place).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// The text of an open symbolic link; nullopt if the file is something else.
std::optional<std::string> LinkTextAt(const Fd& file) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(file.get(), "", text.data(), text.size());
  if (size <= 0) return std::nullopt;
  text.resize(static_cast<size_t>(size));
  return text;
}

/// Follows a path name by name, with the rights of the calling thread and from a process's root.
class PathWalk {
 public:
  explicit PathWalk(Fd root) : root_(std::move(root)) {}

  /// `at`: the directory where a relative path begins.
  bool Reaches(Fd at, std::string rest, bool follows_last) const {
    int links = 0;
    if (rest.starts_with('/')) at = Root();
    while (true) {
      const std::string name = TakeName(rest);
      if (name.empty()) return at.valid();
      const bool is_last = rest.find_first_not_of('/') == std::string::npos;
      if (name == ".." && IsRoot(at)) continue;
      Fd next(::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (!next.valid()) return is_last && errno == ENOENT;
      if (is_last && !follows_last) return true;
      const auto text = LinkTextAt(next);
      if (!text) {
        at = std::move(next);
        continue;
      }
      if (++links > kWalkedLinksMax) return false;
      if (text->starts_with('/')) at = Root();
      rest = *text + rest;
    }
  }

 private:
  // Removes the first name of the path, and the slashes before it.
  static std::string TakeName(std::string& rest) {
    rest.erase(0, rest.find_first_not_of('/'));
    const std::string name = rest.substr(0, rest.find('/'));
    rest.erase(0, name.size());
    return name;
  }

  Fd Root() const { return Fd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0)); }

  bool IsRoot(const Fd& directory) const {
    struct stat one {};
    struct stat other {};
    return ::fstat(directory.get(), &one) == 0 && ::fstat(root_.get(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }

  const Fd root_;
};

}  // namespace

bool MayReach(const WatchedCall& call, const std::optional<FileRights>& rights,
              const NamedPath& path) {
  if (!rights) return true;
  Fd root = OpenPlaceOf(call, "root");
  const bool at_cwd = path.directory == AT_FDCWD;
  Fd start = path.text.starts_with('/')
                 ? Fd()
                 : OpenPlaceOf(call, at_cwd ? "cwd" : "fd/" + std::to_string(path.directory));
  const TakenRights taken(rights);
  const PathWalk walk(std::move(root));
  return walk.Reaches(std::move(start), path.text, path.end == PathEnd::kFollowed);
}

}  // namespace caip::host
