#pragma once
// How a call ended: errors of the REST API as gRPC's statuses.

#include <string>
#include <string_view>

#include "base/result.h"
#include "grpc/schema.h"
#include "http/message.h"

namespace caip::grpc {

/// The end of a call that failed.
struct CallFailure {
  Error error;
  std::string details = {};  // a google.rpc.Status in binary form; "" none
};

/// The status of HTTP that the REST API gives the code.
int HttpStatusOf(Code code);

/// Reads an error of a REST API, {"error": {code, message, status, details}}. Other bodies give the
/// code of the HTTP status.
CallFailure ReadFailure(const Schema& schema, int http_status, const std::string& body);

/// Adds the fields of a status. Their size is bounded, because clients refuse large headers: the
/// details are left out first, then the end of the message.
void AddStatus(const CallFailure& failure, http::Headers& fields);

/// A response that has no status and no message yet.
http::Response EmptyResponse();

/// A response that has a status and no message.
http::Response FailureResponse(const CallFailure& failure);

/// A response with one message.
http::Response MessageResponse(std::string_view message);

}  // namespace caip::grpc
