// The forms of the report: for people, then for machines.

#include "harness/check/check_report.h"

#include <algorithm>
#include <map>

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "harness/scenario/report.h"

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

// Texts of the trainer may have line breaks.
std::string OnOneLine(const std::string& text) {
  return ReplaceAll(ReplaceAll(text, "\r", "\\r"), "\n", "\\n");
}

std::string OutcomeText(const CheckOutcome& outcome, const CheckReport& report,
                        const ReportPaint& paint) {
  const CheckResult& result = outcome.result;
  std::string text = paint(result.verdict) + " " + paint("1", outcome.check->id) + "\n";
  text += Indented(outcome.check->sentence) + Indented("found: " + OnOneLine(result.found));
  for (const std::string& line : result.evidence) {
    text += Indented(paint("2", "| " + OnOneLine(line)));
  }
  if (!result.advice.empty()) text += Indented("do:    " + result.advice);
  if (result.verdict == CheckVerdict::kPass) return text + "\n";
  text += Indented("why:   " + outcome.check->source);
  return text + Indented("again: " + ReplayOf(report, *outcome.check)) + "\n";
}

std::string OutcomeLine(const CheckOutcome& outcome, const ReportPaint& paint) {
  std::string id = outcome.check->id;
  id.resize(std::max<size_t>(id.size(), 26), ' ');
  return paint(outcome.result.verdict) + " " + id + " " + OnOneLine(outcome.result.found) + "\n";
}

std::string CountText(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what;
}

std::string CountsText(const CheckReport& report) {
  std::string text =
      CountText(report.outcomes.size(), report.outcomes.size() == 1 ? "check" : "checks") + ": " +
      CountText(report.Count(CheckVerdict::kPass), "passed") + ", " +
      CountText(report.Count(CheckVerdict::kFail), "failed");
  const std::pair<CheckVerdict, const char*> others[] = {{CheckVerdict::kWarn, "warned"},
                                                         {CheckVerdict::kSkipped, "skipped"},
                                                         {CheckVerdict::kNotRun, "not run"}};
  for (const auto& [verdict, word] : others) {
    if (const size_t count = report.Count(verdict)) text += ", " + CountText(count, word);
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
      if (outcome.result.verdict == verdict) text += OutcomeText(outcome, report, paint);
    }
  }
  for (const CheckOutcome& outcome : report.outcomes) {
    const bool passed = outcome.result.verdict == CheckVerdict::kPass;
    const bool shown = outcome.result.verdict == CheckVerdict::kFail ||
                       outcome.result.verdict == CheckVerdict::kWarn;
    if (!shown)
      text += passed && style.verbose ? OutcomeText(outcome, report, paint)
                                      : OutcomeLine(outcome, paint);
  }
  std::vector<std::string> runs;
  for (const auto& [name, took] : report.runs) runs.push_back(name + " " + HumanDuration(took));
  if (!runs.empty()) text += paint("2", "runs: " + Join(runs, ", ")) + "\n";
  const bool failed = report.Count(CheckVerdict::kFail) > 0;
  text += paint(failed ? "1;31" : "1;32", CountsText(report)) + "\n";
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

namespace {

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

bool Failed(const CheckOutcome& outcome) { return outcome.result.verdict == CheckVerdict::kFail; }

bool Ran(const CheckOutcome& outcome) {
  return outcome.result.verdict != CheckVerdict::kSkipped &&
         outcome.result.verdict != CheckVerdict::kNotRun;
}

std::string Details(const CheckOutcome& outcome, const CheckReport& report) {
  std::string text = OnOneLine(outcome.result.found) + "\n";
  for (const std::string& line : outcome.result.evidence) text += "| " + OnOneLine(line) + "\n";
  if (!outcome.result.advice.empty()) text += "do: " + outcome.result.advice + "\n";
  return text + "again: " + ReplayOf(report, *outcome.check);
}

Json OutcomeJson(const CheckOutcome& outcome, const CheckReport& report) {
  const CheckResult& result = outcome.result;
  Json json = {{"id", outcome.check->id},
               {"chapter", ChapterOf(*outcome.check)},
               {"sentence", outcome.check->sentence},
               {"source", outcome.check->source},
               {"runs", outcome.check->runs},
               {"verdict", Name(result.verdict)},
               {"found", result.found},
               {"evidence", result.evidence}};
  if (!result.advice.empty()) json["advice"] = result.advice;
  if (result.verdict != CheckVerdict::kPass) json["replay"] = ReplayOf(report, *outcome.check);
  return json;
}

std::string JunitCase(const CheckOutcome& outcome, const CheckReport& report) {
  std::string text = "    <testcase classname=\"" + XmlText(ChapterOf(*outcome.check)) +
                     "\" name=\"" + XmlText(outcome.check->id + ": " + outcome.check->sentence) +
                     "\" time=\"0\"";
  if (outcome.result.verdict == CheckVerdict::kPass) return text + "/>\n";
  const std::string details = XmlText(Details(outcome, report));
  text += ">\n      ";
  if (outcome.result.verdict == CheckVerdict::kWarn) {  // JUnit has no warnings
    text += "<system-out>" + details + "</system-out>";
  } else {
    const std::string kind = Failed(outcome) ? "failure" : "skipped";
    text += "<" + kind + " message=\"" + XmlText(outcome.result.found) + "\">" + details + "</" +
            kind + ">";
  }
  return text + "\n    </testcase>\n";
}

// Escapes data in GitHub's workflow commands. Properties need two more escapes.
std::string CommandText(std::string text) {
  text = ReplaceAll(std::move(text), "%", "%25");
  return ReplaceAll(ReplaceAll(std::move(text), "\r", "%0D"), "\n", "%0A");
}
std::string PropertyText(std::string text) {
  return ReplaceAll(ReplaceAll(CommandText(std::move(text)), ":", "%3A"), ",", "%2C");
}

}  // namespace

