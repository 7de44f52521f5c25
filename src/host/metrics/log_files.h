#pragma once
// The log files of one replica: output*.log in one directory (docs/service/vertex.md, section 10).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/log_limit.h"
#include "host/process/line_splitter.h"

namespace caip::host {

/// True for the names of log files: "output.log", "output-1.log".
bool IsLogFileName(std::string_view name);

/// Reads the new lines of the log files in a directory, each line once and in bounded memory. A
/// file stays the same one when it is renamed, and is another one when it is replaced. A file whose
/// last known bytes have changed was overwritten, and is read from its start. Leaves out holes of a
/// file, and NUL bytes before a line. Ignores everything but regular files: the replica must not
/// make this process follow a link. One thread.
class LogFiles {
 public:
  /// What the last calls of Read have not read.
  struct Unread {
    uint64_t bytes = 0;  // that are left, as far as known
    size_t files = 0;    // that vanished although they were not open: their ends may be missing
  };

  /// Gets a line without its line break. It may be empty, and need not be valid UTF-8.
  using Take = std::function<void(std::string_view line)>;

  explicit LogFiles(Path directory) : directory_(std::move(directory)) {}

  const Path& directory() const { return directory_; }
  /// Passes on the lines that are complete, at most a few MiB. False: something is left to read,
  /// because there is more, or no descriptor was free. Then the caller calls it again later.
  bool Read(const Take& take);
  /// The writers have ended, and no Read follows: passes on last lines without line breaks, and
  /// says what is missing.
  Unread End(const Take& take);

 private:
  struct File {
    Fd fd;                // not valid: too many files are open
    uint64_t bytes = 0;   // that were read
    uint64_t blank = 0;   // more than `bytes`: no text was found up to here
    std::string tail;     // the last bytes before `bytes`
    Duration changed{0};  // the time of the last change that was read, if it is not open
    LineSplitter lines{kLogEntryBytesMax};
  };
  struct Name {
    Path path;
    ino_t inode = 0;
    uint64_t size = 0;
    Duration changed{0};
  };
  std::vector<Name> List();
  void ReadUnnamed(const std::vector<Name>& names, const Take& take);
  void ReadNamed(const Name& name, const Take& take);
  bool ReadOn(int fd, uint64_t size, File& file, const Take& take);
  static void Feed(uint64_t offset, std::string_view piece, File& file, const Take& take);

  Path directory_;
  std::map<ino_t, File> files_;
  uint64_t budget_ = 0;  // in bytes, of this call of Read
  bool is_all_ = true;   // nothing is left by this call of Read
  Unread unread_;
};

}  // namespace caip::host
