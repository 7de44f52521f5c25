#pragma once
// Calls a router without a server.

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/json.h"
#include "http/message.h"
#include "http/router.h"
#include "http/text_body.h"

namespace caip::api {

struct Answer {
  int status = 0;
  Json json;
  std::string text;
};

inline Answer AskRouter(const http::Router& router, const std::string& method,
                        const std::string& target, const std::string& body = "",
                        const std::string& scheme = "http",
                        const std::string& host = "127.0.0.1:2247") {
  auto parsed = http::ParseTarget(target);
  assert(parsed);
  http::TextBody reader(body);
  http::Request request;
  request.method = method;
  request.path = parsed->path;
  request.query = parsed->query;
  request.body = &reader;
  request.host = host;
  request.scheme = scheme;
  const http::Response response = router.Handle(request);
  auto json = ParseJson(response.body);
  return {response.status, json.ok() ? *json : Json(), response.body};
}

}  // namespace caip::api
