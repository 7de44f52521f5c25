#pragma once
// The reports of a run, for people and for CI systems.

#include <string>

#include "conformance/format/rule_book.h"
#include "conformance/runner.h"

namespace conform {

/// What the reports need in addition to the run.
struct ReportFacts {
  std::string target;  // its name
  std::string replay;  // the command line before --filter
  bool colour = false;
  bool verbose = false;
  const RuleBook* rules = nullptr;
};

/// For people: failures by chapter, then the chapters and the total.
std::string TextReport(const Run& run, const ReportFacts& facts);
/// JUnit XML with one test suite for each chapter.
std::string JunitReport(const Run& run, const ReportFacts& facts);
/// docs/conformance-report.schema.json has the schema.
std::string JsonReport(const Run& run, const ReportFacts& facts);
/// TAP version 13.
std::string TapReport(const Run& run, const ReportFacts& facts);
/// Workflow commands of GitHub Actions: for each failure an error at the place of its case.
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
