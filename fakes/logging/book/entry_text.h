#pragma once
// A log entry as a line of JSON, written fast: there are hundreds of thousands in a second.

#include <string>
#include <string_view>

#include "fakes/logging/book/log_book.h"

namespace caip::logging {

/// Writes entries. Keeps what an entry has in common with the one before, and the text of the last
/// second, which most entries share. One thread.
class EntryWriter {
 public:
  /// The next entry has none before it.
  void Begin() { previous_.reset(); }

  /// Appends {"time":"...","severity":"...","task":"...","trial":"...","message":"..."} and a
  /// newline to `text`. Of the first four, those that are as in the line before are left out; the
  /// others are there when they are not empty. Project, job and insert id are the chunk's.
  void Write(const Entry& entry, Instant time, std::string& text);

 private:
  struct Common {
    Instant time;
    std::string severity;
    std::string task;
    std::string trial;
  };

  void WriteTime(Instant time, std::string& text);

  std::optional<Common> previous_;
  std::chrono::sys_seconds second_ = std::chrono::sys_seconds::min();
  std::string second_text_;  // "2022-02-09T17:36:42"
};

/// Reads of such a line only what it may have in common with others, and fast: severity, task and
/// trial into `common`, which has those of the line before, the time's text into `time`. False: it
/// takes ReadEntry to read this line.
bool ReadCommon(std::string_view line, Entry& common, std::string_view& time);

/// Reads one such line; `previous` is the entry of the line before, nullptr for the first. False
/// when the line is none.
bool ReadEntry(std::string_view line, const Entry* previous, Entry& entry);

}  // namespace caip::logging
