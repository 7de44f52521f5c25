#include "emulator/cli/print/job_summary.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "report/box_table.h"
#include "run/texts.h"

namespace caip::cli {
namespace {

constexpr int kIndent = 4;

struct Column {
  std::string_view field;
  std::string_view heading;
  bool optional;  // left out if the job lacks it
};

constexpr Column kOverview[] = {{"jobId", "JOB_ID", false},
                                {"createTime", "CREATE_TIME", false},
                                {"startTime", "START_TIME", false},
                                {"endTime", "END_TIME", false},
                                {"state", "STATE", false}};
constexpr Column kTrainingInput[] = {{"runtimeVersion", "RUNTIME_VERSION", true},
                                     {"region", "REGION", false},
                                     {"scaleTier", "SCALE_TIER", true},
                                     {"pythonModule", "PYTHON_MODULE", false},
                                     {"parameterServerType", "PARAMETER_SERVER_TYPE", true},
                                     {"parameterServerCount", "PARAMETER_SERVER_COUNT", true},
                                     {"masterType", "MASTER_TYPE", true},
                                     {"workerType", "WORKER_TYPE", true},
                                     {"workerCount", "WORKER_COUNT", true},
                                     {"jobDir", "JOB_DIR", true}};
constexpr Column kTrainingOutput[] = {{"completedTrialCount", "TRIALS", true},
                                      {"consumedMLUnits", "ML_UNITS", false}};

// Formats a value as gcloud shows it in a cell, with Python's words for booleans.
std::string Cell(const Json* value) {
  if (!value || value->is_null()) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_boolean()) return value->get<bool>() ? "True" : "False";
  return value->dump();
}

// A number of a message that is there. Answers leave out zeros (docs/service/api.md, section 1).
std::string NumberCell(const Json* value) { return value ? Cell(value) : "0"; }

// Formats a double with Python's %g, as gcloud does. It also accepts the texts by which JSON
// represents numbers.
std::string ObjectiveCell(const Json* value) {
  if (value && value->is_number()) return run::texts::ShortNumber(value->get<double>());
  const std::string text = NumberCell(value);
  return text == "NaN" ? "nan" : text == "Infinity" ? "inf" : text == "-Infinity" ? "-inf" : text;
}

template <size_t n>
std::string Table(const char* title, const Column (&columns)[n], const Json& source, int indent) {
  report::BoxTable table{title, {}, {{}}};
  for (const Column& column : columns) {
    const Json* value = Member(source, column.field);
    if (column.optional && !value) continue;
    table.headings.emplace_back(column.heading);
    table.rows[0].push_back(Cell(value));
  }
  return report::Boxed(table, indent);
}

std::string OutputTable(Json output, bool tuning) {
  if (tuning && output.is_object()) output.emplace("completedTrialCount", "0");  // or has one
  return Table("Training Output Summary", kTrainingOutput, output, kIndent);
}

std::string TrialTable(const Json& trials) {
  std::vector<const Json*> sorted;
  for (const Json& trial : trials) sorted.push_back(&trial);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) {
    return StringOr(*a, "trialId") < StringOr(*b, "trialId");  // as text: "10" before "2"
  });
  report::BoxTable table{
      "Training Output Trials", {"TRIAL", "OBJECTIVE_VALUE", "STEP", "HYPERPARAMETERS"}, {}};
  for (const Json* trial : sorted) {
    const Json* metric = Member(*trial, "finalMetric");
    std::string parameters;
    if (const Json* values = Member(*trial, "hyperparameters"); values && values->is_object()) {
      for (const auto& [name, value] : values->items()) {
        parameters += (parameters.empty() ? "" : "\n") + name + "=" + Cell(&value);
      }
    }
    table.rows.push_back({StringOr(*trial, "trialId"),
                          metric ? ObjectiveCell(Member(*metric, "objectiveValue")) : "",
                          metric ? NumberCell(Member(*metric, "trainingStep")) : "", parameters});
  }
  return report::Boxed(table, kIndent);
}

}  // namespace

std::string JobSummary(const Json& job) {
  std::string text = Table("Job Overview", kOverview, job, 0);
  const Json* input = Member(job, "trainingInput");
  const Json* output = Member(job, "trainingOutput");
  const bool tuning = input && Member(*input, "hyperparameters");
  if (input && !tuning) text += Table("Training Input Summary", kTrainingInput, *input, kIndent);
  if (output) text += OutputTable(*output, tuning);
  const Json* trials = output ? Member(*output, "trials") : nullptr;
  if (tuning && trials && !trials->empty()) text += TrialTable(*trials);
  return text;
}

}  // namespace caip::cli
