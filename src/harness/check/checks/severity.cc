// What a trainer prints to stderr is an ERROR in its job's log, and an alert for who watches it.

#include <re2/re2.h>

#include "base/text.h"
#include "harness/check/check.h"

namespace caip::harness {
namespace {

constexpr size_t kSeverityShown = 5;
constexpr size_t kLineMax = 200;

constexpr char kSeverityAdvice[] =
    "Print to stdout, or use `logging` as it is configured already (without a StreamHandler of "
    "your own or force=True): its records keep their level. In containers log to stdout, or one "
    "JSON object a line with a `severity`. Progress bars take file=sys.stdout.";

enum class Sort { kError, kNoError, kOther };

// By its own words.
Sort SortOf(const std::string& text) {
  static const RE2 error(R"re(^Traceback \(most recent call last\)|\b(ERROR|CRITICAL|FATAL)\b)re");
  static const RE2 words(R"re(\b(INFO|DEBUG|NOTICE|TRACE)\b|(?i:^(epoch|step)\b))re");
  static const RE2 record(R"re(^\s*\{.*"(step|epoch|loss|accuracy)".*\}\s*$)re");
  static const RE2 bar(R"re(\d%\||\d(it/s|s/it|ms/step|s/step)|\[=*>?\.*\]|\bETA:)re");
  const std::string begin = text.substr(0, kLineMax);
  const auto holds = [&begin](const RE2& pattern) { return RE2::PartialMatch(begin, pattern); };
  if (holds(error)) return Sort::kError;
  return holds(words) || holds(record) || holds(bar) ? Sort::kNoError : Sort::kOther;
}

std::string Shown(const PrintedLine& line) {
  const std::string text(Trim(line.text));
  const std::string first = text.substr(0, std::min(text.find('\n'), kLineMax));
  return line.replica + ": ERROR " + first;
}

Ruling JudgeSeverity(const Course& course) {
  const CourseRun& run = course.Of("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as it was given");
  std::vector<std::string> no_errors;
  std::vector<std::string> others;
  for (const PrintedLine& line : run.traces.raw_errors) {
    const Sort sort = SortOf(line.text);
    if (sort == Sort::kNoError) no_errors.push_back(Shown(line));
    if (sort == Sort::kOther) others.push_back(Shown(line));
  }
  if (no_errors.empty() && others.empty()) return Pass("a job that succeeds logs no false error");
  const bool fails = !no_errors.empty();
  const size_t count = no_errors.size() + others.size();
  Ruling ruling{fails ? CheckVerdict::kFail : CheckVerdict::kWarn,
                std::to_string(count) + (count == 1 ? " line" : " lines") +
                    " of stderr would be shown as errors in the log of a job that succeeds"};
  for (std::string& line : others) no_errors.push_back(std::move(line));
  if (no_errors.size() > kSeverityShown) {
    no_errors.resize(kSeverityShown);
    no_errors.push_back("and " + std::to_string(count - kSeverityShown) + " more");
  }
  ruling.evidence = std::move(no_errors);
  ruling.advice = kSeverityAdvice;
  return ruling;
}

}  // namespace

CheckKind SeverityCheck() {
  return {"logs/severity",
          "What is no error is not logged as one.",
          "docs/service/replica-environment.md, section 6: each line of stderr becomes an entry of "
          "level ERROR",
          {"plain"},
          JudgeSeverity};
}

}  // namespace caip::harness
