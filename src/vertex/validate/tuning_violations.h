#pragma once
// The texts of the rules of a HyperparameterTuningJob, one maker for each rule, named after the
// failure (docs/service/vertex.md, section 8). All are ours: no wording is attested.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace caip::vertex::violations {

// The study.
std::string IdMalformed(std::string_view id);
std::string ParameterIdTwice(std::string_view id);
std::string TooManyParameters(size_t count);
std::string SeveralMetrics(size_t count);
std::string ElapsedDuration();
/// Conditional parameters of one parent with one id.
std::string AlternativeParameters(std::string_view id);

// A parameter.
std::string ValueSpecs(bool has_several);
std::string DefaultValue();
std::string BoundNotFinite();
std::string BoundsReversed(std::string_view least, std::string_view most);
std::string LogScaleNotPositive(std::string_view scale, std::string_view least);
std::string ScaleOfCategories();
std::string TooManyValues(size_t count, size_t most);
std::string ValueNotFinite(size_t index);
std::string ValuesNotIncreasing(size_t index);
std::string GridWithDouble(std::string_view id);

// A condition. `field` is the one that belongs to the parent's type.
std::string ConditionOnDouble(std::string_view parent);
std::string ConditionOfOtherType(std::string_view parent, std::string_view field);
std::string NotAValueOfParent(std::string_view value, std::string_view parent);

// The trials.
std::string TrialCountNegative(int64_t count);
std::string TooManyTrials(int64_t count, int64_t limit);
std::string FailedTrialsAboveAll(int64_t failed, int64_t all);
std::string TrialsOnTpu(std::string_view accelerator);

}  // namespace caip::vertex::violations
