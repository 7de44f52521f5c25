#pragma once
// Turns the lines that a replica prints into entries with severity, message and place, by the
// capture rules of docs/service/replica-environment.md, section 6.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/severity.h"

namespace caip::host {

enum class OutputStream { kStdout, kStderr };

/// The content of one log entry. The views are valid only during the call.
struct CapturedEntry {
  run::Severity severity = run::Severity::kInfo;
  std::string_view message;
  std::string_view pathname;  // "": unknown
  int line_number = 0;        // 0: unknown
  std::string_view thread;    // "": unknown
  std::string_view time;      // as gRPC printed it, "0921 10:11:12.123456789"; "": unknown
};

/// Classifies the lines of one stream of one replica, in their order. A line of stdout that is not
/// empty is an INFO entry. A line of stderr is an ERROR entry, unless TensorFlow's C++ or gRPC has
/// printed a level before it. A traceback is one ERROR entry. A record of Python's logging
/// (python/sitecustomize.py) is one entry with its own level. Any thread, but one at a time. Does
/// not copy a plain line.
class LineClassifier {
 public:
  using Emit = std::function<void(const CapturedEntry&)>;  // make it once, not for each line

  explicit LineClassifier(OutputStream stream) : stream_(stream) {}

  /// Takes one line without its line break. The caller splits lines that are too long.
  void Feed(std::string_view line, const Emit& emit);
  /// Emits the held lines, because the stream is quiet (no byte for a tenth of a second, say).
  void Flush(const Emit& emit);
  /// Ends the stream. Plain lines after the last traceback count as the rest of its message (notes,
  /// messages of several lines), because that exception ended the process.
  void Finish(const Emit& emit);
  /// True while lines are held. The owner should call Flush later.
  bool holds() const { return state_ != State::kPlain; }
  /// True inside a traceback without its exception yet. Then the owner should wait.
  bool is_unfinished() const { return state_ == State::kFrames; }

  /// The traceback near the end of the stream, with a final newline; "" if there is none. A
  /// traceback that many entries follow was only logged, and the program continued.
  const std::string& last_traceback() const { return last_traceback_; }

 private:
  enum class State {
    kPlain,
    kFrames,       // inside a traceback, before its exception
    kGroup,        // inside the traceback of an exception group, which is indented throughout
    kSyntaxError,  // a `File` line without a heading: a traceback if SyntaxError follows
    kTail,         // after the exception: the rest of it, a chained one, or something else
  };

  // False if the line only looks like a record.
  bool FeedRecord(std::string_view line, size_t mark, const Emit& emit);
  void FeedUnmarked(std::string_view line, const Emit& emit);
  void FeedPlain(std::string_view line, const Emit& emit);
  // Each returns false, and emits the held lines, if the line is not a part of them.
  bool FeedHeld(std::string_view line, const Emit& emit);
  bool FeedFrames(std::string_view line, const Emit& emit);
  bool FeedSyntaxError(std::string_view line, const Emit& emit);
  bool FeedTail(std::string_view line, const Emit& emit);
  void EmitBetween(const CapturedEntry& entry, const Emit& emit);
  void EmitOne(const CapturedEntry& entry, const Emit& emit);
  void Remember(std::string_view traceback);
  void Open(std::string_view line, State state);
  void Append(std::string_view line);
  void AppendSurely(std::string_view line);
  void Close(size_t group_bytes, const Emit& emit);

  OutputStream stream_;
  State state_ = State::kPlain;
  std::string held_;             // the held lines, each with its newline
  size_t sure_bytes_ = 0;        // the part of held_ that is certainly traceback
  int doubtful_lines_ = 0;       // lines after that part that do not begin with a blank
  bool chain_is_open_ = false;   // "During handling of ..." was read, but no heading yet
  bool follows_notice_ = false;  // the line before said that an exception is ignored
  bool is_ignored_ = false;      // the held traceback is that of an ignored exception
  std::string last_traceback_;
  int entries_since_ = 0;  // entries after last_traceback_
};

}  // namespace caip::host
