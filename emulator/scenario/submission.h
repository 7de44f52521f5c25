#pragma once
// A scenario's job on its way to the emulator that plays it.

#include <map>
#include <string>
#include <vector>

#include "client/submit_flags.h"
#include "emulator/app/emulator.h"
#include "harness/scenario/scenario.h"
#include "ml/job.h"

namespace caip::scenario {

inline constexpr char kProject[] = "scenario";
inline constexpr char kJobId[] = "scenario";
inline constexpr char kImage[] = "gcr.io/caip/scenario:trainer";
inline constexpr char kJobDir[] = "gs://job/out";

/// What the emulator must know of the scenario's trainer: its image, and what that stands for.
/// Words of the command that name files beside the scenario become their paths.
std::map<std::string, std::vector<std::string>> ImagesOf(const harness::Scenario& scenario);

/// Sends the job: `read` reads the words of a `submit`; else the scenario has a Job. Errors have
/// the client's texts.
Status SendJob(const harness::Scenario& scenario, const client::ReadSubmitWords& read,
               app::Emulator& emulator);

/// An Error: a fault names a replica that the job, as the service took it, does not have.
Status CheckReplicas(const harness::Scenario& scenario, const ml::Job& job);

}  // namespace caip::scenario
