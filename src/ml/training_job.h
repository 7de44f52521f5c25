#pragma once
// A training job as the engine asks about it: names, texts and the environment of its replicas.

#include <memory>
#include <string>

#include "ml/job.h"
#include "run/api_port.h"

namespace caip::ml {

/// Immutable; any thread.
class TrainingJob final : public run::ApiJob, public std::enable_shared_from_this<TrainingJob> {
 public:
  /// `input` has its defaults. `project_number` stands in links to the log; "": the project's id.
  TrainingJob(TrainingInput input, run::RunSpec spec, std::string project_number);

  const TrainingInput& input() const { return input_; }

  std::unique_ptr<const run::ApiRun> Begin(run::RunFacts facts) const override;
  run::Document WithTrials(const run::Document& document,
                           const run::TrialsSummary& summary) const override;
  std::string HostName(const run::ReplicaId& replica, const run::RunNames& names) const override;
  std::vector<std::string> Lines(run::LoggedJobEvent event, const run::RunKey& key) const override;
  std::string ReplicaFailed(const run::ReplicaFailure& failure,
                            const run::RunKey& key) const override;
  std::string OutOfStock() const override;
  std::string WaitedTooLong() const override;
  std::string RanTooLong() const override;
  std::string TrialsFailed(const run::StudyProgress& progress, std::string_view trial,
                           std::string_view last) const override;

 private:
  TrainingInput input_;
  std::string project_number_;
};

}  // namespace caip::ml
