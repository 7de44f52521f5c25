// The chapter logs: the severity of lines. The chapter tuning: the metric of a trial.

#include <re2/re2.h>

#include "base/text.h"
#include "harness/check/check.h"
#include "harness/check/file_places.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

constexpr size_t kSeverityLineMax = 200;  // bytes

enum class LineSort { kError, kNotAnError, kUnknown };

// Classifies a line of stderr by words in it.
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

namespace {

// The tag of the metric; "" for a job without tuning.
std::string MetricTagOf(const CheckedTrainer& trainer) {
  if (!trainer.metric.empty()) return trainer.metric;
  return trainer.job.kind->MetricTagOf(trainer.job.document);
}

// Lines and files that the trainer may have meant as reports.
std::vector<std::string> FindOtherReports(const CheckSession& session, const CheckRun& run,
                                          const std::string& tag) {
  constexpr size_t kShown = 4;
  std::vector<std::string> lines;
  for (const TriedReport& report : run.traces.tried_reports) {
    const std::string what = report.tag.empty()  ? "a line that is not a JSON object: "
                             : report.tag == tag ? "this tag without a number: "
                                                 : "the tag '" + report.tag + "': ";
    lines.push_back(report.where + " has " + what + report.value.substr(0, 100));
  }
  for (const auto& [object, last] : run.evidence.objects) {
    if (object.find("tfevents") == std::string::npos) continue;
    lines.push_back("the event file gs://" + object + " has no scalar of this tag");
  }
  const FilePlaces places(session, run);
  for (const TouchedFile& file : run.traces.files) {
    const bool is_event = file.path.find("tfevents") != std::string::npos;
    if (is_event && file.written) lines.push_back("not below job-dir: " + places.Shown(file));
  }
  for (const std::string& line : LastLines(run, "", SIZE_MAX)) {
    if (lines.size() >= kShown) break;
    if (line.find(tag) != std::string::npos) lines.push_back("only printed: " + line);
  }
  return lines;
}

CheckResult FailWithoutMetric(const CheckSession& session, const CheckRun& run,
                              const std::string& tag) {
  CheckResult result{CheckVerdict::kFail, "no value of '" + tag + "' was reported"};
  result.evidence = FindOtherReports(session, run, tag);
  if (result.evidence.empty()) result.evidence.push_back("nothing was written to the metric file");
  result.advice =
      "Report on the master with hypertune.HyperTune().report_hyperparameter_tuning_metric("
      "hyperparameter_metric_tag='" +
      tag +
      "', metric_value=..., global_step=...) of cloudml-hypertune, or write a scalar summary of "
      "that tag below the --job-dir of the trial.";
  return result;
}

CheckResult CheckMetric(const CheckSession& session) {
  const std::string tag = MetricTagOf(session.trainer);
  if (tag.empty()) {
    return Skip("the job does not tune; give a --config with `hyperparameters`, or --metric");
  }
  const CheckRun& run = session.Run("plain");
  if (!run.succeeded()) return Skip("the trial does not succeed");
  const MetricEvent* last = nullptr;
  size_t count = 0;
  for (const Event& event : run.evidence.events) {
    const auto* report = event.As<MetricEvent>();
    if (!report || report->tag != tag || !report->record.contains("value")) continue;
    last = report;
    ++count;
  }
  if (!last) return FailWithoutMetric(session, run, tag);
  return Pass(std::to_string(count) + (count == 1 ? " value" : " values") + " of '" + tag +
              "', the last at step " + std::to_string(last->step));
}

}  // namespace

std::vector<CheckKind> TuningChecks() {
  return {
      {"tuning/metric",
       "A trial reports its metric where the service reads it.",
       "docs/service/hyperparameter-tuning.md, section 5",
       {"plain"},
       CheckMetric},
  };
}

}  // namespace caip::harness
