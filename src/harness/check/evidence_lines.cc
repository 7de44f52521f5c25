#include "harness/check/evidence_lines.h"

#include <algorithm>
#include <csignal>

#include "base/text.h"

namespace caip::harness {
namespace {

constexpr size_t kEvidenceLineMax = 400;
constexpr size_t kLastLines = 10;  // a traceback and what went before it

std::string Shortened(std::string text) {
  if (text.size() > kEvidenceLineMax) text = text.substr(0, kEvidenceLineMax) + " ...";
  return text;
}

bool IsLine(const Happening& happening) {
  return happening.kind == Happening::Kind::kLog || happening.kind == Happening::Kind::kStep;
}

// A traceback is one entry of many lines: what it comes to is the last of them.
std::string LastLineOf(const std::string& text) {
  const std::string trimmed(Trim(text));
  const size_t end = trimmed.rfind('\n');
  return end == std::string::npos ? trimmed : std::string(Trim(trimmed.substr(end)));
}

}  // namespace

std::string Shown(const Happening& h) {
  if (h.kind == Happening::Kind::kExit) {
    const std::string how = h.signal ? "by signal " + std::to_string(h.signal)
                                     : "with exit code " + std::to_string(h.exit_code);
    return h.replica + " boot " + std::to_string(h.boot) + " ended " + how;
  }
  if (IsLine(h)) return h.replica + ": " + Shortened(LastLineOf(h.text));
  return Describe(h);
}

std::vector<std::string> LastLines(const CourseRun& run, const std::string& replica, size_t most) {
  std::vector<std::string> lines;
  const auto& all = run.evidence.happenings;
  for (auto h = all.rbegin(); h != all.rend() && lines.size() < most; ++h) {
    const bool whose = replica.empty() ? h->replica != "service" : h->replica == replica;
    // What the launcher says of an end is no word of the trainer.
    const bool launcher = h->text.starts_with("Command '[") || h->text == "Clean up finished." ||
                          h->text == "Module completed; cleaning up." ||
                          h->text.starts_with("Terminated by service.");
    if (!IsLine(*h) || !whose || launcher) continue;
    const std::vector<std::string> parts = Split(h->text, '\n');  // of a traceback many
    for (auto part = parts.rbegin(); part != parts.rend() && lines.size() < most; ++part) {
      if (!Trim(*part).empty()) lines.push_back(h->replica + ": " + Shortened(*part));
    }
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::optional<Happening> FirstEnd(const CourseRun& run,
                                  const std::function<bool(const Happening&)>& which) {
  for (const Happening& h : run.evidence.happenings) {
    if (h.kind == Happening::Kind::kExit && which(h)) return h;
  }
  return std::nullopt;
}

bool IsFailure(const Happening& end) {
  if (end.signal != 0) return end.signal != SIGTERM && end.signal != SIGKILL;
  return end.exit_code != 0 || !end.detail.empty();
}

std::optional<Happening> FirstFailure(const CourseRun& run) { return FirstEnd(run, IsFailure); }

Ruling FailOf(const CourseRun& run, const std::string& when, std::string advice) {
  Ruling ruling{CheckVerdict::kFail, when + ": " + Outcome(run)};
  const auto failure = FirstFailure(run);
  ruling.evidence = LastLines(run, failure ? failure->replica : "", kLastLines);
  if (failure) ruling.evidence.push_back(Shown(*failure));
  ruling.advice = std::move(advice);
  return ruling;
}

std::string RoleOf(const std::string& replica) { return replica.substr(0, replica.rfind('-')); }

std::string Outcome(const CourseRun& run) {
  if (!run.evidence.broke_off.empty()) return "it did not end: " + run.evidence.broke_off;
  std::string words = run.evidence.state;
  const std::string& message = run.evidence.error_message;
  const std::string first =  // where the log can be looked at on the service says nothing here
      message.substr(0, std::min(message.find('\n'), message.find(" To find out more")));
  return words + (first.empty() ? "" : ": " + std::string(Trim(first)));
}

std::string AllWords(const CourseRun& run) {
  std::string words;
  for (const Happening& h : run.evidence.happenings) {
    if (IsLine(h)) words += h.text + "\n";
  }
  return words + run.evidence.error_message;
}

}  // namespace caip::harness
