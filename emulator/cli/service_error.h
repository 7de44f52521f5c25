#pragma once
// An error answer of the emulator, as gcloud shows the service's.

#include <string>
#include <string_view>

#include "http/client.h"

namespace caip::cli {

/// "INVALID_ARGUMENT: <message>" and the details as YAML; a conflict in gcloud's own words. For
/// bodies that are no error of Google's form: the status and the body.
std::string ServiceErrorText(const http::ClientResponse& response, std::string_view project);

}  // namespace caip::cli
