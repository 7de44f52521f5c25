// The parts that all reports share, and the report for people.

#include "conformance/report/report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace conform {
namespace {

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
};

std::string Indented(const std::string& text, const std::string& margin) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += margin + line + "\n";
  return out;
}

void AddFailure(const Case& one, const Outcome& outcome, const ReportFacts& facts,
                const Paint& paint, std::ostringstream& out) {
  out << paint("1;31", NameOf(outcome.verdict)) << " " << paint("1", one.id) << "\n";
  out << "  " << one.sentence << "\n";
  out << Indented(outcome.why, "  ");
  for (const Mismatch& mismatch : outcome.mismatches) {
    out << "    " << paint("33", mismatch.where.empty() ? "the answer" : mismatch.where) << ": "
        << mismatch.text << "\n";
  }
  if (facts.verbose) out << Indented(outcome.seen, "    | ");
  if (facts.rules) out << "  source: " << SourceOf(one, *facts.rules) << "\n";
  out << "  case:   " << one.place << "\n  again:  " << ReplayOf(one, facts) << "\n\n";
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1fs", seconds);
  return text;
}

void AddCount(int count, const char* what, std::string* line) {
  if (count > 0) *line += (line->empty() ? "" : ", ") + std::to_string(count) + " " + what;
}

}  // namespace

std::string NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kMissed:
      return "known miss";
    case Verdict::kUnexpected:
      return "passed unexpectedly";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kNotRun:
      return "not run";
  }
  return "";
}

bool IsBad(Verdict verdict) {
  return verdict == Verdict::kFailed || verdict == Verdict::kUnexpected;
}

std::string ReplayOf(const Case& one, const ReportFacts& facts) {
  return facts.replay + " --filter '" + one.id + "'";
}

std::vector<ChapterSum> SumsOf(const Run& run) {
  std::vector<ChapterSum> sums;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const std::string& chapter = run.cases[i].chapter;
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const ChapterSum& one) { return one.chapter == chapter; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), ChapterSum{chapter});
    const Outcome& outcome = run.outcomes[i];
    sum->passed += outcome.verdict == Verdict::kPassed;
    sum->bad += IsBad(outcome.verdict);
    sum->missed += outcome.verdict == Verdict::kMissed;
    sum->skipped += outcome.verdict == Verdict::kSkipped;
    sum->not_run += outcome.verdict == Verdict::kNotRun;
    sum->seconds += outcome.seconds;
  }
  return sums;
}

std::string TextReport(const Run& run, const ReportFacts& facts) {
  const Paint paint{facts.colour};
  std::ostringstream out;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    if (IsBad(run.outcomes[i].verdict)) {
      AddFailure(run.cases[i], run.outcomes[i], facts, paint, out);
    }
  }
  for (const ChapterSum& sum : SumsOf(run)) {
    std::string line;
    AddCount(sum.passed, "passed", &line);
    AddCount(sum.bad, "FAILED", &line);
    AddCount(sum.missed, sum.missed == 1 ? "known miss" : "known misses", &line);
    AddCount(sum.skipped, "skipped", &line);
    AddCount(sum.not_run, "not run", &line);
    out << (sum.bad ? paint("31", "x") : paint("32", "+")) << " " << Padded(sum.chapter, 22) << line
        << "\n";
  }
  for (size_t i = 0; facts.verbose && i < run.cases.size(); ++i) {
    const Verdict verdict = run.outcomes[i].verdict;
    if (verdict == Verdict::kPassed || IsBad(verdict)) continue;
    out << NameOf(verdict) << ": " << run.cases[i].id << ": " << run.outcomes[i].why << "\n";
  }
  const int bad = run.Count(Verdict::kFailed) + run.Count(Verdict::kUnexpected);
  std::string sum = std::to_string(run.cases.size()) +
                    (run.cases.size() == 1 ? " case" : " cases") + " against " + facts.target +
                    ": ";
  sum +=
      std::to_string(run.Count(Verdict::kPassed)) + " passed, " + std::to_string(bad) + " failed";
  if (const int missed = run.Count(Verdict::kMissed)) {
    sum += ", " + std::to_string(missed) + (missed == 1 ? " known miss" : " known misses");
  }
  if (const int skipped = run.Count(Verdict::kSkipped)) {
    sum += ", " + std::to_string(skipped) + " skipped";
  }
  if (const int left = run.Count(Verdict::kNotRun)) sum += ", " + std::to_string(left) + " not run";
  out << paint(bad ? "1;31" : "1;32", sum) << " in " << Seconds(run.seconds) << "\n";
  if (run.interrupted) out << "Interrupted: this report covers the cases that ran before.\n";
  return out.str();
}

}  // namespace conform
