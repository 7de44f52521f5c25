// The chapter tuning: the metric of a trial.

#include "base/text.h"
#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/file_places.h"

namespace caip::harness {
namespace {

// "" for a job that tunes nothing.
std::string MetricTagOf(const CheckedTrainer& trainer) {
  if (!trainer.metric.empty()) return trainer.metric;
  const Json* tuning = Member(trainer.job.training_input, "hyperparameters");
  if (!tuning) return "";
  const std::string tag = StringOr(*tuning, "hyperparameterMetricTag");
  return tag.empty() ? "training/hptuning/metric" : tag;
}

// What the trainer may have meant as a report.
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
