// The texts of the rules of hyperparameter tuning.

#include "base/json.h"
#include "base/quoting.h"
#include "ml/limits.h"
#include "ml/validate/violations.h"
#include "tuning/space.h"

namespace caip::ml::violations {
namespace {

std::string Shown(double number) { return CompactJson(Json(number)); }

FieldViolation OfParameter(size_t index, std::string_view field, std::string description) {
  return Tuning("params[" + std::to_string(index) + "]." + std::string(field),
                std::move(description));
}

}  // namespace

FieldViolation Tuning(std::string_view field, std::string description) {
  return {"hyperparameters." + std::string(field), std::move(description)};
}

FieldViolation ParametersMissing() {
  return Tuning("params", "The field is required. A tuning job needs at least one parameter.");
}

FieldViolation ParameterNameIllegal(size_t index, std::string_view name) {
  return OfParameter(index, "parameter_name",
                     "The parameter name " + Quoted(name) +
                         " is illegal. It becomes the flag --NAME, so it must have letters, "
                         "digits, '-' and '_' only, and at least one.");
}

FieldViolation ParameterNameTwice(size_t index, std::string_view name) {
  return OfParameter(index, "parameter_name",
                     "The parameter name " + Quoted(name) + " is used twice. Names are unique.");
}

FieldViolation ParameterTypeMissing(size_t index) {
  return OfParameter(index, "type",
                     "The field is required. Set it to DOUBLE, INTEGER, CATEGORICAL or DISCRETE.");
}

FieldViolation BoundsMissing(size_t index, std::string_view type) {
  return OfParameter(index, "min_value",
                     "A parameter of type " + std::string(type) +
                         " needs min_value or max_value. The other one is 0 if it is missing.");
}

FieldViolation BoundNotFinite(size_t index, std::string_view bound) {
  return OfParameter(index, bound, "The bound must be a finite number.");
}

FieldViolation BoundNotIntegral(size_t index, std::string_view bound, double value) {
  return OfParameter(index, bound,
                     "The bound " + Shown(value) +
                         " is not a 64-bit integer. A parameter of type INTEGER needs a 64-bit "
                         "integer. Use type DOUBLE for fractions.");
}

FieldViolation BoundsReversed(size_t index, double least, double most, bool is_most_missing) {
  const std::string shown =
      Shown(most) + (is_most_missing ? ", because the field is missing," : "");
  return OfParameter(index, "max_value",
                     "The maximum " + shown + " is less than the minimum " + Shown(least) + ".");
}

FieldViolation NotForType(size_t index, std::string_view field, std::string_view type) {
  return OfParameter(index, field,
                     std::string(field) + " must not be set for a parameter of type " +
                         std::string(type) + ". Remove it.");
}

FieldViolation ValuesMissing(size_t index, std::string_view field, std::string_view type) {
  return OfParameter(index, field,
                     "The field is required for a parameter of type " + std::string(type) +
                         ". Give at least one value.");
}

FieldViolation TooManyValues(size_t index, std::string_view field, size_t count, size_t most) {
  return OfParameter(index, field,
                     "The parameter has " + std::to_string(count) + " values. At most " +
                         std::to_string(most) + " are allowed.");
}

FieldViolation ValuesNotIncreasing(size_t index, size_t at) {
  return OfParameter(index, "discrete_values",
                     "The values must be strictly increasing, but value " + std::to_string(at) +
                         " is not greater than the one before it (counted from 0).");
}

FieldViolation ValueNotFinite(size_t index, size_t at) {
  return OfParameter(index, "discrete_values",
                     "Value " + std::to_string(at) + " is not a finite number (counted from 0).");
}

FieldViolation LogScaleNotPositive(size_t index, std::string_view scale, double least) {
  return OfParameter(index, "scale_type",
                     "The scale " + std::string(scale) +
                         " needs strictly positive values, but the least is " + Shown(least) +
                         ". Raise it, or use UNIT_LINEAR_SCALE.");
}

FieldViolation GridWithDouble(size_t index, std::string_view name) {
  return OfParameter(index, "type",
                     "GRID_SEARCH has no grid for parameter " + Quoted(name) +
                         " of type DOUBLE. Use INTEGER, CATEGORICAL or DISCRETE, or another "
                         "algorithm.");
}

FieldViolation AlgorithmNotEmulated(std::string_view algorithm) {
  return Tuning("algorithm", "The algorithm " + std::string(algorithm) +
                                 " is not emulated: its behaviour is not documented. Leave the "
                                 "field out, or use GRID_SEARCH or RANDOM_SEARCH.");
}

FieldViolation TrialsNotPositive(std::string_view field, int32_t value) {
  return Tuning(field,
                "The number " + std::to_string(value) + " is illegal. It must be 1 or more.");
}

FieldViolation TrialsNegative(int32_t value) {
  return Tuning("max_failed_trials", "The number " + std::to_string(value) +
                                         " is negative. It must be 1 or more, or 0 to let the "
                                         "service decide.");
}

FieldViolation TooManyParallelTrials(int32_t parallel, int32_t limit) {
  return Tuning("max_parallel_trials", "The job asks for " + std::to_string(parallel) +
                                           " trials at a time; one machine emulates " +
                                           std::to_string(limit) + " at the most.");
}

FieldViolation ResumedIdMalformed(std::string_view job_id) {
  return Tuning(
      "resume_previous_job_id",
      Quoted(job_id) + " is not a valid job id. Name an earlier tuning job of the project.");
}

}  // namespace caip::ml::violations
