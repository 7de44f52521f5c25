#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "emulator/api/body.h"
#include "emulator/api/error_body.h"
#include "emulator/api/errors.h"
#include "emulator/api/optimizer/study_service.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "ml/catalog/catalog.h"
#include "ml/errors.h"
#include "ml/schema/study_schema.h"

namespace caip::api {
namespace {

using google::MessageSchema;
using http::PathParameters;
using http::Request;

constexpr google::WriteStyle kStyle{.camel_case = true, .fraction_digits = 6};

std::string LocationName(const PathParameters& at) {
  return "projects/" + at.At("project") + "/locations/" + at.At("location");
}
std::string StudyName(const PathParameters& at) {
  return LocationName(at) + "/studies/" + at.At("study");
}
std::string TrialName(const PathParameters& at) {
  return StudyName(at) + "/trials/" + at.At("trial");
}

// The body as a plain tree without what only the service says, but for what is `taken`.
Result<Json> ReadPlain(const Request& request, const MessageSchema& schema, const std::string& path,
                       std::initializer_list<std::string_view> taken = {}) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonObject(request));
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(body, schema, path, violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  for (const google::FieldSchema& field : schema.fields) {
    const bool is_taken = std::find(taken.begin(), taken.end(), field.proto_name) != taken.end();
    if (field.output_only && !is_taken) plain.erase(std::string(field.proto_name));
  }
  return plain;
}

Result<Json> Written(Result<Json> plain, const MessageSchema& schema) {
  if (!plain.ok()) return plain;
  return google::WriteMessage(*plain, schema, kStyle);
}

Result<Json> WrittenList(const Result<std::vector<Json>>& list, const MessageSchema& schema,
                         const char* name) {
  if (!list.ok()) return list.error();
  Json answer = Json::object();
  for (const Json& plain : *list) {
    answer[name].push_back(google::WriteMessage(plain, schema, kStyle));
  }
  return answer;
}

Result<Json> Emptied(const Status& status) {
  if (!status.ok()) return status.error();
  return Json::object();
}

// A name that was sent with %2F: none of ours has a slash, and a longer path is another resource's.
std::optional<Error> NameOfNothing(const PathParameters& at) {
  const auto has_slash = [&](const char* name) {
    return at.At(name).find('/') != std::string::npos;
  };
  if (has_slash("study")) return errors::StudyNotFound();
  if (has_slash("trial")) return errors::TrialNotFound();
  if (has_slash("operation")) return errors::StudyOperationNotFound();
  return std::nullopt;
}

using Call = std::function<Result<Json>(const Request&, const PathParameters&)>;

// Refuses locations and names that there are not, and answers with what `call` does.
http::Route RouteTo(std::string method, std::string path, std::string id, Call call) {
  return {std::move(method), "/v1/projects/{project}/locations/{location}/" + std::move(path),
          "ml.projects.locations." + std::move(id),
          [call = std::move(call)](const Request& request, const PathParameters& at) {
            const std::string& location = at.At("location");
            if (!ml::DefaultCatalog().FindRegion(location)) {
              return ErrorResponse(errors::LocationNotFound(location));
            }
            if (const auto error = NameOfNothing(at)) return ErrorResponse(*error);
            return Respond(request, call(request, at));
          }};
}

Result<Json> CreateStudy(StudyService& desk, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(Json study, ReadPlain(request, ml::StudySchema(), "study"));
  return Written(
      desk.CreateStudy(LocationName(at), std::string(request.Query("studyId")), std::move(study)),
      ml::StudySchema());
}

Result<Json> CreateTrial(StudyService& desk, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(Json trial, ReadPlain(request, ml::TrialSchema(), "trial",
                                         {"trial_infeasible", "infeasible_reason"}));
  return Written(desk.CreateTrial(StudyName(at), std::move(trial)), ml::TrialSchema());
}

Result<Json> Suggest(StudyService& desk, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::SuggestTrialsRequestSchema(), "request"));
  return desk.Suggest(StudyName(at), asked);
}

Result<Json> AddMeasurement(StudyService& desk, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::AddTrialMeasurementRequestSchema(), "request"));
  return Written(desk.AddMeasurement(TrialName(at), asked), ml::TrialSchema());
}

Result<Json> Complete(StudyService& desk, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::CompleteTrialRequestSchema(), "request"));
  return Written(desk.Complete(TrialName(at), asked), ml::TrialSchema());
}

// Calls whose body has nothing to say, but must be one.
Result<Json> AfterEmpty(const Request& request, const std::function<Result<Json>()>& call) {
  RETURN_IF_ERROR(ReadPlain(request, ml::EmptyRequestSchema(), "request"));
  return call();
}

