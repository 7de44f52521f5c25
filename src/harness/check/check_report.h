#pragma once
// The report of `caip check`, for people, for CI and for programs.

#include <string>
#include <utility>
#include <vector>

#include "harness/check/check.h"

namespace caip::harness {

struct CheckOutcome {
  const CheckKind* check = nullptr;
  CheckResult result;
};

struct CheckReport {
  std::string subject;                                      // "trainer.task", an image
  std::vector<CheckOutcome> outcomes;                       // in the order of CheckKinds()
  std::vector<std::pair<std::string, Duration>> runs = {};  // the time that each run took
  Duration took{0};
  bool interrupted = false;
  std::string replay;       // the command without --filter
  std::string replay_args;  // the arguments after --filter

  size_t Count(CheckVerdict verdict) const;
};

/// The command that repeats one check.
std::string ReplayOf(const CheckReport& report, const CheckKind& check);

struct CheckTextStyle {
  bool colours = false;
  bool verbose = false;
};
/// Failures come first, by chapter, then warnings, the other checks and the sums.
std::string TextReport(const CheckReport& report, const CheckTextStyle& style);
/// docs/check-report.schema.json has the schema.
Json JsonReport(const CheckReport& report);
/// JUnit's XML: one test suite for each chapter.
std::string JunitReport(const CheckReport& report);
/// TAP version 13.
std::string TapReport(const CheckReport& report);
/// Workflow commands of GitHub Actions: an error or a warning for each check that is not OK.
std::string GithubReport(const CheckReport& report);
/// The checks as a list: id and sentence.
std::string CheckList(const std::vector<const CheckKind*>& checks);
/// "arguments" for "arguments/job-dir".
std::string ChapterOf(const CheckKind& check);

}  // namespace caip::harness
