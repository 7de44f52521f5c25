#include "host/process/log_entry.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/log_limit.h"
#include "base/text.h"
#include "run/severity.h"
#include "run/traceback.h"

namespace caip::host {
namespace {

// The start of a record of Python's `logging` in a line of stderr. JSON follows, up to the end of
// the line. The writer is src/host/python/sitecustomize.py. The first character, the ASCII record
// separator, does not occur in typed text or in the output of programs.
constexpr std::string_view kPythonRecordMark =
    "\x1e"
    "caip-log:";

struct PythonRecord {
  run::Severity severity = run::Severity::kDefault;
  std::string message;
  std::string pathname;
  int line_number = 0;
  std::string thread;  // "": the main thread
};

std::optional<run::Severity> SeverityNamed(std::string_view name) {
  for (run::Severity severity :
       {run::Severity::kDebug, run::Severity::kInfo, run::Severity::kWarning, run::Severity::kError,
        run::Severity::kCritical}) {
    if (Name(severity) == name) return severity;
  }
  return std::nullopt;
}

// Reads the JSON after the mark. nullopt: it is not a record.
std::optional<PythonRecord> ParsePythonRecord(std::string_view json) {
  const Result<Json> parsed = ParseJson(json);
  if (!parsed.ok()) return std::nullopt;
  const auto severity = SeverityNamed(StringOr(*parsed, "severity"));
  const Json* message = Member(*parsed, "message");
  if (!severity || !message || !message->is_string()) return std::nullopt;
  PythonRecord record;
  record.severity = *severity;
  record.message = message->get<std::string>();
  record.pathname = StringOr(*parsed, "pathname");
  const long long line_number = IntOr(*parsed, "lineno", 0);
  if (line_number > 0 && line_number <= 0x7fffffff) {
    record.line_number = static_cast<int>(line_number);
  }
  record.thread = StringOr(*parsed, "thread");
  return record;
}

// A longer traceback becomes several entries.
constexpr size_t kHeldBytesMax = kLogEntryBytesMax;
// More lines than this after an exception are further output, not a part of its message.
constexpr int kDoubtfulLinesMax = 16;
constexpr size_t kSyntaxErrorBytesMax = 4096;
// A traceback that is followed by more entries than this did not end the program.
constexpr int kEntriesAfterTracebackMax = 64;

bool StartsBlank(std::string_view line) {
  return !line.empty() && (line.front() == ' ' || line.front() == '\t');
}

std::optional<run::Severity> LevelOf(char letter) {
  switch (letter) {
    case 'D':
      return run::Severity::kDebug;
    case 'I':
      return run::Severity::kInfo;
    case 'W':
      return run::Severity::kWarning;
    case 'E':
      return run::Severity::kError;
    case 'F':
      return run::Severity::kCritical;
    default:
      return std::nullopt;
  }
}

// Removes a text from the front of `rest` if it has the form `form`, in which 9 stands for a digit
// and any other character for itself.
bool Take(std::string_view form, std::string_view& rest) {
  if (rest.size() < form.size()) return false;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '9' ? !IsDigit(rest[i]) : rest[i] != form[i]) return false;
  }
  rest.remove_prefix(form.size());
  return true;
}

