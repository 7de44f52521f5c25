#pragma once
// The services that are served over gRPC, as the descriptions in protos/ define them. protobuf's
// headers stay in schema.cc.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grpc/http_rule.h"

namespace caip::grpc {

/// A method of a service.
struct Method {
  std::string path;   // "/google.cloud.aiplatform.v1.JobService/CreateCustomJob"
  std::string input;  // the full names of its messages
  std::string output;
  bool streams_requests = false;
  bool streams_responses = false;
  std::vector<HttpRule> rules;
};

/// Services and messages. Immutable; any thread.
class Schema {
 public:
  virtual ~Schema() = default;
  /// The schema of this program. Made at the first call, because it takes some milliseconds.
  static const Schema& Served();

  /// nullptr: no service has it.
  virtual const Method* Find(std::string_view path) const = 0;
  /// The full names of all services.
  virtual std::vector<std::string_view> ServiceNames() const = 0;
  /// A message as JSON. Refuses fields that the schema does not know, at any depth.
  virtual Result<std::string> ToJson(const std::string& type, const std::string& bytes) const = 0;
  /// The reverse. Fields that the schema does not know are left out, and so are fields of the type
  /// Any that cannot be converted.
  virtual Result<std::string> FromJson(const std::string& type, const std::string& json) const = 0;
};

}  // namespace caip::grpc
