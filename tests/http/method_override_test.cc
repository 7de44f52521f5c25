#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "http/router.h"
#include "http/text_body.h"

namespace caip::http {
namespace {

// The method, and the values of `a`, that a router's handlers see.
std::string Routed(const std::string& method, const std::string& override,
                   const std::string& type = "", const std::string& form = "") {
  Router router(
      [](int status, const Request&, const std::string&) { return JsonResponse(status, "none"); });
  for (const char* known : {"GET", "POST", "PATCH", "DELETE"}) {
    router.Add({known, "/x", known, [](const Request& request, const PathParameters&) {
                  return JsonResponse(200, request.method + "?" + std::string(request.Query("a")));
                }});
  }
  TextBody body(form);
  Request request;
  request.method = method;
  request.path = "/x";
  request.body = &body;
  request.headers.Add("x-http-method-override", override);
  if (!type.empty()) request.headers.Add("Content-Type", type);
  return router.Handle(request).body;
}

TEST(MethodOverride, MakesAPostWhatItStandsFor) {
  EXPECT_EQ(Routed("POST", "PATCH"), "PATCH?");
  EXPECT_EQ(Routed("POST", "delete"), "DELETE?");
  EXPECT_EQ(Routed("POST", "PUT"), "none");  // which this path does not know
}

TEST(MethodOverride, IsOfPostsOnly) { EXPECT_EQ(Routed("GET", "DELETE"), "GET?"); }

TEST(MethodOverride, KnowsNoStrangeMethods) { EXPECT_EQ(Routed("POST", "CONNECT"), "POST?"); }

TEST(MethodOverride, TakesALongQueryFromAForm) {
  const std::string value(5000, 'v');
  EXPECT_EQ(Routed("POST", "GET", "application/x-www-form-urlencoded", "b=1&a=" + value),
            "GET?" + value);
  EXPECT_EQ(Routed("POST", "GET", "application/x-www-form-urlencoded", "a=1%2B+2"), "GET?1+ 2");
  EXPECT_EQ(Routed("POST", "GET", "application/json", "a=1"), "GET?");
}

}  // namespace
}  // namespace caip::http
