#include "emulator/api/control/study.h"

#include <cmath>

#include "base/json.h"
#include "base/time_text.h"
#include "emulator/api/error_body.h"
#include "engine/study.h"
#include "ml/environment.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"

namespace caip::api {
namespace {

Json NumberJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json ReportsJson(const std::vector<engine::Report>& reports) {
  Json list = Json::array();
  for (const engine::Report& report : engine::ReportsThatCount(reports)) {
    list.push_back(Json{{"step", report.step},
                        {"value", NumberJson(report.value)},
                        {"time", NumberJson(report.time)}});
  }
  return list;
}

Result<Json> StudyOf(engine::Engine& engine, const Clock& clock, const std::string& project,
                     const std::string& job_id) {
  ASSIGN_OR_RETURN(const std::vector<engine::TrialRecord> trials, engine.Trials(project, job_id));
  ASSIGN_OR_RETURN(const run::Job stored, engine.Get(project, job_id));
  ASSIGN_OR_RETURN(const ml::Job job, ml::RenderJob(stored));
  Json measurements = Json::object();
  for (const engine::TrialRecord& trial : trials) {
    measurements[trial.job.key.trial] = ReportsJson(trial.reports);
  }
  Json answer = {{"job", ml::ToStoredJson(job)},
                 {"now", Rfc3339(clock.Now(), 9)},
                 {"measurements", std::move(measurements)}};
  if (job.training_input) answer["metric"] = ml::MetricTagOf(*job.training_input);
  return answer;
}

}  // namespace

std::vector<http::Route> StudyRoutes(engine::Engine& engine, const Clock& clock) {
  return {{"GET", "/emulator/v1/projects/{project}/jobs/{job}/trials", "emulator.trials.list",
           [&engine, &clock](const http::Request& request, const http::PathParameters& at) {
             return Respond(request, StudyOf(engine, clock, at.At("project"), at.At("job")));
           }}};
}

}  // namespace caip::api
