// The start of an engine: what the store holds unfinished is taken up again. Whatever ran has, by
// definition, lost its machines, so this is the restart path and not a second one.

#include "engine/core.h"

namespace caip::engine {

Status Core::Recover() {
  ASSIGN_OR_RETURN(std::vector<JobRecord> records, ports_.store.Unfinished());
  std::vector<RunKey> keys;
  for (JobRecord& record : records) {  // oldest first: their ages are given in this order
    RunKey key{record.project, record.job.job_id, ""};
    keys.push_back(key);
    Add(JobRun::Restore(std::move(key), std::move(record), options_.rules));
  }
  for (const RunKey& key : keys) Handle(key, Recovered{});
  return Ok{};
}

}  // namespace caip::engine
