#include "tuning/errors.h"

#include <string>

#include "base/quoting.h"
#include "tuning/value.h"

namespace caip::tuning::errors {
namespace {

Error Illegal(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

}  // namespace

Error ValueMissing(std::string_view parameter) {
  return Illegal("The parameter " + Quoted(parameter) +
                 " has no value. A trial needs one for each parameter of the study.");
}

Error ValueOutside(std::string_view parameter, std::string_view text) {
  return Illegal("The value " + Quoted(text) + " of the parameter " + Quoted(parameter) +
                 " is not allowed by the study.");
}

Error ParameterNotActive(std::string_view parameter) {
  return Illegal("The parameter " + Quoted(parameter) +
                 " is not part of the study, or its parent's value does not activate it.");
}

Error ValuesInvalid(std::vector<FieldViolation> wrong) {
  Error error = Illegal(wrong.front().description);
  error.violations = std::move(wrong);
  return error;
}

}  // namespace caip::tuning::errors

namespace caip::tuning::texts {

std::string Required() { return "The field is required."; }

std::string TooManyParameters(size_t count, size_t most) {
  return "A study has at most " + std::to_string(most) + " parameters, not " +
         std::to_string(count) + ".";
}

std::string TooManyMetrics(size_t count, size_t most) {
  return "A study has at most " + std::to_string(most) + " metrics, not " + std::to_string(count) +
         ".";
}

std::string TooManyValues(size_t count, size_t most) {
  return "A parameter has at most " + std::to_string(most) + " values, not " +
         std::to_string(count) + ".";
}

std::string NeedsOne(std::string_view what) {
  return "At least one " + std::string(what) + " is required.";
}

std::string NameTwice(std::string_view name) {
  return "The name '" + std::string(name) + "' is used twice. Names are unique within a study.";
}

std::string GoalMissing() { return "The field is required. Set it to MAXIMIZE or MINIMIZE."; }

std::string TypeMissing() {
  return "The field is required. Set it to DOUBLE, INTEGER, CATEGORICAL or DISCRETE.";
}

std::string OneStoppingRule() {
  return "Only one of decay_curve_stopping_config and median_automated_stopping_config may be set.";
}

std::string NotForType(std::string_view type) {
  return "The field must not be set for a parameter of type " + std::string(type) + ".";
}

std::string NotTheParents() {
  return "The field is not allowed here. Only a child parameter lists values of its parent, in the "
         "field for the parent's type.";
}

std::string NoneOfTheParents(std::string_view value) {
  return std::string(value) + " is not a value of the parent.";
}

std::string NoChildrenOfDouble() { return "A parameter of type DOUBLE cannot have children."; }

std::string NoGridOfDoubles() {
  return "GRID_SEARCH cannot be used with a parameter of type DOUBLE. Use DISCRETE values.";
}

std::string NotFinite() { return "The values must be finite numbers."; }

std::string BoundsReversed() { return "min_value must not be greater than max_value."; }

std::string LogOfNothing() { return "A logarithmic scale requires values greater than 0."; }

std::string ValueTwice() { return "The values must differ from each other."; }

std::string NotIncreasing(size_t most) {
  return "The values must be strictly increasing, at most " + std::to_string(most) + " of them.";
}

std::string NothingMeasured() { return "The trial has not reported a number yet; it continues."; }

std::string NothingToCompare(int64_t step) {
  return "No completed trial has reported up to step " + std::to_string(step) +
         "; the trial continues.";
}

std::string MedianAdvice(bool stop, double value, double median, size_t trials, int64_t step) {
  return "The best objective value " + TextOf(value) + " up to step " + std::to_string(step) +
         (stop ? " is worse than " : " is not worse than ") + TextOf(median) +
         ", the median of the running averages of " + std::to_string(trials) +
         (trials == 1 ? " completed trial" : " completed trials") +
         (stop ? "." : "; the trial continues.");
}

std::string TooFewCurves(size_t curves, size_t least) {
  return "Only " + std::to_string(curves) + " of the " + std::to_string(least) +
         " completed trials that the decay-curve rule needs have reported so far; the trial "
         "continues.";
}

std::string DecayAdvice(bool stop, double expected, double best, double chance, int64_t step) {
  return "At step " + std::to_string(step) + " the final objective value is expected to be " +
         TextOf(expected) + "; the chance that it beats the best, " + TextOf(best) + ", is " +
         TextOf(chance) + (stop ? "." : "; the trial continues.");
}

}  // namespace caip::tuning::texts
