#include "harness/explorer/failure_reason.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace caip::harness {
namespace {

bool SaysSomething(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); });
}

// mpirun reports the end of a rank in a notice between two such lines, and in single lines.
constexpr size_t kNoticeRule = 74;
constexpr const char* kNoticeWords[] = {"ORTE_ERROR_LOG", " sent help message help-"};

bool IsNoticeRule(std::string_view line) {
  return line.size() == kNoticeRule && line.find_first_not_of('-') == line.npos;
}

bool IsNotice(std::string_view line) {
  return std::ranges::any_of(kNoticeWords,
                             [line](const char* words) { return line.find(words) != line.npos; });
}

/// The last line that says something, and the last one of those that are errors.
struct LastWords {
  std::string last;
  std::string error;

  const std::string& Best() const { return error.empty() ? last : error; }
  void Add(const LogEvent& line) {
    if (!SaysSomething(line.message)) return;
    last = FindErrorLine(line.message);
    if (line.severity == "ERROR" || line.severity == "CRITICAL") error = last;
  }
};

// Of the boot that failed last. SystemExit leaves no traceback.
std::string FindLastWords(const Evidence& run) {
  const Event* failed = nullptr;
  for (const Event& event : run.events) {
    const auto* exit = event.As<ExitEvent>();
    if (exit && exit->exit_code != 0 && exit->lost.empty()) failed = &event;
  }
  LastWords all;
  LastWords own;  // of the program
  bool in_notice = false;
  for (const Event& event : run.events) {
    const auto* line = event.As<LogEvent>();
    const bool is_its =
        failed && line && event.replica == failed->replica && event.boot == failed->boot;
    if (!is_its) continue;
    all.Add(*line);
    if (IsNoticeRule(line->message)) {
      in_notice = !in_notice;
    } else if (!in_notice && !IsNotice(line->message)) {
      own.Add(*line);
    }
  }
  return own.Best().empty() ? all.Best() : own.Best();
}

}  // namespace

std::string FindErrorLine(std::string_view error_message) {
  std::string last;
  std::string exception;
  bool in_traceback = false;
  for (const std::string& line : Split(error_message, '\n')) {
    const std::string said(Trim(line.substr(0, line.find(kLogHint))));
    const bool is_link = said.size() < Trim(line).size();
    if (!SaysSomething(said) || (is_link && !last.empty())) continue;
    if (line.starts_with("  File \"")) {
      in_traceback = true;
    } else if (in_traceback && line.front() != ' ') {
      exception = said;
      in_traceback = false;
    }
    last = said;
  }
  return exception.empty() ? last : exception;
}

std::string FindFailureReason(const Evidence& run) {
  std::string line = FindErrorLine(run.error_message);
  if (line.find("exited with a non-zero status") == std::string::npos) return line;
  const std::string words = FindLastWords(run);
  return words.empty() ? line : words;
}

}  // namespace caip::harness
