#pragma once
// The chapters of Validate. Each adds what it finds; none depends on another's findings. Private.

#include <vector>

#include "ml/validate/validate.h"

namespace caip::ml {

/// What the chapters share: the input, what it means, and where to put the findings.
struct Examination {
  Examination(const TrainingInput& examined, const ValidationOptions& chosen,
              std::vector<FieldViolation>& sink);

  void Report(FieldViolation violation) const { found.push_back(std::move(violation)); }
  const MachineType* MachineOf(Role role) const;  // named by the job and known; else nullptr
  /// True where the role's replicas run an image: their own, or the master's.
  bool RunsImage(Role role) const;

  const TrainingInput& input;
  const ValidationOptions& options;
  std::vector<FieldViolation>& found;
  const ScaleTier* tier = nullptr;  // nullptr: an unknown one
  bool is_custom = false;
  bool is_tpu_job = false;
  bool is_built_in = false;
};

void ExamineMachines(const Examination& exam);
void ExamineAccelerators(const Examination& exam);
void ExamineTpu(const Examination& exam);
void ExamineImages(const Examination& exam);
void ExaminePackages(const Examination& exam);
void ExamineRuntime(const Examination& exam);
void ExaminePlace(const Examination& exam);
void ExamineScheduling(const Examination& exam);
void ExamineTuning(const Examination& exam);

}  // namespace caip::ml
