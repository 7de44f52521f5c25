#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/file_places.h"

namespace caip::harness {
namespace {

constexpr size_t kShown = 4;
constexpr char kDefaultTag[] = "training/hptuning/metric";

// "" of a job that tunes nothing.
std::string TagOf(const CheckedTrainer& trainer) {
  if (!trainer.metric.empty()) return trainer.metric;
  const Json* tuning = Member(trainer.job.training_input, "hyperparameters");
  if (!tuning) return "";
  const std::string tag = StringOr(*tuning, "hyperparameterMetricTag");
  return tag.empty() ? kDefaultTag : tag;
}

// What may have been meant for a report.
std::vector<std::string> FoundInstead(const Course& course, const CourseRun& run,
                                      const std::string& tag) {
  std::vector<std::string> lines;
  for (const TriedReport& report : run.traces.tried_reports) {
    const std::string what = report.tag.empty()  ? "a line that is no JSON object: "
                             : report.tag == tag ? "this tag, with no number: "
                                                 : "the tag '" + report.tag + "': ";
    lines.push_back(report.where + " has " + what + report.value.substr(0, 100));
  }
  for (const auto& [object, last] : run.evidence.objects) {
    if (object.find("tfevents") == std::string::npos) continue;
    lines.push_back("no scalar of the tag that counts in the event file gs://" + object);
  }
  const FilePlaces places(course, run);
  for (const TouchedFile& file : run.traces.files) {
    const bool is_event = file.path.find("tfevents") != std::string::npos;
    if (is_event && file.written) lines.push_back("not below job-dir: " + places.Shown(file));
  }
  for (const std::string& line : LastLines(run, "", SIZE_MAX)) {
    if (lines.size() >= kShown) break;
    if (line.find(tag) != std::string::npos) lines.push_back("printed only: " + line);
  }
  return lines;
}

Ruling Fail(const Course& course, const CourseRun& run, const std::string& tag) {
  Ruling ruling{CheckVerdict::kFail, "no value of '" + tag + "' was reported"};
  ruling.evidence = FoundInstead(course, run, tag);
  if (ruling.evidence.empty()) ruling.evidence.push_back("nothing was written to the metric file");
  ruling.advice =
      "Report with hypertune.HyperTune().report_hyperparameter_tuning_metric("
      "hyperparameter_metric_tag='" +
      tag +
      "', metric_value=..., global_step=...) of cloudml-hypertune, on the master, or "
      "write a scalar summary of that tag below the --job-dir of the trial.";
  return ruling;
}

Ruling JudgeMetric(const Course& course) {
  const std::string tag = TagOf(course.trainer);
  if (tag.empty()) {
    return Skip(
        "the job asks for no tuning: give its --config with `hyperparameters`, or --metric");
  }
  const CourseRun& run = course.Of("plain");
  if (!run.succeeded()) return Skip("the trial does not succeed");
  const Happening* last = nullptr;
  size_t count = 0;
  for (const Happening& h : run.evidence.happenings) {
    if (h.kind != Happening::Kind::kMetric || h.text != tag || !h.record.contains("value"))
      continue;
    last = &h;
    ++count;
  }
  if (!last) return Fail(course, run, tag);
  return Pass(std::to_string(count) + (count == 1 ? " value" : " values") + " of '" + tag +
              "', the last at step " + std::to_string(last->step));
}

}  // namespace

CheckKind MetricCheck() {
  return {"tuning/metric",
          "A trial reports its metric where the service reads it.",
          "docs/service/hyperparameter-tuning.md, section 5",
          {"plain"},
          JudgeMetric};
}

}  // namespace caip::harness
