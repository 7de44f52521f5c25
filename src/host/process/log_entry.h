#pragma once
// A line that a replica prints -> severity, message and place, by the capture rules of
// docs/service/replica-environment.md, section 6.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/severity.h"

namespace caip::host {

enum class OutputStream { kStdout, kStderr };

/// What becomes one log entry. The views are good only during the call that hands it over.
struct CapturedEntry {
  run::Severity severity = run::Severity::kInfo;
  std::string_view message;
  std::string_view pathname;  // "" unknown
  int line_number = 0;        // 0 unknown
  std::string_view thread;    // "" unknown
  std::string_view time;      // as gRPC printed it, "0921 10:11:12.123456789"; "" unknown
};

/// The lines of one stream of one replica, in their order. stdout: every line that is not empty is
/// an INFO. stderr: ERROR, unless TensorFlow's C++ or gRPC has put a level before it; a traceback
/// is one ERROR entry, a record of Python's logging (python/sitecustomize.py) one with its own
/// level. Any thread, but one at a time. Copies nothing of a plain line.
class LineClassifier {
 public:
  using Emit = std::function<void(const CapturedEntry&)>;  // make it once, not for each line

  explicit LineClassifier(OutputStream stream) : stream_(stream) {}

  /// One line without its end. Whoever splits the stream also splits lines that are too long.
  void Feed(std::string_view line, const Emit& emit);
  /// The stream is quiet (no byte for a tenth of a second, say): hands over what is held back.
  void Flush(const Emit& emit);
  /// The stream has ended. Plain lines behind a last traceback are then taken for the rest of its
  /// message (notes, messages of several lines): the process died of it.
  void Finish(const Emit& emit);
  /// True while lines are held back: the owner should call Flush some time.
  bool holds() const { return state_ != State::kPlain; }
  /// True inside a traceback whose exception has not come: it is worth waiting for.
  bool is_unfinished() const { return state_ == State::kFrames; }

  /// The traceback among the last words of the stream, with a newline at its end; "" if there is
  /// none. One that many entries follow was only logged: the program went on.
  const std::string& last_traceback() const { return last_traceback_; }

 private:
  enum class State {
    kPlain,
    kFrames,       // inside a traceback, before its exception
    kGroup,        // inside the traceback of an exception group, which is indented throughout
    kSyntaxError,  // a `File` line without a heading: a traceback if SyntaxError follows
    kTail,         // behind the exception: the rest of it, a chained one, or something else
  };

  // False where the line only looks like a record.
  bool FeedRecord(std::string_view line, size_t mark, const Emit& emit);
  void FeedUnmarked(std::string_view line, const Emit& emit);
  void FeedPlain(std::string_view line, const Emit& emit);
  // Each returns false where the line is no part of what is held, which then has been handed over.
  bool FeedHeld(std::string_view line, const Emit& emit);
  bool FeedFrames(std::string_view line, const Emit& emit);
  bool FeedSyntaxError(std::string_view line, const Emit& emit);
  bool FeedTail(std::string_view line, const Emit& emit);
  void EmitBetween(const CapturedEntry& entry, const Emit& emit);
  void EmitOne(const CapturedEntry& entry, const Emit& emit);
  void Open(std::string_view line, State state);
  void Append(std::string_view line);
  void AppendSurely(std::string_view line);
  void Close(size_t group_bytes, const Emit& emit);

  OutputStream stream_;
  State state_ = State::kPlain;
  std::string held_;            // the lines held back, each with its newline
  size_t sure_bytes_ = 0;       // how much of held_ is surely traceback
  int doubtful_lines_ = 0;      // lines behind that which begin without a blank
  bool chain_is_open_ = false;  // "During handling of ..." was read, but no heading yet
  std::string last_traceback_;
  int entries_since_ = 0;  // entries behind last_traceback_
};

}  // namespace caip::host
