// What the optimizer says of a study: suggestions, early stopping, the best trials.

#include <algorithm>

#include "base/random.h"
#include "emulator/api/optimizer/study_desk.h"
#include "emulator/api/optimizer/study_errors.h"
#include "emulator/api/optimizer/study_trials.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "ml/errors.h"
#include "ml/schema/study_schema.h"
#include "tuning/trial.h"

namespace caip::api {
namespace {

constexpr int64_t kSuggestionsMax = 100;  // ours: nobody documents one, and all are made at once
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

// Each study has a seed of its own, drawn from the emulator's by its name.
uint64_t SeedOf(uint64_t seed, const std::string& study) { return Random(seed).Fork(study).Next(); }

Json Packed(const char* type, const google::MessageSchema& schema, const Json& plain) {
  Json packed = {{"@type", std::string("type.googleapis.com/google.cloud.ml.v1.") + type}};
  packed.update(google::WriteMessage(plain, schema, kOperationStyle));
  return packed;
}

}  // namespace

std::optional<Json> StudyDesk::NextTrial(Open& open, std::vector<Json>& trials,
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

// A client that asks again is given what it has; only what it asks beyond that is new.
Result<Json> StudyDesk::Suggest(const std::string& study, const Json& request) {
  const StudyLocks::Held held(locks_, study);
  ASSIGN_OR_RETURN(Open open, OpenStudy(study));
  if (auto broken = CheckSuggest(request); !broken.empty()) {
    return google::errors::Violations(std::move(broken));
  }
  Json& state = open.stored["study"]["state"];
  const int64_t begin = Now();
  const std::string client = request["client_id"];
  const auto count = static_cast<size_t>(request["suggestion_count"].get<int64_t>());
  ASSIGN_OR_RETURN(auto trials, store_.Below(study, study + "/trials/"));
  Json suggested = Json::array();
  for (const Json& trial : trials) {
    if (suggested.size() < count && IsHeldBy(trial, client)) suggested.push_back(trial);
  }
  std::vector<StudyChange> changes;
  std::optional<tuning::Optimizer> optimizer;  // once it is needed
  const std::string state_before = state;
  while (suggested.size() < count) {
    const auto next = NextTrial(open, trials, optimizer, client);
    if (!next) {
      if (state == "ACTIVE") state = "COMPLETED";  // every point of the grid is taken
      break;
    }
    suggested.push_back(*next);
    changes.push_back({study, (*next)["name"], *next});
  }
  if (suggested.empty() && state_before != "ACTIVE") return errors::StudyNotActive(state_before);
  const std::string location = LocationOf(study);
  changes.push_back({location, study, open.stored});
  const Json operation =
      Operation(study,
                Packed("SuggestTrialsMetadata", ml::SuggestTrialsMetadataSchema(),
                       {{"study", study},
                        {"create_time", begin},
                        {"suggestion_count", count},
                        {"client_id", client}}),
                Packed("SuggestTrialsResponse", ml::SuggestTrialsResponseSchema(),
                       {{"trials", suggested},
                        {"study_state", state},
                        {"start_time", begin},
                        {"end_time", Now()}}));
  changes.push_back({location, operation["name"], operation});
  RETURN_IF_ERROR(store_.Apply(changes));
  return operation;
}

Result<Json> StudyDesk::CheckStopping(const std::string& name) {
  const std::string study = name.substr(0, name.rfind("/trials/"));
  const StudyLocks::Held held(locks_, study);
  ASSIGN_OR_RETURN(const Open open, OpenStudy(study));
  ASSIGN_OR_RETURN(Json trial, Trial(name));
  const int64_t begin = Now();
  const tuning::StudyConfig& config = open.config;
  std::vector<tuning::Curve> completed;
  ASSIGN_OR_RETURN(const auto trials, store_.Below(study, study + "/trials/"));
  for (const Json& other : trials) {
    const bool counts = StringOr(other, "state") == "COMPLETED" &&
                        !other.value("trial_infeasible", false) && other["name"] != name;
    if (counts) completed.push_back(CurveOf(config, other));
  }
  tuning::StopAdvice advice;
  const tuning::Goal goal = config.study.goals.front();
  if (config.stopping == tuning::StoppingRule::kMedian) {
    advice = AdviseByMedian(goal, config.progress, CurveOf(config, trial), completed);
  } else if (config.stopping == tuning::StoppingRule::kDecayCurve) {
    advice = AdviseByDecayCurve(goal, config.progress, CurveOf(config, trial), completed);
  }
  std::vector<StudyChange> changes;
  if (advice.stop && StringOr(trial, "state") != "COMPLETED") {
    trial["state"] = "STOPPING";
    changes.push_back({study, name, trial});
  }
  Json answer = {{"start_time", begin}, {"end_time", Now()}};
  if (advice.stop) answer["should_stop"] = true;
  // The service's own name for the metadata has that misspelling.
  constexpr const char* kMetadata = "CheckTrialEarlyStoppingStateMetatdata";
  constexpr const char* kResponse = "CheckTrialEarlyStoppingStateResponse";
  const Json operation =
      Operation(study,
                Packed(kMetadata, ml::CheckStoppingMetadataSchema(),
                       {{"study", study}, {"trial", name}, {"create_time", begin}}),
                Packed(kResponse, ml::CheckStoppingResponseSchema(), answer));
  changes.push_back({LocationOf(study), operation["name"], operation});
  RETURN_IF_ERROR(store_.Apply(changes));
  if (advice.stop && say_) say_(errors::TrialShouldStop(name, advice.why));
  return operation;
}

Json StudyDesk::Operation(const std::string& of, Json metadata, Json response) {
  // Unique by the moment and what it is about, also after a restart.
  Random id = Random(seed_).Fork(of + std::to_string(++operations_) + "/" + std::to_string(Now()));
  return {{"name", LocationOf(of) + "/operations/" + id.Hex(20)},
          {"metadata", std::move(metadata)},
          {"done", true},
          {"response", std::move(response)}};
}

Result<Json> StudyDesk::GetOperation(const std::string& name) const {
  ASSIGN_OR_RETURN(auto operation, store_.Get(name));
  if (!operation) return errors::StudyOperationNotFound();
  return *std::move(operation);
}

Result<std::vector<Json>> StudyDesk::OptimalTrials(const std::string& study) const {
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
