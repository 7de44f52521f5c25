#include "spec/job_json.h"

#include <cmath>

#include "base/json.h"
#include "spec/errors.h"
#include "spec/job_plain.h"
#include "spec/message_schema.h"
#include "spec/transcoder.h"

namespace caip::spec {
namespace {

constexpr WriteStyle kApiStyle{.camel_case = true, .fraction_digits = 0};
constexpr WriteStyle kStoredStyle{.camel_case = true, .fraction_digits = 9};
constexpr WriteStyle kProtoStyle{.camel_case = false, .fraction_digits = 0};

// A client may send back what it once got; the service ignores what only it can say.
void ForgetOutput(Json& plain) {
  for (const FieldSchema& field : JobSchema().fields) {
    if (field.output_only) plain.erase(std::string(field.proto_name));
  }
}

}  // namespace

Result<Job> ParseJob(const Json& body) {
  if (!body.is_object()) return errors::BodyNoObject();
  std::vector<FieldViolation> violations;
  Json plain = ReadMessage(body, JobSchema(), "job", violations);
  if (!violations.empty()) return errors::NotTheMessage(std::move(violations));
  ForgetOutput(plain);
  return JobFromPlain(plain);
}

Json ToJson(const Job& job) {
  Json plain = PlainFromJob(job);
  if (plain.contains("training_output") && plain["training_output"].contains("consumed_ml_units")) {
    Json& units = plain["training_output"]["consumed_ml_units"];
    units = std::round(units.get<double>() * 100) / 100;  // two decimals, as real answers have
  }
  return WriteMessage(plain, JobSchema(), kApiStyle);
}

Json ToStoredJson(const Job& job) {
  return WriteMessage(PlainFromJob(job), JobSchema(), kStoredStyle);
}

Result<Job> FromStoredJson(const Json& stored) {
  std::vector<FieldViolation> violations;
  const Json plain = ReadMessage(stored, JobSchema(), "job", violations);
  if (!violations.empty()) {
    return errors::StoredJobBroken(errors::NotTheMessage(std::move(violations)));
  }
  return JobFromPlain(plain);
}

Json ToSnakeCaseJson(const TrainingInput& input) {
  return WriteMessage(PlainFromTrainingInput(input), TrainingInputSchema(), kProtoStyle);
}

}  // namespace caip::spec
