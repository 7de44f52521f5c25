#include "grpc/transcoder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "grpc/call_status.h"
#include "grpc/errors.h"
#include "grpc/http_rule.h"
#include "grpc/json_elements.h"
#include "grpc/message_frame.h"
#include "grpc/schema.h"
#include "http/text_body.h"

namespace caip::grpc {
namespace {

constexpr std::string_view kContentType = "application/grpc";
constexpr size_t kTimeoutDigitsMax = 8;
constexpr double kTimeoutSecondsMax = 1e9;  // as nanoseconds, it fits 64 bits

// Metadata that a request of the REST API has in the same form.
bool IsPassedOn(std::string_view name) {
  const std::string lower = LowerCase(name);
  return lower == "authorization" || lower == "proxy-authorization" || lower == "user-agent" ||
         (lower.starts_with("x-goog-") && !lower.ends_with("-bin"));
}

std::string BodyOf(http::Response& response) {
  if (!response.write_body) return std::move(response.body);
  std::string body;
  response.write_body([&body](std::string_view piece) {
    body += piece;
    return true;
  });
  return body;
}

http::Request RestRequestOf(const http::Request& call, RestRequest bound, http::TextBody& body) {
  http::Request request;
  request.method = std::move(bound.verb);
  request.path = std::move(bound.path);
  request.query = std::move(bound.query);
  request.scheme = call.scheme;
  request.host = call.host;
  request.userinfo = call.userinfo;
  request.peer = call.peer;
  request.listener = call.listener;
  request.is_http2 = true;
  for (const auto& [name, value] : call.headers.all()) {
    if (IsPassedOn(name)) request.headers.Add(name, value);
  }
  request.headers.Add("Host", call.host);
  if (!bound.body.empty()) request.headers.Add("Content-Type", "application/json");
  request.body = &body;
  return request;
}

struct TimeoutUnit {
  char name;
  double seconds;
};
constexpr TimeoutUnit kTimeoutUnits[] = {{'H', 3600}, {'M', 60},   {'S', 1},
                                         {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}};

// Reads "100m", a tenth of a second (gRPC over HTTP2, "Timeout").
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  const std::string_view digits = text.substr(0, text.size() - 1);
  if (!IsDigits(digits)) return std::nullopt;
  int count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  for (const TimeoutUnit& unit : kTimeoutUnits) {
    if (unit.name != text.back()) continue;
    const double seconds = std::min(count * unit.seconds, kTimeoutSecondsMax);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
  }
  return std::nullopt;
}

// Checks that the transcoder can serve the call at all.
Result<const Method*> FindMethod(const Schema& schema, const http::Request& call) {
  const std::string_view type = call.headers.Get("content-type");
  if (type != kContentType && type != "application/grpc+proto") {
    return errors::ContentTypeUnknown(type);
  }
  const std::string_view timeout = call.headers.Get("grpc-timeout");
  if (!timeout.empty() && !ParseTimeout(timeout)) return errors::TimeoutMalformed(timeout);
  const Method* const method = schema.Find(call.path);
  if (method == nullptr) return errors::MethodUnknown(call.path, schema.ServiceNames());
  if (method->streams_requests && !method->streams_responses) {
    return errors::MethodStreams(call.path);
  }
  return method;
}

Result<RestRequest> ReadCall(const Schema& schema, const Method& method,
                             const http::Request& call) {
  ASSIGN_OR_RETURN(const std::string message,
                   method.streams_requests ? ReadFirstMessage(call) : ReadOnlyMessage(call));
  ASSIGN_OR_RETURN(const std::string text, schema.ToJson(method.input, message));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  return BindMessage(method.rules, json);
}

// The error that a failing piece of work gives its call. nullopt: it did not throw.
template <typename Work>
std::optional<Error> FailureOf(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::exception& failure) {
    return errors::CallFailed(failure.what());
  } catch (...) {
    return errors::CallFailed("unknown");
  }
}

