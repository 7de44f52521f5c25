// Starts an engine: it resumes the unfinished jobs of the store. All running replicas count as lost
// with their machines, so recovery uses the normal restart path.

#include "engine/core.h"
#include "engine/errors.h"
#include "engine/launch.h"

namespace caip::engine {

Result<std::shared_ptr<const run::ApiJob>> Core::OpenJob(const JobRecord& record) const {
  const run::ApiPort* api = options_.rules.apis.Find(record.job.api);
  return api ? api->Open(record.job.document) : errors::ApiUnknown(record.job.api);
}

// The trials of the job, and of all jobs that it continues.
Result<JobRun::Trials> Core::TrialsOf(const RunKey& key, const run::RunSpec& spec) const {
  JobRun::Trials trials;
  if (!spec.tuning) return trials;
  ASSIGN_OR_RETURN(trials.own, ports_.store.Trials(key.project, key.job_id));
  std::string earlier = spec.tuning->resumed_job;
  std::set<std::string> seen = {key.job_id};
  while (!earlier.empty() && seen.insert(earlier).second) {
    ASSIGN_OR_RETURN(const auto more, ports_.store.Trials(key.project, earlier));
    trials.earlier.insert(trials.earlier.begin(), more.begin(), more.end());
    ASSIGN_OR_RETURN(const JobRecord record, ports_.store.Get(key.project, earlier));
    const auto job = OpenJob(record);
    const bool tuned = job.ok() && (*job)->spec().tuning;
    earlier = tuned ? (*job)->spec().tuning->resumed_job : "";
  }
  return trials;
}

// No time of a job may be before an earlier one, and no new job before an older one.
Status Core::RecoverClock(const std::vector<JobRecord>& unfinished) {
  ASSIGN_OR_RETURN(const std::optional<Instant> newest, ports_.store.NewestCreateTime());
  if (newest) clock_.AdvanceTo(*newest);
  for (const JobRecord& record : unfinished) {
    if (record.job.start_time) clock_.AdvanceTo(*record.job.start_time);
  }
  return Ok{};
}

Status Core::Recover() {
  ASSIGN_OR_RETURN(std::vector<JobRecord> records, ports_.store.Unfinished());
  RETURN_IF_ERROR(RecoverClock(records));
  std::vector<RunKey> keys;
  for (JobRecord& record : records) {  // oldest first: the scheduler keeps this order
    const RunKey key = record.job.key;
    auto job = OpenJob(record);
    if (!job.ok()) return errors::StoredJobUnreadable(key.project + "/" + key.job_id, job.error());
    keys.push_back(key);
    ASSIGN_OR_RETURN(JobRun::Trials trials, TrialsOf(key, (*job)->spec()));
    ResolvedPrograms programs = ResolvePrograms((*job)->spec(), ports_.launcher);
    Add(JobRun::Restore(std::move(record), *std::move(job), std::move(programs.images),
                        options_.rules, std::move(trials)),
        created_++);
  }
  for (const RunKey& key : keys) Handle(key, Recovered{});
  return Ok{};
}

}  // namespace caip::engine
