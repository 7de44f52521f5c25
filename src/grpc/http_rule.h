#pragma once
// Rules of google.api.http: the request of the REST API that a message of gRPC stands for
// (google/api/http.proto).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace caip::grpc {

/// One annotation, or one of its additional bindings.
struct HttpRule {
  std::string verb;     // "POST"
  std::string pattern;  // "/v1/{parent=projects/*/locations/*}/customJobs"
  std::string body;     // the field that becomes the body; "*" all that are left; "" none
};

/// A request of the REST API.
struct RestRequest {
  std::string verb;
  std::string path;  // %-encoded
  std::vector<std::pair<std::string, std::string>> query;
  std::string body;  // JSON; "" none
};

/// Binds a message in its JSON form by the first rule that its fields fit. kInvalidArgument if they
/// fit none.
Result<RestRequest> BindMessage(const std::vector<HttpRule>& rules, const Json& message);

/// The name of a field in JSON: "page_size" -> "pageSize".
std::string JsonFieldName(std::string_view name);

}  // namespace caip::grpc
