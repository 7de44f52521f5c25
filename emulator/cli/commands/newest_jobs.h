#pragma once
// The jobs of a project, for the commands that list or choose some of them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "client/connection.h"

namespace caip::cli {

struct JobSelection {
  std::string filter = {};  // in the service's language; "": all jobs
  size_t count = SIZE_MAX;  // at least so many, if there are as many
};

/// As the service shows them, newest first. Makes as many calls as the pages need.
Result<std::vector<Json>> NewestJobs(client::Connection& connection, const std::string& project,
                                     const JobSelection& selection = {});

/// The jobs of both APIs in a project as jobId, state and endTime: those of AI Platform Training
/// before those of Vertex AI, and each of them oldest first.
Result<std::vector<Json>> JobsOfBothApis(client::Connection& connection,
                                         const std::string& project);

/// Sorts by the fields of --sort-by, the first of which decides: "~trainingInput.region" sorts in
/// descending order.
void SortResources(std::vector<Json>& jobs, const std::vector<std::string>& keys);

}  // namespace caip::cli