// Sends each element of the array that a route streams as a message.
http::Response StreamedResponse(const Schema& schema, const std::string& type,
                                std::function<void(const http::Response::Sink&)> write_array) {
  http::Response response = EmptyResponse();
  const auto trailers = std::make_shared<http::Headers>();
  response.trailers = trailers;
  response.write_body = [&schema, type, trailers,
                         write_array = std::move(write_array)](const http::Response::Sink& sink) {
    JsonElements elements;
    CallFailure end{{Code::kOk, ""}};
    const auto write_messages = [&](std::string_view piece) {
      bool goes_on = sink("");  // a route that has no news asks whether its client has gone
      for (const std::string& element : elements.Take(piece)) {
        const auto message = schema.FromJson(type, element);
        if (!message.ok()) end.error = message.error();
        goes_on = goes_on && message.ok() && sink(FrameMessage(*message));
      }
      return goes_on;
    };
    const auto failure = FailureOf([&] { write_array(write_messages); });
    AddStatus(failure ? CallFailure{*failure} : end, *trailers);
  };
  return response;
}

http::Response AnswerCall(const http::Handler& rest, const OnOwnAnswer& on_own_answer,
                          const http::Request& call) {
  const Schema& schema = Schema::Served();
  const auto refuse = [&](const Error& error) {
    http::Response of_rest;
    of_rest.status = HttpStatusOf(error.code);
    if (on_own_answer) on_own_answer(call, of_rest);
    return FailureResponse({error});
  };
  const auto method = FindMethod(schema, call);
  if (!method.ok()) return refuse(method.error());
  auto bound = ReadCall(schema, **method, call);
  if (!bound.ok()) return refuse(bound.error());
  const std::string text = std::move(bound->body);
  http::TextBody body(text);
  http::Response answer = rest(RestRequestOf(call, *std::move(bound), body));
  if (answer.reset) return answer;  // an injected fault
  if (answer.status < 300 && (*method)->streams_responses && answer.write_body) {
    return StreamedResponse(schema, (*method)->output, std::move(answer.write_body));
  }
  const std::string json = BodyOf(answer);
  if (answer.status >= 300) return FailureResponse(ReadFailure(schema, answer.status, json));
  const auto message = schema.FromJson((*method)->output, json.empty() ? "{}" : json);
  return message.ok() ? MessageResponse(*message) : FailureResponse({message.error()});
}

}  // namespace

bool IsCall(const http::Request& request) {
  if (!request.is_http2 || request.method != "POST") return false;
  const std::string_view type = request.headers.Get("content-type");
  return type.starts_with(kContentType) &&
         (type.size() == kContentType.size() || type[kContentType.size()] == '+' ||
          type[kContentType.size()] == ';');
}

http::Handler WithGrpc(http::Handler rest, http::Handler next, OnOwnAnswer on_own_answer) {
  return [rest = std::move(rest), next = std::move(next),
          on_own_answer = std::move(on_own_answer)](const http::Request& request) {
    if (!IsCall(request)) return next(request);
    http::Response response;
    const auto failure = FailureOf([&] { response = AnswerCall(rest, on_own_answer, request); });
    return failure ? FailureResponse({*failure}) : response;
  };
}

std::optional<http::TimeLimit> LimitOf(const http::Request& request) {
  if (!IsCall(request)) return std::nullopt;
  const std::string_view text = request.headers.Get("grpc-timeout");
  const auto timeout = ParseTimeout(text);
  if (!timeout) return std::nullopt;
  const CallFailure failure{errors::DeadlineExceeded(text)};
  const auto trailers = std::make_shared<http::Headers>();
  AddStatus(failure, *trailers);
  return http::TimeLimit{MonotonicNow() + *timeout, FailureResponse(failure), trailers};
}

http::Response RenderOwnAnswer(const http::Request& request, http::Response response) {
  if (!IsCall(request)) return response;
  return FailureResponse(ReadFailure(Schema::Served(), response.status, response.body));
}

}  // namespace caip::grpc
