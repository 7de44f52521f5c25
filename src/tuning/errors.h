#pragma once
// The error texts and log lines of the tuning module.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::tuning::errors {

Error ValueMissing(std::string_view parameter);
Error ValueOutside(std::string_view parameter, std::string_view text);
Error ParameterNotActive(std::string_view parameter);
/// The first violation gives the message. `wrong` is not empty.
Error ValuesInvalid(std::vector<FieldViolation> wrong);

}  // namespace caip::tuning::errors

// Violations in a study's config.
namespace caip::tuning::texts {

std::string Required();
std::string NeedsOne(std::string_view what);
std::string TooManyParameters(size_t count, size_t most);
std::string TooManyMetrics(size_t count, size_t most);
std::string TooManyValues(size_t count, size_t most);
std::string NameTwice(std::string_view name);
std::string GoalMissing();
std::string TypeMissing();
std::string OneStoppingRule();
std::string NotForType(std::string_view type);
std::string NotTheParents();
std::string NoneOfTheParents(std::string_view value);
std::string NoChildrenOfDouble();
std::string NoGridOfDoubles();
std::string NotFinite();
std::string BoundsReversed();
std::string LogOfNothing();
std::string ValueTwice();
std::string NotIncreasing(size_t most);

}  // namespace caip::tuning::texts

// Log lines: why a trial stops or continues.
namespace caip::tuning::texts {

std::string NothingMeasured();
std::string NothingToCompare(int64_t step);
std::string MedianAdvice(bool stop, double value, double median, size_t trials, int64_t step);
std::string TooFewCurves(size_t curves, size_t least);
std::string DecayAdvice(bool stop, double expected, double best, double chance, int64_t step);

}  // namespace caip::tuning::texts
