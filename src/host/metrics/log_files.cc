#include "host/metrics/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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
// Enough to hold the time of day of a last line, which no other run of a program repeats.
constexpr size_t kLogTailBytes = 256;

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

struct LogExtent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The next bytes of a file, from `from` on, that are not a hole. Empty: there are none.
LogExtent NextLogExtent(int fd, uint64_t from, uint64_t size) {
  const off_t begin = ::lseek(fd, static_cast<off_t>(from), SEEK_DATA);
  if (begin < 0 && errno == ENXIO) return {size, size};
  if (begin < 0) return {from, size};  // this file system knows no holes
  const off_t end = ::lseek(fd, begin, SEEK_HOLE);
  const uint64_t data_end = end < 0 ? size : std::min(static_cast<uint64_t>(end), size);
  return {std::min(static_cast<uint64_t>(begin), size), data_end};
}

Duration ChangeTime(const struct stat& facts) {
  return std::chrono::seconds(facts.st_ctim.tv_sec) +
         std::chrono::nanoseconds(facts.st_ctim.tv_nsec);
}

// NUL bytes before a line are the rest of a hole.
LogFiles::Take WithoutBlanks(const LogFiles::Take& take) {
  return [&take](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
    take(line);
  };
}

}  // namespace

bool IsLogFileName(std::string_view name) {
  return name.starts_with("output") && name.ends_with(".log");
}

// What has lost its name comes first: it is older than what has the name now.
bool LogFiles::Read(const Take& take) {
  budget_ = kLogTurnBytesMax;
  is_all_ = true;
  unread_.bytes = 0;
  const Take take_text = WithoutBlanks(take);
  const std::vector<Name> names = List();
  if (is_all_) ReadUnnamed(names, take_text);
  for (const Name& name : names) ReadNamed(name, take_text);
  return is_all_;
}

LogFiles::Unread LogFiles::End(const Take& take) {
  const Take take_text = WithoutBlanks(take);
  for (auto& [inode, file] : files_) file.lines.Finish(take_text);
  return std::exchange(unread_, {});
}

std::vector<LogFiles::Name> LogFiles::List() {
  std::vector<Name> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsLogFileName(entry->path().filename().string())) continue;
    struct stat facts {};
    if (::lstat(entry->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    names.push_back(
        {entry->path(), facts.st_ino, static_cast<uint64_t>(facts.st_size), ChangeTime(facts)});
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
    if (!is_open) ++unread_.files;
    const bool is_read =
        !is_open || ReadOn(file.fd.get(), static_cast<uint64_t>(facts.st_size), file, take);
    if ((is_open && facts.st_nlink > 0) || !is_read) {  // it may get its name back, or more lines
      ++at;
      continue;
    }
    file.lines.Finish(take);
    at = files_.erase(at);
  }
}

void LogFiles::ReadNamed(const Name& name, const Take& take) {
  const auto known = files_.find(name.inode);
  const bool is_closed = known != files_.end() && !known->second.fd.valid();
  if (is_closed && known->second.bytes == name.size && known->second.changed == name.changed) {
    return;
  }
  Fd opened;
  int fd = known == files_.end() ? -1 : known->second.fd.get();
  if (fd < 0) {
    opened = Fd(::open(name.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened.valid() && IsOutOfDescriptors(errno)) {
      is_all_ = false;
      const uint64_t bytes = known == files_.end() ? 0 : known->second.bytes;
      unread_.bytes += name.size - std::min(bytes, name.size);
    }
    fd = opened.get();
  }
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  File& file = files_[facts.st_ino];  // the name may have gone to another file since
  file.changed = ChangeTime(facts);
  ReadOn(fd, static_cast<uint64_t>(facts.st_size), file, take);
  const bool stays_open = opened.valid() && files_.size() <= kOpenLogFilesMax;
  if (stays_open && !file.fd.valid()) file.fd = std::move(opened);
}

// True: nothing is left to read now. Blanks at the end of the file are left for later: a program
// may reserve the room of a file before it writes.
bool LogFiles::ReadOn(int fd, uint64_t size, File& file, const Take& take) {
  const bool is_same = size >= file.bytes && ReadLogPiece(fd, file.bytes - file.tail.size(),
                                                          file.tail.size()) == file.tail;
  if (!is_same) {  // it was emptied or overwritten, and begins again
    file.lines.Finish(take);
    file.bytes = file.blank = 0;
    file.tail.clear();
  }
  uint64_t at = std::max(file.bytes, std::exchange(file.blank, 0));
  while (at < size && budget_ > 0) {
    const LogExtent next = NextLogExtent(fd, at, size);
    const std::string piece =
        ReadLogPiece(fd, next.begin, std::min(next.end - next.begin, budget_));
    if (piece.empty()) return true;
    budget_ -= piece.size();
    at = next.begin + piece.size();
    Feed(next.begin, piece, file, take);
  }
  if (at >= size) return true;
  if (at > file.bytes) file.blank = at;
  unread_.bytes += size - at;
  return is_all_ = false;
}

// Takes the bytes at `offset` of a file but for blanks at their end.
void LogFiles::Feed(uint64_t offset, std::string_view piece, File& file, const Take& take) {
  const size_t last = piece.find_last_not_of('\0');
  if (last == piece.npos) return;
  piece = piece.substr(0, last + 1);
  if (offset != file.bytes) file.tail.clear();
  file.tail.append(piece);
  if (file.tail.size() > kLogTailBytes) file.tail.erase(0, file.tail.size() - kLogTailBytes);
  file.bytes = offset + piece.size();
  file.lines.Feed(piece, take);
}

}  // namespace caip::host