std::string_view TakeDigits(std::string_view& rest) {
  size_t count = 0;
  while (count < rest.size() && IsDigit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

// Reads "path:line] text", which both forms have.
bool TakePlace(std::string_view rest, CapturedEntry& entry) {
  size_t end = 0;
  while (end < rest.size() && rest[end] != ' ' && rest[end] != ']') ++end;
  if (end == rest.size() || rest[end] != ']') return false;
  const std::string_view place = rest.substr(0, end);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const char* last = place.data() + place.size();
  int line_number = 0;
  const auto [stop, code] = std::from_chars(place.data() + colon + 1, last, line_number);
  if (code != std::errc() || stop != last || line_number < 0) return false;
  entry.pathname = place.substr(0, colon);
  entry.line_number = line_number;
  entry.message = rest.substr(end + 1);
  if (entry.message.starts_with(' ')) entry.message.remove_prefix(1);
  return true;
}

// "[2020-02-09 17:36:42.123456: ]I path:line] text". Drops the time, as the service does.
bool ParseTensorFlow(std::string_view line, CapturedEntry& entry) {
  std::string_view rest = line;
  if (IsDigit(rest.front())) {
    if (!Take("9999-99-99 99:99:99.9", rest)) return false;
    TakeDigits(rest);
    if (!Take(": ", rest) || rest.empty()) return false;
  }
  const std::optional<run::Severity> level = LevelOf(rest.front());
  rest.remove_prefix(1);
  if (!level || !Take(" ", rest) || !TakePlace(rest, entry)) return false;
  entry.severity = *level;
  return true;
}

// "I0921 10:11:12.123456789   1234 path:line] text": gRPC, glog, absl.
bool ParseGrpc(std::string_view line, CapturedEntry& entry) {
  const std::optional<run::Severity> level = LevelOf(line.front());
  std::string_view rest = line.substr(1);
  const char* time = rest.data();
  if (!level || !Take("9999 99:99:99.9", rest)) return false;
  TakeDigits(rest);
  const size_t time_size = static_cast<size_t>(rest.data() - time);
  if (!Take(" ", rest)) return false;
  while (Take(" ", rest)) continue;
  const std::string_view thread = TakeDigits(rest);
  if (thread.empty() || !Take(" ", rest) || !TakePlace(rest, entry)) return false;
  entry.severity = *level;
  entry.thread = thread;
  entry.time = std::string_view(time, time_size);
  return true;
}

// Whether the line begins like a log line of TensorFlow's C++ code or of gRPC.
bool ParsePrefix(std::string_view line, CapturedEntry& entry) {
  if (line.empty()) return false;
  return ParseTensorFlow(line, entry) || ParseGrpc(line, entry);
}

CapturedEntry PlainEntry(std::string_view line, run::Severity severity) {
  CapturedEntry entry;
  entry.severity = severity;
  entry.message = line;
  return entry;
}

std::string_view WithoutNewlines(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

// The position of the mark of a record of Python's logging in a line; npos if there is none. The
// line may begin with unfinished output of another thread or a progress bar.
size_t FindRecordMark(std::string_view line) {
  if (line.empty() || !std::memchr(line.data(), kPythonRecordMark[0], line.size())) {
    return std::string_view::npos;  // true for almost all lines
  }
  return line.find(kPythonRecordMark);
}

// Emits each line of `text` that is not empty as an ERROR.
void EmitLines(std::string_view text, const LineClassifier::Emit& emit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = WithoutNewlines(text.substr(0, end + 1));
    if (!line.empty()) emit(PlainEntry(line, run::Severity::kError));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void LineClassifier::Feed(std::string_view line, const Emit& emit) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (stream_ == OutputStream::kStdout) {
    if (!line.empty()) emit(PlainEntry(line, run::Severity::kInfo));
    return;
  }
  const size_t mark = FindRecordMark(line);
  if (mark != std::string_view::npos && FeedRecord(line, mark, emit)) return;
  FeedUnmarked(line, emit);
}

bool LineClassifier::FeedRecord(std::string_view line, size_t mark, const Emit& emit) {
  const auto record = ParsePythonRecord(line.substr(mark + kPythonRecordMark.size()));
  if (!record) return false;
  if (mark > 0) FeedUnmarked(line.substr(0, mark), emit);
  CapturedEntry entry;
  entry.severity = record->severity;
  entry.message = record->message;
  entry.pathname = record->pathname;
  entry.line_number = record->line_number;
  entry.thread = record->thread;
  EmitBetween(entry, emit);
  return true;
}

void LineClassifier::FeedUnmarked(std::string_view line, const Emit& emit) {
  if (state_ == State::kPlain || !FeedHeld(line, emit)) FeedPlain(line, emit);
  follows_notice_ = run::AnnouncesIgnoredException(line);
}

// Emits an entry that is certainly not a part of the held lines. A complete exception is emitted
// before it. If the exception is not complete, the entry is from another thread, and the held lines
// continue after it.
void LineClassifier::EmitBetween(const CapturedEntry& entry, const Emit& emit) {
  if (state_ == State::kTail && !chain_is_open_) Close(sure_bytes_, emit);
  EmitOne(entry, emit);
}

void LineClassifier::EmitOne(const CapturedEntry& entry, const Emit& emit) {
  emit(entry);
  if (!last_traceback_.empty() && ++entries_since_ > kEntriesAfterTracebackMax)
    last_traceback_.clear();
}

void LineClassifier::FeedPlain(std::string_view line, const Emit& emit) {
  if (line.empty()) return;
  if (run::OpensExceptionGroup(line)) return Open(line, State::kGroup);
  if (run::OpensTraceback(line)) return Open(line, State::kFrames);
  if (run::OpensSyntaxError(line)) return Open(line, State::kSyntaxError);
  CapturedEntry entry;
  EmitOne(ParsePrefix(line, entry) ? entry : PlainEntry(line, run::Severity::kError), emit);
  if (run::RefusesModule(line)) Remember(line);
}

bool LineClassifier::FeedHeld(std::string_view line, const Emit& emit) {
  if (held_.size() + line.size() > kHeldBytesMax) {
    Close(held_.size(), emit);
    return false;
  }
  CapturedEntry entry;
  if (!StartsBlank(line) && ParsePrefix(line, entry)) {  // from another thread
    EmitBetween(entry, emit);
    return true;
  }
  if (state_ == State::kSyntaxError) return FeedSyntaxError(line, emit);
  return state_ == State::kTail ? FeedTail(line, emit) : FeedFrames(line, emit);
}

bool LineClassifier::FeedFrames(std::string_view line, const Emit& emit) {
  const bool belongs = line.empty() || run::ChainsTracebacks(line) || run::MarksPlace(line) ||
                       (StartsBlank(line) && !run::OpensExceptionGroup(line));
  if (belongs) {
    AppendSurely(line);
    chain_is_open_ = run::ChainsTracebacks(line) || (chain_is_open_ && line.empty());
    return true;
  }
  if (run::OpensTraceback(line) && chain_is_open_) {
    state_ = run::OpensExceptionGroup(line) ? State::kGroup : State::kFrames;
    chain_is_open_ = false;
    AppendSurely(line);
    return true;
  }
  // the held traceback is complete, or its end never came
  if (run::OpensTraceback(line) || state_ == State::kGroup) {
    Close(held_.size(), emit);
    return false;
  }
  AppendSurely(line);  // the line names the exception
  state_ = State::kTail;
  return true;
}

bool LineClassifier::FeedSyntaxError(std::string_view line, const Emit& emit) {
  if (run::NamesSyntaxError(line)) {
    AppendSurely(line);
    state_ = State::kTail;
    return true;
  }
  const bool may_be_source = line.empty() || StartsBlank(line);
  if (may_be_source && held_.size() + line.size() < kSyntaxErrorBytesMax) {
    Append(line);
    return true;
  }
  Close(0, emit);
  return false;
}

bool LineClassifier::FeedTail(std::string_view line, const Emit& emit) {
  if (run::OpensTraceback(line) && chain_is_open_) {
    state_ = run::OpensExceptionGroup(line) ? State::kGroup : State::kFrames;
    chain_is_open_ = false;
    AppendSurely(line);
    return true;
  }
  if (run::ChainsTracebacks(line)) {
    chain_is_open_ = true;
    AppendSurely(line);
    return true;
  }
  if (run::OpensTraceback(line) || run::LooksLikeLogRecord(line)) {
    Close(sure_bytes_, emit);
    return false;
  }
  if (StartsBlank(line) && doubtful_lines_ == 0) {  // a message of several lines
    AppendSurely(line);
    return true;
  }
  if (!line.empty() && ++doubtful_lines_ > kDoubtfulLinesMax) {
    Close(sure_bytes_, emit);
    return false;
  }
  Append(line);
  return true;
}

void LineClassifier::Remember(std::string_view traceback) {
  last_traceback_.assign(traceback).push_back('\n');
  entries_since_ = 0;
}

void LineClassifier::Open(std::string_view line, State state) {
  state_ = state;
  is_ignored_ = follows_notice_;
  Append(line);
}

void LineClassifier::Append(std::string_view line) { held_.append(line).push_back('\n'); }

void LineClassifier::AppendSurely(std::string_view line) {
  Append(line);
  sure_bytes_ = held_.size();
  doubtful_lines_ = 0;
}

// The first `group_bytes` of the held lines become one entry, and each later line becomes another.
void LineClassifier::Close(size_t group_bytes, const Emit& emit) {
  const std::string held = std::exchange(held_, {});
  state_ = State::kPlain;
  sure_bytes_ = 0;
  doubtful_lines_ = 0;
  chain_is_open_ = false;
  const std::string_view group = WithoutNewlines(std::string_view(held).substr(0, group_bytes));
  if (!group.empty()) {
    if (!is_ignored_) Remember(group);
    emit(PlainEntry(group, run::Severity::kError));
  }
  EmitLines(std::string_view(held).substr(group_bytes), emit);
}

void LineClassifier::Flush(const Emit& emit) {
  if (state_ == State::kPlain) return;
  const bool is_open = state_ == State::kFrames || state_ == State::kGroup;
  Close(is_open ? held_.size() : sure_bytes_, emit);
}

void LineClassifier::Finish(const Emit& emit) {
  if (state_ == State::kPlain) return;
  Close(state_ == State::kSyntaxError ? 0 : held_.size(), emit);
}

}  // namespace caip::host
