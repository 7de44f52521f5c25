#pragma once
// A log entry as a line of JSON. Written for speed: jobs print hundreds of thousands of lines a
// second.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "fakes/logging/book/entry.h"

namespace caip::logging {

/// Writes entries. Remembers the members of the previous entry, so that a line repeats none of
/// them, and the text of the last second, which most entries share. One thread.
class EntryWriter {
 public:
  /// Starts a chunk: the next line omits nothing.
  void Begin() { previous_.reset(); }

  /// Appends {"time":"...","severity":"...","task":"...","trial":"...","message":"..."} and a
  /// newline to `text`. The first four are omitted if they equal those of the line before; the
  /// others are omitted if they are empty. The chunk has the project, the job and the insert id.
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

/// Reads only the members that lines share: severity, task and trial into `common`, which holds
/// those of the line before, and the time's text into `time`. False: only ReadEntry can read this
/// line.
bool ReadCommon(std::string_view line, Entry& common, std::string_view& time);

/// Reads a line; `previous` is the entry of the line before, nullptr for the first. False if the
/// line is not an entry.
bool ReadEntry(std::string_view line, const Entry* previous, Entry& entry);

}  // namespace caip::logging
