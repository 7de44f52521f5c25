#include "harness/check/run_evidence.h"

#include <algorithm>
#include <csignal>
#include <set>

#include "base/text.h"
#include "run/traceback.h"

namespace caip::harness {
namespace {

constexpr size_t kEvidenceLineMax = 400;
constexpr size_t kLastLines = 10;  // a traceback and the lines before it

std::string Shortened(std::string text) {
  if (text.size() > kEvidenceLineMax) text = text.substr(0, kEvidenceLineMax) + " ...";
  return text;
}

// The launcher's own lines about an end show nothing about the trainer.
bool IsOfLauncher(const std::string& line) {
  return line.starts_with("Command '[") || line == "Clean up finished." ||
         line == "Module completed; cleaning up." || line.starts_with("Terminated by service.");
}

// A traceback is one entry of many lines. The last one names the exception.
std::string LastLineOf(const std::string& text) {
  const std::string trimmed(Trim(text));
  const size_t end = trimmed.rfind('\n');
  return end == std::string::npos ? trimmed : std::string(Trim(trimmed.substr(end)));
}

}  // namespace

std::string Shown(const Event& event) {
  if (const auto* exit = event.As<ExitEvent>()) {
    const std::string boot = event.replica + " boot " + std::to_string(event.boot);
    if (!exit->lost.empty()) return boot + " could not be started: " + exit->lost;
    const std::string how = exit->signal ? "by signal " + std::to_string(exit->signal)
                                         : "with exit code " + std::to_string(exit->exit_code);
    return boot + " ended " + how;
  }
  if (const std::string* line = FindPrintedLine(event)) {
    return event.replica + ": " + Shortened(LastLineOf(*line));
  }
  return Describe(event);
}

std::vector<std::string> LastLines(const CheckRun& run, const std::string& replica, size_t most) {
  std::vector<std::string> lines;
  const auto& all = run.evidence.events;
  for (auto event = all.rbegin(); event != all.rend() && lines.size() < most; ++event) {
    const bool whose = replica.empty() ? event->replica != "service" : event->replica == replica;
    const std::string* text = FindPrintedLine(*event);
    if (!text || !whose || IsOfLauncher(*text)) continue;
    const std::vector<std::string> parts = Split(*text, '\n');  // a traceback has many lines
    for (auto part = parts.rbegin(); part != parts.rend() && lines.size() < most; ++part) {
      if (!Trim(*part).empty()) lines.push_back(event->replica + ": " + Shortened(*part));
    }
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::optional<Event> FirstEnd(const CheckRun& run, const std::function<bool(const Event&)>& which) {
  for (const Event& event : run.evidence.events) {
    if (event.Is<ExitEvent>() && which(event)) return event;
  }
  return std::nullopt;
}

bool IsFailure(const Event& end) {
  const ExitEvent& exit = *end.As<ExitEvent>();
  if (exit.signal != 0) return exit.signal != SIGTERM && exit.signal != SIGKILL;
  return exit.exit_code != 0 || !exit.lost.empty();
}

std::optional<Event> FirstFailure(const CheckRun& run) { return FirstEnd(run, IsFailure); }

CheckResult FailOf(const CheckRun& run, const std::string& when, std::string advice) {
  CheckResult result{CheckVerdict::kFail, when + ": " + Outcome(run)};
  const auto failure = FirstFailure(run);
  result.evidence = LastLines(run, failure ? failure->replica : "", kLastLines);
  if (failure) result.evidence.push_back(Shown(*failure));
  result.advice = std::move(advice);
  return result;
}

bool ContainsAny(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

std::string Outcome(const CheckRun& run) {
  if (!run.evidence.broke_off.empty()) return "it did not end: " + run.evidence.broke_off;
  std::string words = run.evidence.state;
  const std::string& message = run.evidence.error_message;
  const std::string first =  // without the hint where the service keeps the log
      message.substr(0, std::min(message.find('\n'), message.find(kLogHint)));
  return words + (first.empty() ? "" : ": " + std::string(Trim(first)));
}

std::string AllWords(const CheckRun& run) {
  std::string words;
  for (const Event& event : run.evidence.events) {
    if (const std::string* line = FindPrintedLine(event)) words += *line + "\n";
  }
  return words + run.evidence.error_message;
}

namespace {

// Recognizes the messages of argparse, click, absl, getopt and fire.
bool RefusesJobDir(const std::string& line) {
  const std::string low = LowerCase(line);
  return ContainsAny(low, {"job-dir", "job_dir"}) &&
         ContainsAny(low, {"unrecognized", "unknown", "no such option", "not recognized",
                           "unexpected", "could not consume", "got unexpected"});
}

std::set<std::string> FileNamesBelow(const Path& folder) {
  std::set<std::string> names;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

// True for "No such file or directory: '/.../trainer/vocabulary.txt'" if the source tree has the
// file.
bool MissesOwnFile(const std::string& line, const CheckSession& session) {
  if (!session.trainer.source || line.find("No such file or directory: '") == line.npos) {
    return false;
  }
  const size_t end = line.rfind('\'');
  const size_t slash = line.rfind('/', end);
  const size_t quote = line.rfind('\'', end - 1);
  const size_t begin = (slash == line.npos || slash < quote ? quote : slash) + 1;
  return FileNamesBelow(session.trainer.source->parent_path())
      .contains(line.substr(begin, end - begin));
}

bool IsOfPackage(const std::string& line, const CheckSession& session) {
  if (session.trainer.is_container || LacksNameInModule(line, session.trainer)) return false;
  return ContainsAny(line,
                     {"ModuleNotFoundError: ", "ImportError: ", "Error while finding module"}) ||
         line.find(": No module named ") != line.npos || MissesOwnFile(line, session);
}

struct ShownCause {
  FailureCause cause = FailureCause::kOther;
  std::string line = {};
};

// Whether the replica printed the event, and its text may end the program.
bool IsLineOf(const Event& event, const std::string& replica) {
  const std::string* text = FindPrintedLine(event);
  if (!text || event.replica != replica || IsOfLauncher(*text) || Trim(*text).empty()) return false;
  return !run::AnnouncesIgnoredException(*text);
}

}  // namespace

// A program without lines of stderr may have sent them to stdout.
std::string FinalLineOf(const CheckRun& run, const std::string& replica) {
  const auto& events = run.evidence.events;
  const Event* last = nullptr;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (!IsLineOf(*event, replica)) continue;
    const auto* log = event->As<LogEvent>();
    const bool is_error = log && log->severity == "ERROR";
    if (!last || is_error) last = &*event;
    if (is_error) break;
  }
  return last ? LastLineOf(*FindPrintedLine(*last)) : "";
}

namespace {

// The line that shows a missing part of the package; "" if there is none. If no replica failed, pip
// did.
std::string FindPackageLine(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  std::vector<std::string> lines;
  if (const auto failure = FirstFailure(run)) {
    lines = {FinalLineOf(run, failure->replica)};
  } else if (run.evidence.broke_off.empty()) {
    lines = Split(AllWords(run), '\n');
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (IsOfPackage(*line, session)) return *line;
  }
  return "";
}

bool IsThereAfterAll(const std::string& line, const CheckSession& session) {
  const auto origin = FindMissingModule(line, session.trainer).origin;
  return origin == MissingModule::Origin::kRuntime && session.Run("plain").has_module;
}

// No rule of the service explains why a command fails.
ShownCause FindShownCause(const CheckSession& session) {
  if (session.trainer.is_command) return {};
  const std::string missing = FindPackageLine(session);
  if (!missing.empty() && !IsThereAfterAll(missing, session)) {
    return {FailureCause::kPackage, missing};
  }
  for (const std::string& line : Split(AllWords(session.Run("plain")), '\n')) {
    if (RefusesJobDir(line)) return {FailureCause::kJobDirFlag, line};
  }
  return {};
}

}  // namespace

FailureCause FindFailureCause(const CheckSession& session) {
  if (session.Run("plain").succeeded()) return FailureCause::kNone;
  return FindShownCause(session).cause;
}

std::string FindFailureLine(const CheckSession& session) {
  return std::string(Trim(FindShownCause(session).line));
}

MissingModule MissingModuleOf(const CheckSession& session) {
  if (FindFailureCause(session) != FailureCause::kPackage) return {};
  return FindMissingModule(FindFailureLine(session), session.trainer);
}

}  // namespace caip::harness
