#include "emulator/cli/print/explore_text.h"

#include <algorithm>

#include "base/text.h"
#include "base/time_text.h"
#include "emulator/cli/print/live_line.h"
#include "harness/events/step_formats.h"

namespace caip::cli {
namespace {

using explore::ExploreFinding;
using explore::ExploreProgress;
using explore::ExploreReport;

constexpr char kCertain[] = "1;31";
constexpr char kDoubtful[] = "1;33";
constexpr char kClean[] = "1;32";
constexpr char kLabel[] = "2";

/// Paints words of caip, and keeps the control sequences of a trainer away from a terminal.
class ExplorePaint {
 public:
  explicit ExplorePaint(bool is_on) : is_on_(is_on) {}
  std::string operator()(const char* code, std::string_view text) const {
    if (!is_on_) return std::string(text);
    return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
  }
  std::string Quoted(std::string_view text) const {
    const std::string line = explore::OneLine(text);
    return is_on_ ? TerminalText(line, Controls::kNone) : line;
  }
  std::string Row(std::string_view label, std::string_view text) const {
    return "   " + (*this)(kLabel, label) + " " + Quoted(text) + "\n";
  }

 private:
  bool is_on_;
};

// "13 distinct states of storage", "20 restarts to try", or both.
std::string DescribeWork(const ExploreReport& report) {
  std::vector<std::string> words;
  if (report.recorded > 0 || report.whole == 0) {
    words.push_back(std::to_string(report.recorded) + " distinct states of storage");
  }
  if (report.whole > 0) words.push_back(std::to_string(report.whole) + " restarts to try");
  return Join(words, " and ");
}

std::string FindingText(int number, const ExploreFinding& finding, const std::string& replay,
                        const ExplorePaint& paint) {
  const char* colour = IsSure(finding) ? kCertain : kDoubtful;
  std::string text = "\n" + paint(colour, std::to_string(number) + ". ") +
                     paint(colour, paint.Quoted(finding.flaw.cause)) + "  (" +
                     std::to_string(finding.points) +
                     (finding.points == 1 ? " point)" : " points)") + "\n   " +
                     paint.Quoted(Describe(finding.what, finding.point));
  if (finding.second) text += ",\n   then " + paint.Quoted(Describe(*finding.second));
  text += "\n" + paint.Row("expected", finding.flaw.expected);
  text += paint.Row("found   ", finding.flaw.found);
  if (!finding.resumed.empty()) text += paint.Row("then    ", finding.resumed);
  if (!finding.once_more.empty()) text += paint.Row("after   ", explore::DescribeOnceMore(finding));
  if (!IsSure(finding)) text += paint.Row("may be harmless:", finding.flaw.doubt);
  if (!finding.remark.empty()) text += "   " + paint.Quoted(finding.remark) + "\n";
  if (finding.left_out > 0) text += paint.Row("not tried:", explore::DescribeLeftOut(finding));
  for (const std::string& other : finding.also) text += paint.Row("also:", other);
  return text + paint.Row("again:", replay);
}

// "3 causes, 1 of which may be harmless".
std::string SumUpFindings(const std::vector<ExploreFinding>& findings, const ExplorePaint& paint) {
  if (findings.empty()) return paint(kClean, "nothing found");
  const auto sure = std::count_if(findings.begin(), findings.end(), explore::IsSure);
  const auto all = static_cast<std::ptrdiff_t>(findings.size());
  std::string text = std::to_string(all) + (all == 1 ? " cause" : " causes");
  if (sure == all) return text;
  return text + ", " + (all == 1 ? "" : std::to_string(all - sure) + " of ") +
         "which may be harmless";
}

std::string SummaryText(const ExploreReport& report) {
  std::string text = "baseline run " + HumanDuration(report.baseline) + "; " +
                     std::to_string(report.points) + " crash points, " + DescribeWork(report) +
                     "; " + std::to_string(report.tried) + " tried in " +
                     HumanDuration(report.took);
  if (report.known > 0) text += " (" + std::to_string(report.known) + " known from an earlier run)";
  text += "\n";
  const std::string why = explore::WhyNotAll(report);
  if (!why.empty()) text += "not all were tried: " + why + "\n";
  if (report.missed == 0) return text;
  return text + std::to_string(report.missed) +
         (report.missed == 1 ? " crash point was" : " crash points were") +
         " not tested, because the run that should restart there did not reach it again\n";
}

std::string ComparisonText(const ExploreReport& report, const explore::ReportHead& head,
                           const ExplorePaint& paint) {
  std::string text;
  if (!report.step_format.empty()) {
    text += "steps: lines like " + harness::FindStepFormat(report.step_format)->summary + "\n";
  } else if (!report.has_steps && !head.step_remedy.empty()) {
    text += "no steps recognized, only what the job stores is compared: " + head.step_remedy + "\n";
  }
  if (!report.not_compared.empty()) {
    text += "not compared, because it differs between two baseline runs: " +
            paint.Quoted(Join(report.not_compared, ", ")) + "\n";
  }
  if (!report.counting.empty()) {
    text +=
        "not compared, because it counts restarts: " + paint.Quoted(Join(report.counting, ", ")) +
        "\n";
  }
  return text;
}

bool IsAboutSteps(const ExploreFinding& finding) {
  using Kind = harness::Flaw::Kind;
  const Kind kind = finding.flaw.kind;
  return kind == Kind::kMissingSteps || kind == Kind::kLostProgress || kind == Kind::kSteps ||
         kind == Kind::kOtherState;
}

// Lines of another kind may have been taken for steps.
std::string GuessText(const ExploreReport& report, const explore::ReportHead& head) {
  const bool is_guessed = !report.step_format.empty() && !head.step_remedy.empty();
  if (!is_guessed || std::ranges::none_of(report.findings, IsAboutSteps)) return "";
  return "\nThe steps were recognized by their form. If other lines were taken for steps: " +
         head.step_remedy + "\n";
}

}  // namespace

bool HadNoTime(const ExploreReport& report) {
  return report.tried == 0 && report.ended == explore::kBudgetSpent;
}

std::string ExploreText(const ExploreReport& report, const explore::ReportHead& head,
                        bool colours) {
  const ExplorePaint paint(colours);
  std::string text = SummaryText(report) + ComparisonText(report, head, paint);
  int number = 0;
  for (const ExploreFinding& finding : report.findings) {
    text += FindingText(++number, finding, ReplayOf(finding, head), paint);
  }
  text += GuessText(report, head);
  const bool has_result = report.tried > 0 || report.ended.empty();
  if (has_result) text += "\n" + SumUpFindings(report.findings, paint) + "\n";
  return text;
}

std::string ProgressText(const ExploreProgress& progress) {
  constexpr size_t kWidth = 30;
  const std::string count = std::to_string(progress.done) + "/" + std::to_string(progress.all);
  switch (progress.phase) {
    case ExploreProgress::Phase::kBaseline:
      return "baseline run " + count;
    case ExploreProgress::Phase::kConfirmations:
      return "trying causes once more: " + count;
    default:
      break;
  }
  const size_t full = progress.all == 0 ? kWidth : progress.done * kWidth / progress.all;
  return "[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] " + count +
         " restarts, " + std::to_string(progress.causes) +
         (progress.causes == 1 ? " cause" : " causes");
}

std::function<void(const ExploreProgress&)> ProgressLine(const Io& io) {
  const auto show = LiveLine(io);
  if (!show) return nullptr;
  return [show](const ExploreProgress& progress) {
    show(progress.phase == ExploreProgress::Phase::kOver ? "" : ProgressText(progress));
  };
}

}  // namespace caip::cli
