#pragma once
// Serves calls of gRPC through the routes of the REST APIs.

#include <functional>
#include <optional>

#include "http/message.h"
#include "http/server.h"

namespace caip::grpc {

/// Called for a call that ends without a request of the REST API, with the status that such a
/// request would have. Any thread.
using OnOwnAnswer = std::function<void(const http::Request&, const http::Response&)>;

/// True for a call of gRPC over HTTP/2.
bool IsCall(const http::Request& request);

/// Answers calls of gRPC by requests to `rest`, which have the caller's address, credentials and
/// authority. Hands all other requests on to `next`.
http::Handler WithGrpc(http::Handler rest, http::Handler next, OnOwnAnswer on_own_answer);

/// The time limit of a call that has a grpc-timeout.
std::optional<http::TimeLimit> LimitOf(const http::Request& request);

/// An answer of the server itself, as a status if the request is a call.
http::Response RenderOwnAnswer(const http::Request& request, http::Response response);

}  // namespace caip::grpc
