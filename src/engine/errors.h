#pragma once
// Every text of ours that comes out of the engine; those of the service are in spec.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ml/cluster.h"

namespace caip::engine {

namespace errors {

/// Why a study cannot go on from an earlier job, one violation each.
Error NotResumable(const std::vector<std::string>& reasons);
std::string ResumedMissing(std::string_view job_id);
std::string ResumedNotTuning(std::string_view job_id);
std::string ResumedNotFinished(std::string_view job_id);
std::string ResumedDiffers(std::string_view job_id, std::string_view field);
/// All images that no local command stands for, one violation each.
Error ImagesNotMapped(const std::vector<FieldViolation>& violations);
FieldViolation ImageNotMapped(std::string field, std::string_view uri);
Error EngineStopped();
Error NotSavedYet(const Error& cause);
Error NothingToLose(std::string_view job_id, run::ReplicaId replica);
Error JobNotRunning(std::string_view job_id);

}  // namespace errors

namespace lines {

/// Why the whole job is tried again, for texts::RetryingJob.
std::string LostReplica(run::ReplicaId replica, int status, int signal);

}  // namespace lines
}  // namespace caip::engine