Json JsonReport(const CheckReport& report) {
  Json checks = Json::array();
  for (const CheckOutcome& outcome : report.outcomes) {
    checks.push_back(OutcomeJson(outcome, report));
  }
  Json runs = Json::array();
  for (const auto& [name, took] : report.runs) {
    runs.push_back({{"name", name}, {"seconds", Seconds(took)}});
  }
  return {{"version", 1},
          {"subject", report.subject},
          {"seconds", Seconds(report.took)},
          {"interrupted", report.interrupted},
          {"passed", report.Count(CheckVerdict::kPass)},
          {"warned", report.Count(CheckVerdict::kWarn)},
          {"failed", report.Count(CheckVerdict::kFail)},
          {"skipped", report.Count(CheckVerdict::kSkipped)},
          {"not_run", report.Count(CheckVerdict::kNotRun)},
          {"runs", std::move(runs)},
          {"checks", std::move(checks)}};
}

std::string JunitReport(const CheckReport& report) {
  std::vector<std::string> chapters;
  std::map<std::string, std::vector<const CheckOutcome*>> by_chapter;
  for (const CheckOutcome& outcome : report.outcomes) {
    const std::string chapter = ChapterOf(*outcome.check);
    if (!by_chapter.contains(chapter)) chapters.push_back(chapter);
    by_chapter[chapter].push_back(&outcome);
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"caip check " +
                     XmlText(report.subject) + "\">\n";
  for (const std::string& chapter : chapters) {
    const auto& outcomes = by_chapter[chapter];
    const auto failed = std::count_if(outcomes.begin(), outcomes.end(),
                                      [](const CheckOutcome* one) { return Failed(*one); });
    const auto skipped = std::count_if(outcomes.begin(), outcomes.end(),
                                       [](const CheckOutcome* one) { return !Ran(*one); });
    text += "  <testsuite name=\"" + XmlText(chapter) + "\" tests=\"" +
            std::to_string(outcomes.size()) + "\" failures=\"" + std::to_string(failed) +
            "\" skipped=\"" + std::to_string(skipped) + "\" errors=\"0\">\n";
    for (const CheckOutcome* outcome : outcomes) text += JunitCase(*outcome, report);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

std::string TapReport(const CheckReport& report) {
  std::string text = "TAP version 13\n1.." + std::to_string(report.outcomes.size()) + "\n";
  size_t number = 0;
  for (const CheckOutcome& outcome : report.outcomes) {
    text += std::string(Failed(outcome) ? "not ok " : "ok ") + std::to_string(++number) + " - " +
            outcome.check->id + " " + ReplaceAll(outcome.check->sentence, "#", "\\#");
    if (!Ran(outcome)) {
      text += " # SKIP " + OnOneLine(outcome.result.found);
    }
    text += "\n";
    if (outcome.result.verdict == CheckVerdict::kPass || !Ran(outcome)) continue;
    text += "  ---\n  verdict: " + std::string(Name(outcome.result.verdict)) +
            "\n  details: |\n    " + ReplaceAll(Details(outcome, report), "\n", "\n    ") +
            "\n  ...\n";
  }
  return text;
}

std::string GithubReport(const CheckReport& report) {
  std::string text;
  for (const CheckOutcome& outcome : report.outcomes) {
    const bool warned = outcome.result.verdict == CheckVerdict::kWarn;
    if (!warned && !Failed(outcome)) continue;
    text += std::string(warned ? "::warning" : "::error") +
            " title=" + PropertyText("caip check: " + outcome.check->id) +
            "::" + CommandText(outcome.check->sentence + "\n" + Details(outcome, report)) + "\n";
  }
  return text;
}

}  // namespace caip::harness
