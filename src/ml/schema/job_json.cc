#include "ml/schema/job_json.h"

#include <cmath>

#include "base/json.h"
#include "google/errors.h"
#include "google/message_schema.h"
#include "google/transcoder.h"
#include "ml/errors.h"
#include "ml/schema/job_plain.h"
#include "ml/schema/job_schema.h"

namespace caip::ml {
namespace {

constexpr google::WriteStyle kApiStyle{.camel_case = true, .fraction_digits = 0};
constexpr google::WriteStyle kStoredStyle{.camel_case = true, .fraction_digits = 9};
constexpr google::WriteStyle kProtoStyle{.camel_case = false, .fraction_digits = 0};

// Answers show no member of a tuning job that has the default value, not even a bound of 0, and no
// tier BASIC, which is the zero of its enum (docs/service/api.md, sections 1 and 7).
void RemoveZeros(Json& plain) {
  if (plain.contains("training_input")) {
    Json& input = plain["training_input"];
    if (StringOr(input, "scale_tier") == "BASIC") input.erase("scale_tier");
    const google::FieldSchema* field = TrainingInputSchema().Find("hyperparameters");
    if (input.contains("hyperparameters")) {
      google::RemoveDefaults(input["hyperparameters"], *field->message);
    }
  }
  if (plain.contains("training_output")) {
    google::RemoveDefaults(plain["training_output"], *JobSchema().Find("training_output")->message);
  }
}

// A client may send a received Job back. The service ignores output-only fields.
void ForgetOutput(Json& plain) {
  for (const google::FieldSchema& field : JobSchema().fields) {
    if (field.output_only) plain.erase(std::string(field.proto_name));
  }
}

}  // namespace

Result<Job> ParseJob(const Json& body) {
  if (!body.is_object()) return errors::BodyNoObject();
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(body, JobSchema(), "job", violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  ForgetOutput(plain);
  return JobFromPlain(plain);
}

Json ToJson(const Job& job) {
  Json plain = PlainFromJob(job);
  if (plain.contains("training_output") && plain["training_output"].contains("consumed_ml_units")) {
    Json& units = plain["training_output"]["consumed_ml_units"];
    units = std::round(units.get<double>() * 100) / 100;  // two decimals, as real answers have
  }
  RemoveZeros(plain);
  return google::WriteMessage(plain, JobSchema(), kApiStyle);
}

Json ToStoredJson(const Job& job) {
  return google::WriteMessage(PlainFromJob(job), JobSchema(), kStoredStyle);
}

Result<Job> FromStoredJson(const Json& stored) {
  std::vector<FieldViolation> violations;
  const Json plain = google::ReadMessage(stored, JobSchema(), "job", violations);
  if (!violations.empty()) {
    return errors::StoredJobBroken(google::errors::NotTheMessage(std::move(violations)));
  }
  return JobFromPlain(plain);
}

Json ToSnakeCaseJson(const TrainingInput& input) {
  return google::WriteMessage(PlainFromTrainingInput(input), TrainingInputSchema(), kProtoStyle);
}

}  // namespace caip::ml
