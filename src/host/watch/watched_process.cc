#include "host/watch/watched_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "host/errors.h"

namespace caip::host {
namespace {

// The value of a line "Name:\tvalue" of a file in /proc; nullopt if there is none.
std::optional<std::string> LineOf(const std::string& file, const std::string& name) {
  const auto text = ReadFile(file);
  if (!text.ok()) return std::nullopt;
  const size_t at = ("\n" + *text).find("\n" + name + ":");
  if (at == std::string::npos) return std::nullopt;
  const size_t value = text->find_first_not_of(" \t", at + name.size() + 1);
  return text->substr(value, text->find('\n', value) - value);
}

std::string LinkAt(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

// Calls `take` with each name in the directory that is a number.
void EachNumber(const std::string& directory, const std::function<void(int)>& take) {
  DIR* open = ::opendir(directory.c_str());
  if (!open) return;  // the process has ended
  while (const dirent* entry = ::readdir(open)) {
    if (entry->d_name[0] != '.') take(std::atoi(entry->d_name));
  }
  ::closedir(open);
}

}  // namespace

namespace {

// An absolute path with the same meaning for the whole replica: a process may have changed its
// root, and the kernel shows directories from the root of the namespace.
std::optional<std::string> WholePath(const WatchedCall& call, const NamedPath& path) {
  if (path.text.empty()) return std::nullopt;
  if (path.text.front() == '/') {
    const std::string root = LinkAt(call.Proc("root"));
    return root.size() > 1 ? root + path.text : path.text;
  }
  const std::string base = LinkAt(
      call.Proc(path.directory == AT_FDCWD ? "cwd" : "fd/" + std::to_string(path.directory)));
  if (!base.starts_with('/')) return std::nullopt;
  return base + "/" + path.text;
}

// Whether the file exists and is not a directory. A link to a directory is none.
bool IsNoDirectory(const ReplicaRoot& root, const std::string& path) {
  const auto status = root.StatLink(path);
  return status && !S_ISDIR(status->st_mode);
}

}  // namespace

namespace {

constexpr int kFollowedLinksMax = 40;  // as in the kernel

// The path of a name, without links in its directories. The name itself may be a link.
std::optional<std::string> ResolveName(const ReplicaRoot& root, std::string whole, PathEnd end) {
  const bool has_slash = whole.back() == '/';
  if (has_slash && end != PathEnd::kDirectoryName) return std::nullopt;
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  const size_t slash = whole.rfind('/');
  const std::string name = whole.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  const auto parent = root.Resolve(whole.substr(0, slash + 1));
  if (!parent) return std::nullopt;
  std::string found = (*parent == "/" ? "" : *parent) + "/" + name;
  if (has_slash && IsNoDirectory(root, found)) return std::nullopt;
  return found;
}

// The text of a symbolic link; nullopt if the path is something else.
std::optional<std::string> TextOfLink(const ReplicaRoot& root, const std::string& path) {
  const Fd link = root.Open(path, O_PATH | O_NOFOLLOW, 0);
  std::string text(PATH_MAX, '\0');
  const ssize_t size = link.valid() ? ::readlinkat(link.get(), "", text.data(), text.size()) : -1;
  if (size <= 0) return std::nullopt;
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

// A new file that is made through a link gets the name to which the link leads.
std::optional<std::string> ResolvePath(const WatchedCall& call, const ReplicaRoot& root,
                                       const NamedPath& path) {
  auto whole = WholePath(call, path);
  for (int links = 0; whole && links <= kFollowedLinksMax; ++links) {
    if (path.end != PathEnd::kFollowed) return ResolveName(root, *whole, path.end);
    if (auto real = root.Resolve(*whole)) return real;
    const auto name = ResolveName(root, *whole, path.end);
    const auto text = name ? TextOfLink(root, *name) : std::nullopt;
    if (!text) return name;
    const bool is_whole = text->front() == '/';
    whole = is_whole ? WholePath(call, {AT_FDCWD, *text})
                     : name->substr(0, name->rfind('/') + 1) + *text;
  }
  return std::nullopt;
}

std::optional<std::string> PathOfDescriptor(const WatchedCall& call, int descriptor) {
  std::string path = LinkAt(call.Proc("fd/" + std::to_string(descriptor)));
  if (!path.starts_with('/')) return std::nullopt;
  return path;
}

namespace {

Result<Fd> BorrowFrom(pid_t pid, int descriptor) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return errors::CannotOpenReplica(errno);
  Fd borrowed(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), descriptor, 0)));
  if (!borrowed.valid()) return errors::CannotBorrowDescriptor(errno);
  return borrowed;
}

}  // namespace

