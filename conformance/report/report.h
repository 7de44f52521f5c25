#pragma once
// How a run went, in the forms that people and CI read.

#include <string>

#include "conformance/format/rule_book.h"
#include "conformance/runner.h"

namespace conform {

/// What the reports need beside the run.
struct ReportFacts {
  std::string target;  // its name
  std::string replay;  // the command line up to the filter
  bool colour = false;
  bool verbose = false;
  const RuleBook* rules = nullptr;
};

/// For people: failures first, by chapter; then the chapters and the sum.
std::string TextReport(const Run& run, const ReportFacts& facts);
/// JUnit's XML, a test suite a chapter.
std::string JunitReport(const Run& run, const ReportFacts& facts);
/// docs/conformance-report.schema.json has the schema.
std::string JsonReport(const Run& run, const ReportFacts& facts);
/// TAP version 13.
std::string TapReport(const Run& run, const ReportFacts& facts);
/// Workflow commands of GitHub Actions: an error at the case's place for each failure.
std::string GithubReport(const Run& run, const ReportFacts& facts);
/// A table of chapters and the failures, for documentation.
std::string MarkdownReport(const Run& run, const ReportFacts& facts);

/// The command that runs one case again.
std::string ReplayOf(const Case& one, const ReportFacts& facts);
/// "passed", "failed", ...
std::string NameOf(Verdict verdict);
bool IsBad(Verdict verdict);

/// Cases of each chapter by verdict, chapters in order.
struct ChapterSum {
  std::string chapter;
  int passed = 0, bad = 0, missed = 0, skipped = 0, not_run = 0;
  double seconds = 0;
};
std::vector<ChapterSum> SumsOf(const Run& run);

}  // namespace conform
