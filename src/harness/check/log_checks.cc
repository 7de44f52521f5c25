// The chapter logs: what a trainer prints to stderr becomes an ERROR in the job's log, and an alert
// for whoever watches it.

#include <re2/re2.h>

#include "base/text.h"
#include "harness/check/check.h"

namespace caip::harness {
namespace {

constexpr size_t kSeverityLineMax = 200;  // bytes

enum class LineSort { kError, kNotAnError, kUnknown };

// By the words of the line.
LineSort SortErrorLine(const std::string& text) {
  static const RE2 error(R"re(^Traceback \(most recent call last\)|\b(ERROR|CRITICAL|FATAL)\b)re");
  static const RE2 words(R"re(\b(INFO|DEBUG|NOTICE|TRACE)\b|(?i:^(epoch|step)\b))re");
  static const RE2 record(R"re(^\s*\{.*"(step|epoch|loss|accuracy)".*\}\s*$)re");
  static const RE2 bar(R"re(\d%\||\d(it/s|s/it|ms/step|s/step)|\[=*>?\.*\]|\bETA:)re");
  const std::string begin = text.substr(0, kSeverityLineMax);
  const auto holds = [&begin](const RE2& pattern) { return RE2::PartialMatch(begin, pattern); };
  if (holds(error)) return LineSort::kError;
  const bool harmless = holds(words) || holds(record) || holds(bar);
  return harmless ? LineSort::kNotAnError : LineSort::kUnknown;
}

std::string DescribeErrorLine(const PrintedLine& line) {
  const std::string text(Trim(line.text));
  const std::string first = text.substr(0, std::min(text.find('\n'), kSeverityLineMax));
  return line.replica + ": ERROR " + first;
}

CheckResult CheckSeverity(const CheckSession& session) {
  constexpr size_t kShown = 5;
  const CheckRun& run = session.Run("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as given");
  std::vector<std::string> lines;
  std::vector<std::string> unknown;
  for (const PrintedLine& line : run.traces.raw_errors) {
    const LineSort sort = SortErrorLine(line.text);
    if (sort == LineSort::kNotAnError) lines.push_back(DescribeErrorLine(line));
    if (sort == LineSort::kUnknown) unknown.push_back(DescribeErrorLine(line));
  }
  if (lines.empty() && unknown.empty()) return Pass("the log of a successful job has no errors");
  const bool fails = !lines.empty();
  const size_t count = lines.size() + unknown.size();
  CheckResult result{fails ? CheckVerdict::kFail : CheckVerdict::kWarn,
                     std::to_string(count) + (count == 1 ? " line" : " lines") +
                         " of stderr would appear as errors in the log of a successful job"};
  for (std::string& line : unknown) lines.push_back(std::move(line));
  if (lines.size() > kShown) {
    lines.resize(kShown);
    lines.push_back("and " + std::to_string(count - kShown) + " more");
  }
  result.evidence = std::move(lines);
  result.advice =
      "Print to stdout, or use `logging` as it is already configured (without a StreamHandler of "
      "your own or force=True): its records keep their level. In containers log to stdout, or one "
      "JSON object a line with a `severity`. Give progress bars file=sys.stdout.";
  return result;
}

}  // namespace

std::vector<CheckKind> LogChecks() {
  return {
      {"logs/severity",
       "Only errors are logged as errors.",
       "docs/service/replica-environment.md, section 6: each line of stderr becomes an entry of "
       "level ERROR",
       {"plain"},
       CheckSeverity},
  };
}

}  // namespace caip::harness
