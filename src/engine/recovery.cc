// The start of an engine: what the store holds unfinished is taken up again. Whatever ran has, by
// definition, lost its machines, so this is the restart path and not a second one.

#include "engine/core.h"

namespace caip::engine {

// Those of the job, and of all jobs that it goes on from.
Result<JobRun::Trials> Core::TrialsOf(const JobRecord& record) const {
  JobRun::Trials trials;
  const auto& spec = record.job.training_input->hyperparameters;
  if (!spec) return trials;
  ASSIGN_OR_RETURN(trials.own, ports_.store.Trials(record.project, record.job.job_id));
  std::string earlier = spec->resume_previous_job_id;
  std::set<std::string> seen = {record.job.job_id};
  while (!earlier.empty() && seen.insert(earlier).second) {
    ASSIGN_OR_RETURN(const auto more, ports_.store.Trials(record.project, earlier));
    trials.earlier.insert(trials.earlier.begin(), more.begin(), more.end());
    ASSIGN_OR_RETURN(const JobRecord job, ports_.store.Get(record.project, earlier));
    const auto& input = job.job.training_input;
    earlier = input && input->hyperparameters ? input->hyperparameters->resume_previous_job_id : "";
  }
  return trials;
}

Status Core::Recover() {
  ASSIGN_OR_RETURN(std::vector<JobRecord> records, ports_.store.Unfinished());
  std::vector<RunKey> keys;
  for (JobRecord& record : records) {  // oldest first: their ages are given in this order
    RunKey key{record.project, record.job.job_id, ""};
    keys.push_back(key);
    ASSIGN_OR_RETURN(JobRun::Trials trials, TrialsOf(record));
    Add(JobRun::Restore(std::move(key), std::move(record), options_.rules, std::move(trials)),
        created_++);
  }
  for (const RunKey& key : keys) Handle(key, Recovered{});
  return Ok{};
}

}  // namespace caip::engine
