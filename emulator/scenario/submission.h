#pragma once
// Sends a scenario's job to the emulator that runs it.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emulator/app/emulator.h"
#include "emulator/scenario/submit_words.h"
#include "harness/scenario/scenario.h"
#include "ml/job.h"

namespace caip::scenario {

inline constexpr char kProject[] = "scenario";
inline constexpr char kJobId[] = "scenario";
inline constexpr char kImage[] = "gcr.io/caip/scenario:trainer";
inline constexpr char kJobDir[] = "gs://job/out";

/// Adds the container images of the scenario's trainer, with the local commands that replace them.
/// `buckets`: the directory in which replicas find buckets as directories.
void AddImages(const harness::Scenario& scenario, const Path& buckets,
               std::map<std::string, std::vector<std::string>>& images);

/// A command of the scenario's trainer as replicas run it. Words that name files beside the
/// scenario become their paths, unless the trainer has a working directory.
std::vector<std::string> CompleteCommand(const harness::Scenario& scenario,
                                         const std::vector<std::string>& command,
                                         const Path& buckets);

/// Sends the job. If the scenario has `submit` words, `read` parses them. Errors have the client's
/// texts.
Status SendJob(const harness::Scenario& scenario, const ReadSubmitWords& read, const Path& buckets,
               app::Emulator& emulator, const std::string& job_id = kJobId);

/// Sends the job again, waits until it ends, at most for limits.wall, and returns its state. ""
/// after the limit, or if `interrupted` (may be null).
Result<std::string> RunOnceMore(const harness::Scenario& scenario, const ReadSubmitWords& read,
                                const Path& buckets, app::Emulator& emulator,
                                const std::function<bool()>& interrupted);

/// Fails if a fault names a replica that the job, as the service accepted it, does not have.
Status CheckReplicas(const harness::Scenario& scenario, const ml::Job& job);

}  // namespace caip::scenario
