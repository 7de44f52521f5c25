#pragma once
// All methods of ml.googleapis.com v1. A method that is not emulated answers 404 with its name:
// gcloud repeats a call for half a minute after each status of 500 and more.

#include <string>
#include <vector>

#include "emulator/api/ml/iam.h"
#include "emulator/api/optimizer/study_service.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// The identity of the emulated service.
struct ServiceIdentity {
  std::string project_number;   // of every project
  std::string service_account;  // the one that jobs run as by default
};

/// The service's managed account of a project, as its error texts name it.
std::string ManagedServiceAccount(const std::string& project_number);

/// Engine, policies and studies outlive the routes.
std::vector<http::Route> MlRoutes(engine::Engine& engine, PolicyStore& policies,
                                  StudyService& studies, const ServiceIdentity& identity);

/// kNotFound, too, if the job belongs to another API.
Result<run::Job> FindMlJob(const engine::Engine& engine, const std::string& project,
                           const std::string& job_id);

// The parts of MlRoutes.

/// projects.jobs: create, get, list, patch, cancel (docs/service/api.md, sections 2 to 8).
std::vector<http::Route> JobRoutes(engine::Engine& engine);

/// projects.getConfig and projects.locations.
std::vector<http::Route> ProjectRoutes(const ServiceIdentity& identity);

/// projects.operations. Training makes no operations: the list is empty, and `get` finds none.
std::vector<http::Route> OperationRoutes();

/// projects.models.list. There are no models: the list is empty.
std::vector<http::Route> ModelRoutes();

/// Makes a route for each method of the service that is not among `served`. It answers 404 with the
/// method's name.
std::vector<http::Route> NotEmulatedRoutes(const std::vector<http::Route>& served);

}  // namespace caip::api
