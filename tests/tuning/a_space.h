#pragma once
// Parameters for tests, as a job's spec has them.

#include <string>
#include <vector>

#include "ml/study.h"
#include "tuning/optimizer.h"

namespace caip::tuning {

inline ml::ParameterSpec Range(std::string name, std::string type, double least, double most,
                               std::string scale = "") {
  return {std::move(name), std::move(type), least, most, {}, {}, std::move(scale)};
}
inline ml::ParameterSpec Numbers(std::string name, std::vector<double> values) {
  return {std::move(name), "DISCRETE", {}, {}, std::move(values), {}, ""};
}
inline ml::ParameterSpec Categories(std::string name, std::vector<std::string> values) {
  return {std::move(name), "CATEGORICAL", {}, {}, {}, std::move(values), ""};
}

inline Study AStudy(std::vector<ml::ParameterSpec> params, std::string algorithm,
                    std::string goal = "MINIMIZE") {
  ml::HyperparameterSpec spec;
  spec.goal = std::move(goal);
  spec.params = std::move(params);
  spec.algorithm = std::move(algorithm);
  return ml::StudyOf(spec);
}

/// All types and scales at once.
inline std::vector<ml::ParameterSpec> AllKinds() {
  return {Range("rate", "DOUBLE", 1e-5, 0.1, "UNIT_LOG_SCALE"),
          Range("momentum", "DOUBLE", 0.5, 0.999, "UNIT_REVERSE_LOG_SCALE"),
          Range("units", "INTEGER", 40, 400, "UNIT_LINEAR_SCALE"),
          Range("depth", "INTEGER", 1, 64, "UNIT_LOG_SCALE"),
          Numbers("batch", {16, 32, 64.5, 128}),
          Categories("cell", {"BasicLSTMCell", "1024 512 128", ""})};
}

}  // namespace caip::tuning
