#pragma once
// projects.getConfig and projects.locations.

#include <string>
#include <vector>

#include "http/router.h"

namespace caip::api {

/// Who the emulated service is.
struct ServiceIdentity {
  std::string project_number;   // of every project
  std::string service_account;  // the one jobs run as by default
};

/// The service's managed account of a project, as its error texts name it.
std::string ManagedServiceAccount(const std::string& project_number);

std::vector<http::Route> ProjectRoutes(const ServiceIdentity& identity);

}  // namespace caip::api
