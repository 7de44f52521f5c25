#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
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

// Reads the body as a plain tree. Drops output-only fields, except those in `taken`.
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
  google::RemoveDefaults(*plain, schema);
  return google::WriteMessage(*plain, schema, kStyle);
}

Result<Json> WrittenList(const Result<std::vector<Json>>& list, const MessageSchema& schema,
                         const char* name) {
  if (!list.ok()) return list.error();
  Json answer = Json::object();
  for (const Json& plain : *list) answer[name].push_back(*Written(plain, schema));
  return answer;
}

Result<Json> Emptied(const Status& status) {
  if (!status.ok()) return status.error();
  return Json::object();
}

// No resource has a slash (sent as %2F) in its id: a longer path belongs to another resource.
std::optional<Error> CheckNames(const PathParameters& at) {
  const auto has_slash = [&](const char* name) {
    return at.At(name).find('/') != std::string::npos;
  };
  if (has_slash("study")) return errors::StudyNotFound();
  if (has_slash("trial")) return errors::TrialNotFound();
  if (has_slash("operation")) return errors::StudyOperationNotFound();
  return std::nullopt;
}

using Call = std::function<Result<Json>(const Request&, const PathParameters&)>;

// Rejects unknown locations and impossible names, and answers with the result of `call`.
http::Route RouteTo(std::string method, std::string path, std::string id, Call call) {
  return {std::move(method), "/v1/projects/{project}/locations/{location}/" + std::move(path),
          "ml.projects.locations." + std::move(id),
          [call = std::move(call)](const Request& request, const PathParameters& at) {
            const std::string& location = at.At("location");
            if (!ml::DefaultCatalog().FindRegion(location)) {
              return ErrorResponse(errors::LocationNotFound(location));
            }
            if (const auto error = CheckNames(at)) return ErrorResponse(*error);
            return Respond(request, call(request, at));
          }};
}

Result<Json> CreateStudy(StudyService& service, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(Json study, ReadPlain(request, ml::StudySchema(), "study"));
  return Written(service.CreateStudy(LocationName(at), std::string(request.Query("studyId")),
                                     std::move(study)),
                 ml::StudySchema());
}

Result<Json> CreateTrial(StudyService& service, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(Json trial, ReadPlain(request, ml::TrialSchema(), "trial",
                                         {"trial_infeasible", "infeasible_reason"}));
  return Written(service.CreateTrial(StudyName(at), std::move(trial)), ml::TrialSchema());
}

Result<Json> Suggest(StudyService& service, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::SuggestTrialsRequestSchema(), "request"));
  return service.Suggest(StudyName(at), asked);
}

Result<Json> AddMeasurement(StudyService& service, const Request& request,
                            const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::AddTrialMeasurementRequestSchema(), "request"));
  return Written(service.AddMeasurement(TrialName(at), asked), ml::TrialSchema());
}

Result<Json> Complete(StudyService& service, const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json asked,
                   ReadPlain(request, ml::CompleteTrialRequestSchema(), "request"));
  return Written(service.Complete(TrialName(at), asked), ml::TrialSchema());
}

// Runs a call whose body must be an empty message.
Result<Json> WithEmptyBody(const Request& request, const std::function<Result<Json>()>& call) {
  RETURN_IF_ERROR(ReadPlain(request, ml::EmptyRequestSchema(), "request"));
  return call();
}

std::vector<http::Route> StudyMethods(StudyService& service) {
  return {
      RouteTo("POST", "studies", "studies.create",
              [&service](const Request& request, const PathParameters& at) {
                return CreateStudy(service, request, at);
              }),
      RouteTo("GET", "studies", "studies.list",
              [&service](const Request&, const PathParameters& at) {
                return WrittenList(service.ListStudies(LocationName(at)), ml::StudySchema(),
                                   "studies");
              }),
      RouteTo("GET", "studies/{study}", "studies.get",
              [&service](const Request&, const PathParameters& at) {
                return Written(service.GetStudy(StudyName(at)), ml::StudySchema());
              }),
      RouteTo("DELETE", "studies/{study}", "studies.delete",
              [&service](const Request&, const PathParameters& at) {
                return Emptied(service.DeleteStudy(StudyName(at)));
              }),
      RouteTo("GET", "operations/{operation}", "operations.get",
              [&service](const Request&, const PathParameters& at) {
                return service.GetOperation(LocationName(at) + "/operations/" + at.At("operation"));
              }),
      // Operations are always done, so there is nothing to cancel.
      RouteTo("POST", "operations/{operation}:cancel", "operations.cancel",
              [&service](const Request&, const PathParameters& at) -> Result<Json> {
                RETURN_IF_ERROR(
                    service.GetOperation(LocationName(at) + "/operations/" + at.At("operation")));
                return Json::object();
              }),
  };
}

std::vector<http::Route> TrialListMethods(StudyService& service) {
  return {
      RouteTo("POST", "studies/{study}/trials", "studies.trials.create",
              [&service](const Request& request, const PathParameters& at) {
                return CreateTrial(service, request, at);
              }),
      RouteTo("GET", "studies/{study}/trials", "studies.trials.list",
              [&service](const Request&, const PathParameters& at) {
                return WrittenList(service.ListTrials(StudyName(at)), ml::TrialSchema(), "trials");
              }),
      RouteTo("GET", "studies/{study}/trials/{trial}", "studies.trials.get",
              [&service](const Request&, const PathParameters& at) {
                return Written(service.GetTrial(TrialName(at)), ml::TrialSchema());
              }),
      RouteTo("DELETE", "studies/{study}/trials/{trial}", "studies.trials.delete",
              [&service](const Request&, const PathParameters& at) {
                return Emptied(service.DeleteTrial(TrialName(at)));
              }),
      RouteTo("POST", "studies/{study}/trials:suggest", "studies.trials.suggest",
              [&service](const Request& request, const PathParameters& at) {
                return Suggest(service, request, at);
              }),
      RouteTo(
          "POST", "studies/{study}/trials:listOptimalTrials", "studies.trials.listOptimalTrials",
          [&service](const Request& request, const PathParameters& at) {
            return WithEmptyBody(request, [&] {
              return WrittenList(service.OptimalTrials(StudyName(at)), ml::TrialSchema(), "trials");
            });
          }),
  };
}

std::vector<http::Route> TrialMethods(StudyService& service) {
  const std::string one = "studies/{study}/trials/{trial}";
  return {
      RouteTo("POST", one + ":addMeasurement", "studies.trials.addMeasurement",
              [&service](const Request& request, const PathParameters& at) {
                return AddMeasurement(service, request, at);
              }),
      RouteTo("POST", one + ":complete", "studies.trials.complete",
              [&service](const Request& request, const PathParameters& at) {
                return Complete(service, request, at);
              }),
      RouteTo("POST", one + ":checkEarlyStoppingState", "studies.trials.checkEarlyStoppingState",
              [&service](const Request& request, const PathParameters& at) {
                return WithEmptyBody(request, [&] { return service.CheckStopping(TrialName(at)); });
              }),
      RouteTo("POST", one + ":stop", "studies.trials.stop",
              [&service](const Request& request, const PathParameters& at) {
                return WithEmptyBody(request, [&] {
                  return Written(service.Stop(TrialName(at)), ml::TrialSchema());
                });
              }),
  };
}

}  // namespace

std::vector<http::Route> StudyRoutes(StudyService& service) {
  std::vector<http::Route> routes = StudyMethods(service);
  for (auto more : {TrialListMethods(service), TrialMethods(service)}) {
    routes.insert(routes.end(), more.begin(), more.end());
  }
  return routes;
}

}  // namespace caip::api
