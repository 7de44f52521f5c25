#include "host/metrics/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace caip::host {
namespace {

constexpr uint64_t kLogTurnBytesMax = uint64_t{4} << 20;
constexpr size_t kLogPieceBytes = size_t{256} << 10;
// A file that is open keeps its contents when it is deleted or replaced.
constexpr size_t kOpenLogFilesMax = 64;

bool IsOutOfDescriptors(int error) { return error == EMFILE || error == ENFILE; }

std::string ReadLogPiece(int fd, uint64_t offset, uint64_t size) {
  std::string bytes(static_cast<size_t>(std::min<uint64_t>(size, kLogPieceBytes)), '\0');
  ssize_t got = 0;
  do {
    got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

}  // namespace

bool IsLogFileName(std::string_view name) {
  return name.starts_with("output") && name.ends_with(".log");
}

// What has lost its name comes first: it is older than what has the name now.
bool LogFiles::Read(const Take& take) {
  budget_ = kLogTurnBytesMax;
  is_all_ = true;
  const std::vector<Name> names = List();
  if (is_all_) ReadUnnamed(names, take);
  for (const Name& name : names) ReadNamed(name, take);
  return is_all_;
}

void LogFiles::End(const Take& take) {
  for (auto& [inode, file] : files_) file.lines.Finish(take);
}

std::vector<LogFiles::Name> LogFiles::List() {
  std::vector<Name> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsLogFileName(entry->path().filename().string())) continue;
    struct stat facts {};
    if (::lstat(entry->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    names.push_back({entry->path(), facts.st_ino, static_cast<uint64_t>(facts.st_size)});
  }
  if (IsOutOfDescriptors(error.value())) is_all_ = false;
  std::sort(names.begin(), names.end(),
            [](const Name& left, const Name& right) { return left.path < right.path; });
  return names;
}

// Reads the rest of files that were renamed, replaced or deleted.
void LogFiles::ReadUnnamed(const std::vector<Name>& names, const Take& take) {
  std::set<ino_t> named;
  for (const Name& name : names) named.insert(name.inode);
  for (auto at = files_.begin(); at != files_.end();) {
    if (named.contains(at->first)) {
      ++at;
      continue;
    }
    File& file = at->second;
    struct stat facts {};
    const bool is_open = file.fd.valid() && ::fstat(file.fd.get(), &facts) == 0;
    if (is_open) ReadOn(file.fd.get(), static_cast<uint64_t>(facts.st_size), file, take);
    const bool is_unread = is_open && file.bytes < static_cast<uint64_t>(facts.st_size);
    if ((is_open && facts.st_nlink > 0) || is_unread) {  // it may get its name back, or more lines
      ++at;
      continue;
    }
    file.lines.Finish(take);
    at = files_.erase(at);
  }
}

void LogFiles::ReadNamed(const Name& name, const Take& take) {
  const auto known = files_.find(name.inode);
  if (known != files_.end() && known->second.bytes == name.size) return;
  Fd opened;
  int fd = known == files_.end() ? -1 : known->second.fd.get();
  if (fd < 0) {
    opened = Fd(::open(name.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened.valid() && IsOutOfDescriptors(errno)) is_all_ = false;
    fd = opened.get();
  }
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  File& file = files_[facts.st_ino];  // the name may have gone to another file since
  ReadOn(fd, static_cast<uint64_t>(facts.st_size), file, take);
  const bool stays_open = opened.valid() && files_.size() <= kOpenLogFilesMax;
  if (stays_open && !file.fd.valid()) file.fd = std::move(opened);
}

void LogFiles::ReadOn(int fd, uint64_t size, File& file, const Take& take) {
  if (size < file.bytes) {  // it was emptied, and begins again
    file.lines.Finish(take);
    file.bytes = 0;
  }
  while (file.bytes < size && budget_ > 0) {
    const std::string piece = ReadLogPiece(fd, file.bytes, std::min(size - file.bytes, budget_));
    if (piece.empty()) return;
    file.bytes += piece.size();
    budget_ -= piece.size();
    file.lines.Feed(piece, take);
  }
  if (file.bytes < size) is_all_ = false;
}

}  // namespace caip::host
