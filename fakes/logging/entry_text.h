#pragma once
// A log entry as a line of JSON, written fast: there are hundreds of thousands in a second.

#include <string>
#include <string_view>

#include "fakes/logging/log_book.h"

namespace caip::logging {

/// Writes entries. Keeps the text of the last second, which most entries share. One thread.
class EntryWriter {
 public:
  /// Appends {"time":"...","severity":"...","task":"...","message":"..."} and a newline to `text`,
  /// with the members that are not empty only; project, job and insert id are the chunk's.
  void Write(const Entry& entry, Instant time, std::string& text);

 private:
  void WriteTime(Instant time, std::string& text);

  std::chrono::sys_seconds second_ = std::chrono::sys_seconds::min();
  std::string second_text_;  // "2022-02-09T17:36:42"
};

/// Reads one such line; false when it is none.
bool ReadEntry(std::string_view line, Entry& entry);

}  // namespace caip::logging
