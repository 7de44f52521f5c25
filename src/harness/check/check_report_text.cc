// The form for people, and what all forms share.

#include <algorithm>

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "harness/check/check_report.h"

namespace caip::harness {
namespace {

struct ReportPaint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
  std::string operator()(CheckVerdict verdict) const {
    const char* code = verdict == CheckVerdict::kFail   ? "1;31"
                       : verdict == CheckVerdict::kWarn ? "1;33"
                       : verdict == CheckVerdict::kPass ? "32"
                                                        : "2";
    std::string name(Name(verdict));
    name.resize(std::max<size_t>(name.size(), 8), ' ');
    return (*this)(code, name);
  }
};

std::string Indented(const std::string& text) {
  return "         " + ReplaceAll(text, "\n", "\n         ") + "\n";
}

std::string Whole(const CheckOutcome& outcome, const CheckReport& report,
                  const ReportPaint& paint) {
  const CheckResult& result = outcome.result;
  std::string text = paint(result.verdict) + " " + paint("1", outcome.check->id) + "\n";
  text += Indented(outcome.check->sentence) + Indented("found: " + result.found);
  for (const std::string& line : result.evidence) text += Indented(paint("2", "| " + line));
  if (!result.advice.empty()) text += Indented("do:    " + result.advice);
  if (result.verdict == CheckVerdict::kPass) return text + "\n";
  text += Indented("why:   " + outcome.check->source);
  return text + Indented("again: " + ReplayOf(report, *outcome.check)) + "\n";
}

std::string Line(const CheckOutcome& outcome, const ReportPaint& paint) {
  std::string id = outcome.check->id;
  id.resize(std::max<size_t>(id.size(), 26), ' ');
  return paint(outcome.result.verdict) + " " + id + " " + outcome.result.found + "\n";
}

std::string Counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what;
}

std::string Sum(const CheckReport& report) {
  std::string text =
      Counted(report.outcomes.size(), report.outcomes.size() == 1 ? "check" : "checks") + ": " +
      Counted(report.Count(CheckVerdict::kPass), "passed") + ", " +
      Counted(report.Count(CheckVerdict::kFail), "failed");
  const std::pair<CheckVerdict, const char*> others[] = {{CheckVerdict::kWarn, "warned"},
                                                         {CheckVerdict::kSkipped, "skipped"},
                                                         {CheckVerdict::kNotRun, "not run"}};
  for (const auto& [verdict, word] : others) {
    if (const size_t count = report.Count(verdict)) text += ", " + Counted(count, word);
  }
  return text + " in " + HumanDuration(report.took);
}

}  // namespace

size_t CheckReport::Count(CheckVerdict verdict) const {
  return static_cast<size_t>(std::count_if(
      outcomes.begin(), outcomes.end(),
      [&](const CheckOutcome& outcome) { return outcome.result.verdict == verdict; }));
}

std::string ChapterOf(const CheckKind& check) { return check.id.substr(0, check.id.find('/')); }

std::string ReplayOf(const CheckReport& report, const CheckKind& check) {
  return report.replay + " --filter " + ShellQuoted(check.id) + report.replay_args;
}

std::string TextReport(const CheckReport& report, const CheckTextStyle& style) {
  const ReportPaint paint{style.colours};
  std::string text;
  for (const CheckVerdict verdict : {CheckVerdict::kFail, CheckVerdict::kWarn}) {
    for (const CheckOutcome& outcome : report.outcomes) {
      if (outcome.result.verdict == verdict) text += Whole(outcome, report, paint);
    }
  }
  for (const CheckOutcome& outcome : report.outcomes) {
    const bool passed = outcome.result.verdict == CheckVerdict::kPass;
    const bool shown = outcome.result.verdict == CheckVerdict::kFail ||
                       outcome.result.verdict == CheckVerdict::kWarn;
    if (!shown)
      text += passed && style.verbose ? Whole(outcome, report, paint) : Line(outcome, paint);
  }
  std::vector<std::string> runs;
  for (const auto& [name, took] : report.runs) runs.push_back(name + " " + HumanDuration(took));
  if (!runs.empty()) text += paint("2", "runs: " + Join(runs, ", ")) + "\n";
  const bool failed = report.Count(CheckVerdict::kFail) > 0;
  text += paint(failed ? "1;31" : "1;32", Sum(report)) + "\n";
  if (report.interrupted) text += "Interrupted: this is what ran until then.\n";
  return text;
}

std::string CheckList(const std::vector<const CheckKind*>& checks) {
  std::string text;
  for (const CheckKind* check : checks) {
    std::string id = check->id;
    id.resize(std::max<size_t>(id.size(), 26), ' ');
    text += id + " " + check->sentence + "\n";
  }
  return text;
}

}  // namespace caip::harness
