#include "host/launcher/paths_inside.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

namespace caip::host::launcher {
namespace {

constexpr int kOpenTriesMax = 100;  // while other programs replace files

}  // namespace

// The kernel asks for another try when anything on the host was renamed while it followed a "..".
int OpenInside(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  int opened = -1;
  for (int tries = 0; tries < kOpenTriesMax && opened < 0; ++tries) {
    opened = static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
    if (opened < 0 && errno != EAGAIN) break;
  }
  return opened;
}

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

const char* NameIn(const char* path) { return std::strrchr(path, '/') + 1; }

namespace {

// The path that the symbolic link `path` of `directory` leads to; "" with errno if there is none.
std::string TargetOf(int directory, std::string_view path) {
  const std::string name(path.substr(path.rfind('/') + 1));
  char link[PATH_MAX];
  const ssize_t length = ::readlinkat(directory, name.c_str(), link, sizeof link);
  if (length <= 0) return "";
  const std::string target(link, static_cast<size_t>(length));
  return target.front() == '/' ? target : std::string(ParentOf(path)) + "/" + target;
}

// Makes the last part of a path in the directory, and opens it. A link whose target does not exist
// stays, and the target is made.
int MakePart(int root, int directory, const std::string& path, int links) {
  if (::mkdirat(directory, path.substr(path.rfind('/') + 1).c_str(), kDirectoryMode) == 0) {
    return OpenInside(root, path.c_str(), O_PATH | O_DIRECTORY);
  }
  const std::string target = errno == EEXIST ? TargetOf(directory, path) : "";
  if (target.empty()) return -1;
  if (links > 0) return OpenDirectory(root, target, links - 1);
  errno = ELOOP;
  return -1;
}

}  // namespace

int OpenDirectory(int root, std::string_view path, int links) {
  int directory = OpenInside(root, std::string(path).c_str(), O_PATH | O_DIRECTORY);
  if (directory >= 0 || errno != ENOENT) return directory;
  directory = OpenInside(root, "/", O_PATH | O_DIRECTORY);
  std::string walked;
  while (!path.empty() && directory >= 0) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty()) continue;
    walked += "/" + name;
    int next = OpenInside(root, walked.c_str(), O_PATH | O_DIRECTORY);
    if (next < 0 && errno == ENOENT) next = MakePart(root, directory, walked, links);
    const int error = errno;
    ::close(directory);
    errno = error;
    directory = next;
  }
  return directory;
}

int OpenFile(int root, const std::string& path, int links) {
  const int file = OpenInside(root, path.c_str(), O_PATH);
  if (file >= 0 || errno != ENOENT) return file;
  const int directory = OpenDirectory(root, ParentOf(path));
  if (directory < 0) return -1;
  const char* name = NameIn(path.c_str());
  const int made = ::openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  const int error = errno;
  const std::string target = made < 0 ? TargetOf(directory, path) : "";
  ::close(directory);
  if (made >= 0) {
    ::close(made);
    return OpenInside(root, path.c_str(), O_PATH);
  }
  if (!target.empty() && links > 0) return OpenFile(root, target, links - 1);
  errno = target.empty() ? error : ELOOP;
  return -1;
}

}  // namespace caip::host::launcher