std::vector<http::Route> RoutesOfStudies(StudyService& desk) {
  return {
      RouteTo("POST", "studies", "studies.create",
              [&desk](const Request& request, const PathParameters& at) {
                return CreateStudy(desk, request, at);
              }),
      RouteTo("GET", "studies", "studies.list",
              [&desk](const Request&, const PathParameters& at) {
                return WrittenList(desk.ListStudies(LocationName(at)), ml::StudySchema(),
                                   "studies");
              }),
      RouteTo("GET", "studies/{study}", "studies.get",
              [&desk](const Request&, const PathParameters& at) {
                return Written(desk.GetStudy(StudyName(at)), ml::StudySchema());
              }),
      RouteTo("DELETE", "studies/{study}", "studies.delete",
              [&desk](const Request&, const PathParameters& at) {
                return Emptied(desk.DeleteStudy(StudyName(at)));
              }),
      RouteTo("GET", "operations/{operation}", "operations.get",
              [&desk](const Request&, const PathParameters& at) {
                return desk.GetOperation(LocationName(at) + "/operations/" + at.At("operation"));
              }),
      // All operations are done when they are answered: there is nothing to cancel.
      RouteTo("POST", "operations/{operation}:cancel", "operations.cancel",
              [&desk](const Request&, const PathParameters& at) -> Result<Json> {
                RETURN_IF_ERROR(
                    desk.GetOperation(LocationName(at) + "/operations/" + at.At("operation")));
                return Json::object();
              }),
  };
}

std::vector<http::Route> RoutesOfTrials(StudyService& desk) {
  return {
      RouteTo("POST", "studies/{study}/trials", "studies.trials.create",
              [&desk](const Request& request, const PathParameters& at) {
                return CreateTrial(desk, request, at);
              }),
      RouteTo("GET", "studies/{study}/trials", "studies.trials.list",
              [&desk](const Request&, const PathParameters& at) {
                return WrittenList(desk.ListTrials(StudyName(at)), ml::TrialSchema(), "trials");
              }),
      RouteTo("GET", "studies/{study}/trials/{trial}", "studies.trials.get",
              [&desk](const Request&, const PathParameters& at) {
                return Written(desk.GetTrial(TrialName(at)), ml::TrialSchema());
              }),
      RouteTo("DELETE", "studies/{study}/trials/{trial}", "studies.trials.delete",
              [&desk](const Request&, const PathParameters& at) {
                return Emptied(desk.DeleteTrial(TrialName(at)));
              }),
      RouteTo("POST", "studies/{study}/trials:suggest", "studies.trials.suggest",
              [&desk](const Request& request, const PathParameters& at) {
                return Suggest(desk, request, at);
              }),
      RouteTo(
          "POST", "studies/{study}/trials:listOptimalTrials", "studies.trials.listOptimalTrials",
          [&desk](const Request& request, const PathParameters& at) {
            return AfterEmpty(request, [&] {
              return WrittenList(desk.OptimalTrials(StudyName(at)), ml::TrialSchema(), "trials");
            });
          }),
  };
}

std::vector<http::Route> RoutesOfOneTrial(StudyService& desk) {
  const std::string one = "studies/{study}/trials/{trial}";
  return {
      RouteTo("POST", one + ":addMeasurement", "studies.trials.addMeasurement",
              [&desk](const Request& request, const PathParameters& at) {
                return AddMeasurement(desk, request, at);
              }),
      RouteTo("POST", one + ":complete", "studies.trials.complete",
              [&desk](const Request& request, const PathParameters& at) {
                return Complete(desk, request, at);
              }),
      RouteTo("POST", one + ":checkEarlyStoppingState", "studies.trials.checkEarlyStoppingState",
              [&desk](const Request& request, const PathParameters& at) {
                return AfterEmpty(request, [&] { return desk.CheckStopping(TrialName(at)); });
              }),
      RouteTo("POST", one + ":stop", "studies.trials.stop",
              [&desk](const Request& request, const PathParameters& at) {
                return AfterEmpty(
                    request, [&] { return Written(desk.Stop(TrialName(at)), ml::TrialSchema()); });
              }),
  };
}

}  // namespace

std::vector<http::Route> StudyRoutes(StudyService& desk) {
  std::vector<http::Route> routes = RoutesOfStudies(desk);
  for (auto more : {RoutesOfTrials(desk), RoutesOfOneTrial(desk)}) {
    routes.insert(routes.end(), more.begin(), more.end());
  }
  return routes;
}

}  // namespace caip::api
