// The methods that use the optimizer: suggestions, early stopping, the best trials.

#include <algorithm>

#include "base/abandoned_work.h"
#include "base/random.h"
#include "emulator/api/errors.h"
#include "emulator/api/optimizer/study_service.h"
#include "emulator/api/optimizer/study_trials.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "ml/errors.h"
#include "ml/schema/study_schema.h"
#include "tuning/trial.h"

namespace caip::api {
namespace {

constexpr int64_t kSuggestionsMax = 100;  // caip's own limit: the service documents none
constexpr google::WriteStyle kOperationStyle{.camel_case = true, .fraction_digits = 6};

std::string LocationOf(const std::string& study) {
  return study.substr(0, study.rfind("/studies/"));
}

std::vector<FieldViolation> CheckSuggest(const Json& request) {
  std::vector<FieldViolation> violations;
  const int64_t count = request.value("suggestion_count", int64_t{0});
  if (count < 1 || count > kSuggestionsMax) {
    violations.push_back(errors::SuggestionCountIllegal(count, kSuggestionsMax));
  }
  if (StringOr(request, "client_id").empty()) violations.push_back(errors::ClientIdMissing());
  return violations;
}

bool IsHeldBy(const Json& trial, const std::string& client) {
  return StringOr(trial, "client_id") == client && StringOr(trial, "state") != "COMPLETED";
}

// Each study has its own seed, derived from the emulator's seed and the study's name.
uint64_t SeedOf(uint64_t seed, const std::string& study) { return Random(seed).Fork(study).Next(); }

Json Packed(const char* type, const google::MessageSchema& schema, Json plain) {
  google::RemoveDefaults(plain, schema);
  Json packed = {{"@type", std::string("type.googleapis.com/google.cloud.ml.v1.") + type}};
  packed.update(google::WriteMessage(plain, schema, kOperationStyle));
  return packed;
}

}  // namespace

std::optional<Json> StudyService::NextTrial(Open& open, std::vector<Json>& trials,
                                            std::optional<tuning::Optimizer>& optimizer,
                                            const std::string& client) const {
  auto trial = std::find_if(trials.begin(), trials.end(), [](const Json& each) {
    return StringOr(each, "state") == "REQUESTED";
  });
  if (trial == trials.end()) {
    if (open.stored["study"]["state"] != "ACTIVE") return std::nullopt;
    const int64_t number = open.stored["next_trial"];
    if (!optimizer) optimizer = OptimizerOf(open.config, trials, SeedOf(seed_, open.name));
    const auto point = optimizer->Ask(number);
    if (!point) return std::nullopt;
    open.stored["next_trial"] = number + 1;
    trials.push_back({{"name", open.name + "/trials/" + std::to_string(number)},
                      {"parameters", ParametersOf(*point)}});
    trial = std::prev(trials.end());
  }
  (*trial)["state"] = "ACTIVE";
  (*trial)["client_id"] = client;
  (*trial)["start_time"] = Now();
  return *trial;
}

// Returns `count` trials: first those that the client already has, then new ones. Returns fewer if
// the study ends, because every point of its grid is taken.
Json StudyService::Assign(Open& open, std::vector<Json> trials, const std::string& client,
                          size_t count, std::vector<StudyChange>& changes) const {
  Json suggested = Json::array();
  for (const Json& trial : trials) {
    if (suggested.size() < count && IsHeldBy(trial, client)) suggested.push_back(trial);
  }
  std::optional<tuning::Optimizer> optimizer;  // made when first needed
  while (suggested.size() < count && !IsWorkAbandoned()) {
    const auto next = NextTrial(open, trials, optimizer, client);
    if (!next) {
      Json& state = open.stored["study"]["state"];
      if (state == "ACTIVE") state = "COMPLETED";
      break;
    }
    suggested.push_back(*next);
    changes.push_back({open.name, (*next)["name"], *next});
  }
  return suggested;
}

Result<Json> StudyService::Suggest(const std::string& study, const Json& request) {
  const StudyLocks::Held held(locks_, study);
  ASSIGN_OR_RETURN(Open open, OpenStudy(study));
  if (auto broken = CheckSuggest(request); !broken.empty()) {
    return google::errors::Violations(std::move(broken));
  }
  const int64_t begin = Now();
  const std::string client = request["client_id"];
  const auto count = static_cast<size_t>(request["suggestion_count"].get<int64_t>());
  ASSIGN_OR_RETURN(auto trials, store_.Below(study, study + "/trials/"));
  const std::string state_before = open.stored["study"]["state"];
  std::vector<StudyChange> changes;
  const Json suggested = Assign(open, std::move(trials), client, count, changes);
  if (suggested.empty() && state_before != "ACTIVE") return errors::StudyNotActive(state_before);
  changes.push_back({LocationOf(study), study, open.stored});
  const Json metadata = {
      {"study", study}, {"create_time", begin}, {"suggestion_count", count}, {"client_id", client}};
  const Json response = {{"trials", suggested},
                         {"study_state", open.stored["study"]["state"]},
                         {"start_time", begin},
                         {"end_time", Now()}};
  return Finish(
      Operation(study, Packed("SuggestTrialsMetadata", ml::SuggestTrialsMetadataSchema(), metadata),
                Packed("SuggestTrialsResponse", ml::SuggestTrialsResponseSchema(), response)),
      std::move(changes));
}

// Saves the changes together with the operation that reports them.
Result<Json> StudyService::Finish(Json operation, std::vector<StudyChange> changes) {
  const std::string name = operation["name"];
  changes.push_back({name.substr(0, name.rfind("/operations/")), name, operation});
  RETURN_IF_ERROR(store_.Apply(changes));
  return operation;
}

Result<tuning::StopAdvice> StudyService::Advise(const Open& open, const Json& trial) const {
  const tuning::StudyConfig& config = open.config;
  std::vector<tuning::Curve> completed;
  ASSIGN_OR_RETURN(const auto trials, store_.Below(open.name, open.name + "/trials/"));
  for (const Json& other : trials) {
    const bool counts = StringOr(other, "state") == "COMPLETED" &&
                        !other.value("trial_infeasible", false) && other["name"] != trial["name"];
    if (counts) completed.push_back(CurveOf(config, other));
  }
  const tuning::Goal goal = config.study.goals.front();
  if (config.stopping == tuning::StoppingRule::kMedian) {
    return AdviseByMedian(goal, config.progress, CurveOf(config, trial), completed);
  }
  if (config.stopping == tuning::StoppingRule::kDecayCurve) {
    return AdviseByDecayCurve(goal, config.progress, CurveOf(config, trial), completed);
  }
  return tuning::StopAdvice{};
}

Result<Json> StudyService::CheckStopping(const std::string& name) {
  const std::string study = name.substr(0, name.rfind("/trials/"));
  const StudyLocks::Held held(locks_, study);
  ASSIGN_OR_RETURN(const Open open, OpenStudy(study));
  ASSIGN_OR_RETURN(Json trial, Trial(name));
  const int64_t begin = Now();
  ASSIGN_OR_RETURN(const tuning::StopAdvice advice, Advise(open, trial));
  std::vector<StudyChange> changes;
  if (advice.stop && StringOr(trial, "state") != "COMPLETED") {
    trial["state"] = "STOPPING";
    changes.push_back({study, name, trial});
  }
  const Json metadata = {{"study", study}, {"trial", name}, {"create_time", begin}};
  Json response = {{"start_time", begin}, {"end_time", Now()}};
  if (advice.stop) response["should_stop"] = true;
  // The service's own name for the metadata has that misspelling.
  constexpr const char* kMetadata = "CheckTrialEarlyStoppingStateMetatdata";
  constexpr const char* kResponse = "CheckTrialEarlyStoppingStateResponse";
  auto operation =
      Finish(Operation(study, Packed(kMetadata, ml::CheckStoppingMetadataSchema(), metadata),
                       Packed(kResponse, ml::CheckStoppingResponseSchema(), response)),
             std::move(changes));
  if (operation.ok() && advice.stop && say_) say_(errors::TrialShouldStop(name, advice.why));
  return operation;
}

Json StudyService::Operation(const std::string& of, Json metadata, Json response) {
  // The time and the subject make the name unique, even after a restart.
  Random id = Random(seed_).Fork(of + std::to_string(++operations_) + "/" + std::to_string(Now()));
  return {{"name", LocationOf(of) + "/operations/" + id.Hex(20)},
          {"metadata", std::move(metadata)},
          {"done", true},
          {"response", std::move(response)}};
}

Result<Json> StudyService::GetOperation(const std::string& name) const {
  ASSIGN_OR_RETURN(auto operation, store_.Get(name));
  if (!operation) return errors::StudyOperationNotFound();
  return *std::move(operation);
}

Result<std::vector<Json>> StudyService::OptimalTrials(const std::string& study) const {
  ASSIGN_OR_RETURN(const Open open, OpenStudy(study));
  ASSIGN_OR_RETURN(const auto trials, store_.Below(study, study + "/trials/"));
  std::vector<Json> measured;
  std::vector<std::vector<double>> points;
  for (const Json& trial : trials) {
    if (StringOr(trial, "state") != "COMPLETED") continue;
    tuning::Outcome outcome = OutcomeOf(open.config, trial);
    if (outcome.objectives.empty()) continue;
    measured.push_back(trial);
    points.push_back(std::move(outcome.objectives));
  }
  std::vector<Json> best;
  for (const size_t i : ParetoSet(open.config.study.goals, points)) best.push_back(measured[i]);
  return best;
}

}  // namespace caip::api
