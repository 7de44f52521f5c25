#pragma once
// A job as the engine knows it: its name, its state, and a document that only its API reads.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "run/lifecycle.h"

namespace caip::run {

/// One run of replicas: a job, or one trial of a tuning job (trial "" outside tuning). APIs whose
/// jobs belong to no location leave it empty.
struct RunKey {
  std::string project;
  std::string job_id;
  std::string trial;
  std::string location = {};
  auto operator<=>(const RunKey&) const = default;

  bool IsTrial() const { return !trial.empty(); }
  RunKey WithTrial(std::string of) const { return {project, job_id, std::move(of), location}; }
  RunKey Job() const { return WithTrial(""); }
};

/// What the job asks for, in its API's words. Shared and immutable; never null.
using Document = std::shared_ptr<const Json>;

/// A job or a trial.
struct Job {
  RunKey key = {};
  std::string api = {};  // ApiPort::name
  JobState state = JobState::kUnspecified;
  std::optional<Instant> create_time = {};
  std::optional<Instant> start_time = {};  // of the first RUNNING
  std::optional<Instant> end_time = {};
  std::string error_message = {};
  EndCause end_cause = EndCause::kNone;
  Document document = {};
  int64_t queue_position = 0;  // 1: the next to leave the queue; 0: not in it. Never stored
};

/// One trial of a tuning job.
struct Trial {
  std::string id;
  std::map<std::string, std::string> values;
  JobState state = JobState::kUnspecified;
  std::optional<Instant> create_time = {};
  std::optional<Instant> start_time = {};
  std::optional<Instant> end_time = {};
  std::string error_message = {};
  EndCause end_cause = EndCause::kNone;
  std::optional<std::pair<int64_t, double>> final_metric = {};  // step and value
  bool stopped_early = false;
};

/// The results of a tuning job's trials so far: the best first, then those without a metric.
struct TrialsSummary {
  std::string metric_tag;
  int64_t completed = 0;
  std::vector<Trial> trials = {};
};

}  // namespace caip::run
