#pragma once
// A command that runs as its user would run it in a shell, or with torchrun.

#include <string>
#include <vector>

#include "engine/ports.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// Gives a launch the environment of this process, which its own variables complete: the user's
/// PATH, HOME and the like stay. The command learns of no cluster: TF_CONFIG and CLUSTER_SPEC are
/// left out.
void InheritEnvironment(engine::ReplicaLaunch& launch);

/// Gives a launch the variables with which torchrun starts a rank; each replica is one, the master
/// is the first (https://pytorch.org/docs/stable/elastic/run.html, "Environment Variables").
void SetRankVariables(engine::ReplicaLaunch& launch);

/// Makes a launch that of one machine of a cluster: the program is the member's command
/// (`commands`, in the order of the members), the machine has its name, and finds the others by
/// theirs.
void BecomeMember(const std::vector<harness::ClusterMember>& members,
                  const std::vector<std::vector<std::string>>& commands,
                  engine::ReplicaLaunch& launch);

}  // namespace caip::scenario
