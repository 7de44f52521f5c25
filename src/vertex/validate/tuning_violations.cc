#include "vertex/validate/tuning_violations.h"

#include <initializer_list>

#include "base/quoting.h"
#include "tuning/space.h"
#include "vertex/limits.h"

namespace caip::vertex::violations {
namespace {

std::string TuningWords(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace

std::string IdMalformed(std::string_view id) {
  return TuningWords({"The id ", Quoted(id), " has whitespace or a NUL character. Remove it."});
}

std::string ParameterIdTwice(std::string_view id) {
  return TuningWords({"The id ", Quoted(id), " is used twice. The ids of parameters are unique."});
}

std::string TooManyParameters(size_t count) {
  return TuningWords({"The study has ", std::to_string(count), " parameters. At most ",
                      std::to_string(kStudyParametersMax), " are allowed."});
}

std::string SeveralMetrics(size_t count) {
  return TuningWords({"caip optimizes one metric, and the study has ", std::to_string(count),
                      ". Remove the others."});
}

std::string ElapsedDuration() {
  return "caip compares trials by their steps, and does not serve 'useElapsedDuration'. Remove the "
         "field.";
}

std::string AlternativeParameters(std::string_view id) {
  return TuningWords({"caip does not serve several conditional parameters with the id ", Quoted(id),
                      ". Use another id for each."});
}

std::string ValueSpecs(bool has_several) {
  return TuningWords(
      {"Exactly one of double_value_spec, integer_value_spec, categorical_value_spec "
       "and discrete_value_spec must be set, but ",
       has_several ? "several are. Keep one of them." : "none is. Set one of them."});
}

std::string DefaultValue() {
  return "Default values are not supported: the first trial has values of the algorithm. Remove "
         "the "
         "field.";
}

std::string BoundNotFinite() { return "The bound must be a finite number."; }

std::string BoundsReversed(std::string_view least, std::string_view most) {
  return TuningWords({"The maximum ", most, " is less than the minimum ", least, ". Swap them."});
}

std::string LogScaleNotPositive(std::string_view scale, std::string_view least) {
  return TuningWords({"The scale ", scale, " needs values above 0, but the least is ", least,
                      ". Raise it, or use UNIT_LINEAR_SCALE."});
}

std::string ScaleOfCategories() {
  return "A categorical parameter has no scale. Remove the field.";
}

std::string TooManyValues(size_t count, size_t most) {
  return TuningWords({"The parameter has ", std::to_string(count), " values. At most ",
                      std::to_string(most), " are allowed."});
}

std::string ValueNotFinite(size_t index) {
  return TuningWords(
      {"Value ", std::to_string(index), " is not a finite number (counted from 0)."});
}

std::string ValuesNotIncreasing(size_t index) {
  return TuningWords({"The values must increase by at least 1e-10, but value ",
                      std::to_string(index),
                      " is not that much above the one before it (counted from 0)."});
}

std::string GridWithDouble(std::string_view id) {
  return TuningWords({"GRID_SEARCH has no grid for the parameter ", Quoted(id),
                      ". Use discrete_value_spec, or another algorithm."});
}

std::string ConditionOnDouble(std::string_view parent) {
  return TuningWords({"The parameter ", Quoted(parent),
                      " has a double_value_spec, and nothing can depend on it. Use "
                      "discrete_value_spec."});
}

std::string ConditionOfOtherType(std::string_view parent, std::string_view field) {
  return TuningWords({"The condition does not fit the values of the parameter ", Quoted(parent),
                      ". Use ", field, "."});
}

std::string NotAValueOfParent(std::string_view value, std::string_view parent) {
  return TuningWords({Quoted(value), " is not a value of the parameter ", Quoted(parent),
                      ". Name values that it can have."});
}

std::string TrialCountNegative(int64_t count) {
  return TuningWords(
      {"The number of trials ", std::to_string(count), " is negative. Use 1 or more."});
}

std::string TooManyTrials(int64_t count, int64_t limit) {
  return TuningWords({"The job asks for ", std::to_string(count), " trials. At most ",
                      std::to_string(limit), " are allowed."});
}

std::string FailedTrialsAboveAll(int64_t failed, int64_t all) {
  return TuningWords({"The number of failed trials ", std::to_string(failed),
                      " is above max_trial_count, which is ", std::to_string(all),
                      ". Lower it, or omit it."});
}

std::string TrialsOnTpu(std::string_view accelerator) {
  return TuningWords({"Trials cannot use TPUs, and the worker pool has ", accelerator,
                      ". Use GPUs, or no accelerators."});
}

}  // namespace caip::vertex::violations
