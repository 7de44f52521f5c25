#include "http/connection/preflight.h"

namespace caip::http {

bool IsPreflight(const Request& request) {
  return request.method == "OPTIONS" && request.headers.Has("Origin") &&
         request.headers.Has("Access-Control-Request-Method");
}

Response PreflightAnswer(const Request& request) {
  const auto asked = [&](std::string_view name) { return std::string(request.headers.Get(name)); };
  Response response;
  response.status = 204;
  response.headers.Add("Access-Control-Allow-Origin", asked("Origin"));
  response.headers.Add("Access-Control-Allow-Methods", asked("Access-Control-Request-Method"));
  if (request.headers.Has("Access-Control-Request-Headers")) {
    response.headers.Add("Access-Control-Allow-Headers", asked("Access-Control-Request-Headers"));
  }
  response.headers.Add("Access-Control-Max-Age", "3600");
  response.headers.Add("Vary", "Origin");
  return response;
}

}  // namespace caip::http
