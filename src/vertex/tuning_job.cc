#include "vertex/tuning_job.h"

namespace caip::vertex {

std::optional<tuning::ValueType> StudyParameter::Type() const {
  if (doubles.has_value() + integers.has_value() + categories.has_value() + numbers.has_value() !=
      1) {
    return std::nullopt;
  }
  if (doubles) return tuning::ValueType::kDouble;
  if (integers) return tuning::ValueType::kInteger;
  return categories ? tuning::ValueType::kCategorical : tuning::ValueType::kDiscrete;
}

bool StudyParameter::HasScale() const {
  return !scale.empty() && scale != "SCALE_TYPE_UNSPECIFIED";
}

bool StudyParameter::HasLogScale() const {
  return tuning::ParseScale(scale) != tuning::Scale::kLinear;
}

}  // namespace caip::vertex