Result<Fd> BorrowDescriptor(const WatchedCall& call, int descriptor) {
  return BorrowFrom(ProcessOf(call), descriptor);
}

std::vector<Fd> TerminalMastersOf(pid_t process) {
  const std::string descriptors = "/proc/" + std::to_string(process) + "/fd";
  std::vector<Fd> masters;
  EachNumber(descriptors, [&](int descriptor) {
    if (!LinkAt(descriptors + "/" + std::to_string(descriptor)).ends_with("/ptmx")) return;
    if (auto master = BorrowFrom(process, descriptor); master.ok()) {
      masters.push_back(*std::move(master));
    }
  });
  return masters;
}

bool IsRunning(pid_t process) {
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  bool running = false;
  EachNumber(threads, [&](int thread) {
    const auto stat = ReadFile(threads + "/" + std::to_string(thread) + "/stat");
    const size_t name_end = stat.ok() ? stat->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || name_end + 2 >= stat->size()) return;  // it has ended
    const char state = (*stat)[name_end + 2];
    running = running || state == 'R' || state == 'D';  // D: waits for a disk
  });
  return running;
}

mode_t UmaskOf(const WatchedCall& call) {
  const auto line = LineOf(call.Proc("status"), "Umask");
  return line ? static_cast<mode_t>(std::strtol(line->c_str(), nullptr, 8)) : 022;
}

int64_t PositionOf(const WatchedCall& call, int descriptor) {
  const auto line = LineOf(call.Proc("fdinfo/" + std::to_string(descriptor)), "pos");
  return line ? std::strtoll(line->c_str(), nullptr, 10) : -1;
}

pid_t ProcessOf(const WatchedCall& call) {
  const auto line = LineOf(call.Proc("status"), "Tgid");
  return line ? static_cast<pid_t>(std::atoi(line->c_str())) : call.thread();
}

std::vector<pid_t> DescendantsOf(pid_t ancestor) {
  std::vector<pid_t> found;
  std::vector<pid_t> next = {ancestor};
  while (!next.empty()) {
    const std::string tasks = "/proc/" + std::to_string(next.back()) + "/task/";
    next.pop_back();
    EachNumber(tasks, [&](int thread) {
      const auto children = ReadFile(tasks + std::to_string(thread) + "/children");
      if (!children.ok()) return;
      char* end = nullptr;
      for (const char* at = children->c_str(); const long pid = std::strtol(at, &end, 10);
           at = end) {
        found.push_back(static_cast<pid_t>(pid));
        next.push_back(static_cast<pid_t>(pid));
      }
    });
  }
  return found;
}

std::optional<FileWriter> WriterAt(pid_t process, int descriptor, const FileId& file) {
  const std::string proc = "/proc/" + std::to_string(process);
  const std::string number = std::to_string(descriptor);
  if (IdentifyFile(proc + "/fd/" + number) != file) return std::nullopt;
  const auto line = LineOf(proc + "/fdinfo/" + number, "flags");
  const long flags = line ? std::strtol(line->c_str(), nullptr, 8) : O_RDONLY;
  if ((flags & O_ACCMODE) == O_RDONLY) return std::nullopt;
  return FileWriter{process, descriptor, (flags & O_CLOEXEC) != 0};
}

std::vector<FileWriter> WritersOf(pid_t process, const FileId& file) {
  std::vector<FileWriter> writers;
  EachNumber("/proc/" + std::to_string(process) + "/fd", [&](int descriptor) {
    if (const auto writer = WriterAt(process, descriptor, file)) writers.push_back(*writer);
  });
  return writers;
}

}  // namespace caip::host
