#pragma once
// A case: requests to an endpoint, and the required results.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace conform {

using Json = nlohmann::json;

/// One case, with the values of its table. case_file reads it; case_run runs it.
struct Case {
  std::string id;                  // "job-ids/may-not-start-with-9"; unique
  std::string sentence;            // the promise of the service; the name of the test
  std::string chapter;             // its folder
  std::string place;               // "conformance/cases/job-ids/letters.yaml:12"
  std::vector<std::string> rules;  // ids of the rules it judges; never empty
  std::vector<std::string> needs;  // the features that a target must have, such as "containers"
  std::string instance;            // "held": the endpoint whose queue is stopped, if any
  std::vector<Json> given;         // steps that must succeed before the judged ones
  std::vector<Json> steps;         // steps that are judged
};

}  // namespace conform
