#pragma once
// The optimizer API: studies and trials, their state changes and their routes (docs/service/api.md,
// sections 2 and 9; REST reference, projects.locations.studies). Resources are plain trees of
// ml/schema/study_schema.h; names are complete ("projects/p/locations/l/studies/s").

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "emulator/api/optimizer/study_store.h"
#include "http/router.h"
#include "tuning/optimizer.h"
#include "tuning/stopping.h"
#include "tuning/study_config.h"

namespace caip::api {

/// The methods of studies and trials. Any thread. A change is durable before the method returns.
/// One thread at a time changes a study; choosing values for one study does not block the others.
/// Store and clock must outlive the service.
class StudyService {
 public:
  /// Takes a line for the emulator's log. Any thread.
  using Say = std::function<void(const std::string&)>;

  /// The same seed and the same calls lead to the same suggestions. `say` gets the reason why a
  /// trial should stop, which the API cannot return.
  StudyService(StudyStore& store, const Clock& clock, uint64_t seed, Say say = {})
      : store_(store), clock_(clock), seed_(seed), say_(std::move(say)) {}

  Result<Json> CreateStudy(const std::string& parent, const std::string& id, Json study);
  Result<Json> GetStudy(const std::string& name) const;
  Result<std::vector<Json>> ListStudies(const std::string& parent) const;
  Status DeleteStudy(const std::string& name);

  Result<Json> CreateTrial(const std::string& study, Json trial);
  Result<Json> GetTrial(const std::string& name) const;
  Result<std::vector<Json>> ListTrials(const std::string& study) const;
  Status DeleteTrial(const std::string& name);

  Result<Json> AddMeasurement(const std::string& trial, const Json& request);
  Result<Json> Complete(const std::string& trial, const Json& request);
  Result<Json> Stop(const std::string& trial);
  /// Returns the best trial, or the Pareto set if the study has several metrics.
  Result<std::vector<Json>> OptimalTrials(const std::string& study) const;

  // Operations, as JSON of the API. They are done when they are returned.
  Result<Json> Suggest(const std::string& study, const Json& request);
  Result<Json> CheckStopping(const std::string& trial);
  Result<Json> GetOperation(const std::string& name) const;

 private:
  // A study and its parsed configuration.
  struct Open {
    Json stored;  // {"study": the resource, "next_trial": a number that no trial has had}
    tuning::StudyConfig config;
    std::string name;
  };
  Result<Open> OpenStudy(const std::string& name) const;
  Result<Json> Trial(const std::string& name) const;
  Result<Json> RunningTrial(const std::string& name) const;
  Result<Json> SaveTrial(Json trial);
  // Returns a REQUESTED trial, or a trial with new values if the study is ACTIVE. nullopt: there is
  // neither, because the study is not ACTIVE or every point of its grid is taken.
  std::optional<Json> NextTrial(Open& open, std::vector<Json>& trials,
                                std::optional<tuning::Optimizer>& optimizer,
                                const std::string& client) const;
  Json Assign(Open& open, std::vector<Json> trials, const std::string& client, size_t count,
              std::vector<StudyChange>& changes) const;
  Result<tuning::StopAdvice> Advise(const Open& open, const Json& trial) const;
  Json Operation(const std::string& of, Json metadata, Json response);
  Result<Json> Finish(Json operation, std::vector<StudyChange> changes);
  int64_t Now() const { return clock_.Now().time_since_epoch().count(); }

  StudyStore& store_;
  const Clock& clock_;
  uint64_t seed_;
  Say say_;
  std::atomic<uint64_t> operations_ = 0;
  StudyLocks locks_;
};

/// The routes of studies, trials and their operations. `service` outlives them.
std::vector<http::Route> StudyRoutes(StudyService& service);

}  // namespace caip::api
