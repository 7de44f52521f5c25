#pragma once
// The chapters of Validate. Each adds what it finds; none depends on another's findings. Private.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vertex/validate/validate.h"

namespace caip::vertex {

/// What the chapters share: the spec, where the job runs, and where to put the findings.
struct Examination {
  void Report(FieldViolation violation) const { found.push_back(std::move(violation)); }

  const CustomJobSpec& spec;
  std::string_view location;
  const ValidationOptions& options;
  std::vector<FieldViolation>& found;
};

/// One worker pool that is not empty.
struct PoolExamination {
  void Report(std::string_view field, std::string message) const;
  /// nullptr: the pool names none, or one that does not exist.
  const MachineType* Machine() const;

  const Examination& whole;
  size_t index;
  const WorkerPoolSpec& pool;
};

void ExaminePools(const Examination& exam);
void ExamineMachine(const PoolExamination& exam);
void ExamineProgram(const PoolExamination& exam);
void ExamineScheduling(const Examination& exam);
void ExaminePlace(const Examination& exam);
void ExamineLabels(const CustomJob& job, std::vector<FieldViolation>& found);
void ExamineKey(const CustomJob& job, std::string_view location,
                std::vector<FieldViolation>& found);

}  // namespace caip::vertex
