#include "http/router.h"

#include <gtest/gtest.h>

namespace caip::http {
namespace {

// A router that answers the id of the route it chose and what the names stood for.
Router MakeRouter() {
  Router router([](int status, const Request&, const std::string& allow) {
    return JsonResponse(status, allow);
  });
  const auto add = [&](std::string method, std::string pattern, std::string id,
                       std::vector<std::string> names) {
    router.Add({method, pattern, id, [id, names](const Request&, const PathParameters& values) {
                  std::string text = id;
                  for (const std::string& name : names) text += " " + name + "=" + values.At(name);
                  return JsonResponse(200, text);
                }});
  };
  add("GET", "/v1/projects/{project}/jobs", "list", {"project"});
  add("POST", "/v1/projects/{project}/jobs", "create", {"project"});
  add("GET", "/v1/projects/{project}/jobs/{job}", "get", {"project", "job"});
  add("POST", "/v1/projects/{project}/jobs/{job}:cancel", "cancel", {"job"});
  add("GET", "/v1/projects/{project}:getConfig", "config", {"project"});
  add("POST", "/v2/entries:list", "entries", {});
  add("GET", "/b/{bucket}/o/{object}", "object", {"bucket", "object"});
  add("POST", "/b/{bucket}/o/{object}/compose", "compose", {"object"});
  add("GET", "/x/{bucket}/{rest...}", "rest", {"bucket", "rest"});
  add("GET", "/x/{bucket}/exact", "exact", {"bucket"});
  add("GET", "/$discovery/rest", "discovery", {});
  return router;
}

struct Case {
  const char* method;
  const char* path;
  int status;
  const char* answer;
};

TEST(Router, FindsTheMostSpecificRouteAndDecodesItsNames) {
  const Router router = MakeRouter();
  const Case cases[] = {
      {"GET", "/v1/projects/p/jobs", 200, "list project=p"},
      {"HEAD", "/v1/projects/p/jobs", 200, "list project=p"},
      {"POST", "/v1/projects/p/jobs", 200, "create project=p"},
      {"GET", "/v1/projects/p/jobs/j1", 200, "get project=p job=j1"},
      {"POST", "/v1/projects/p/jobs/j1:cancel", 200, "cancel job=j1"},
      {"GET", "/v1/projects/p:getConfig", 200, "config project=p"},
      {"POST", "/v2/entries:list", 200, "entries"},
      {"GET", "/b/bkt/o/a%2Fb%20c", 200, "object bucket=bkt object=a/b c"},
      {"GET", "/b/bkt/o/a:b+c", 200, "object bucket=bkt object=a:b+c"},
      {"GET", "/b/bkt/o/%2F%2f", 200, "object bucket=bkt object=//"},
      {"POST", "/b/bkt/o/a%2Fcompose/compose", 200, "compose object=a/compose"},
      {"GET", "/x/bkt/a/b//c%2Fd", 200, "rest bucket=bkt rest=a/b//c/d"},
      {"GET", "/x/bkt/exact", 200, "exact bucket=bkt"},
      {"GET", "/%24discovery/rest", 200, "discovery"},
      {"GET", "/", 404, ""},
      {"GET", "/v1/projects//jobs", 404, ""},
      {"GET", "/v1/projects/p/jobs/j/k", 404, ""},
      {"GET", "/b/bkt/o/broken%zz", 404, ""},
      {"DELETE", "/v1/projects/p/jobs", 405, "GET, POST"},
      {"GET", "/v2/entries:list", 405, "POST"},
  };
  for (const Case& row : cases) {
    Request request;
    request.method = row.method;
    request.path = row.path;
    const Response response = router.Handle(request);
    EXPECT_EQ(response.status, row.status) << row.method << " " << row.path;
    EXPECT_EQ(response.body, row.answer) << row.method << " " << row.path;
  }
}

TEST(Router, TellsByOptionsWhatAPathKnows) {
  const Router router = MakeRouter();
  const auto options = [&](const std::string& path) {
    Request request;
    request.method = "OPTIONS";
    request.path = path;
    return router.Handle(request);
  };
  EXPECT_EQ(options("/v1/projects/p/jobs").status, 204);
  EXPECT_EQ(options("/v1/projects/p/jobs").headers.Get("Allow"), "GET, POST, OPTIONS");
  EXPECT_EQ(options("*").status, 204);
  EXPECT_EQ(options("/nowhere/at/all").status, 404);
}

TEST(Router, ListsItsRoutes) {
  const Router router = MakeRouter();
  ASSERT_EQ(router.routes().size(), 11u);
  EXPECT_EQ(router.routes()[3].id, "cancel");
  EXPECT_EQ(router.Find("PATCH", "/v2/entries:list"), nullptr);
}

TEST(Router, PrefersByItsPatternWhereverTheFirstSegmentIsAName) {
  Router router([](int status, const Request&, const std::string& allow) {
    return JsonResponse(status, allow);
  });
  const auto add = [&](std::string method, std::string pattern) {
    router.Add({method, pattern, pattern, [pattern](const Request&, const PathParameters&) {
                  return JsonResponse(200, pattern);
                }});
  };
  add("GET", "/word/{name}");
  add("GET", "/{any}/fixed");
  add("POST", "/{any}/fixed");
  add("GET", "/later/fixed");
  const auto ask = [&](const std::string& method, const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    return router.Handle(request).body;
  };
  EXPECT_EQ(ask("GET", "/word/fixed"), "/word/{name}");
  EXPECT_EQ(ask("GET", "/w%6Frd/x"), "/word/{name}");
  EXPECT_EQ(ask("GET", "/else/fixed"), "/{any}/fixed");
  EXPECT_EQ(ask("GET", "/later/fixed"), "/later/fixed");
  EXPECT_EQ(ask("POST", "/later/fixed"), "/{any}/fixed");
  EXPECT_EQ(ask("DELETE", "/word/fixed"), "GET, POST");
  EXPECT_EQ(ask("GET", "/else/other"), "");
}

TEST(Router, TakesANameOfSeveralSegmentsBeforeOthers) {
  Router router([](int status, const Request&, const std::string& allow) {
    return JsonResponse(status, allow);
  });
  const auto add = [&](std::string method, std::string pattern) {
    router.Add({method, pattern, pattern, [pattern](const Request&, const PathParameters& values) {
                  return JsonResponse(200, pattern + " " + values.At("name") + " " +
                                               values.At("tag") + values.At("id"));
                }});
  };
  add("GET", "/v2/");
  add("GET", "/v2/{name...}/tags/list");
  add("GET", "/v2/{name...}/tags/{tag}");
  add("POST", "/v2/{name...}/uploads/");
  add("GET", "/v2/{name...}/uploads/{id}");
  add("GET", "/v2/projects/{id}/logs");
  add("DELETE", "/v2/projects/{id}/{name...}");
  const auto ask = [&](const std::string& method, const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    return router.Handle(request).body;
  };
  const struct {
    const char* method;
    const char* path;
    const char* answer;
  } rows[] = {
      {"GET", "/v2/", "/v2/  "},
      {"GET", "/v2/a/tags/list", "/v2/{name...}/tags/list a "},
      {"GET", "/v2/a/b/c/tags/list", "/v2/{name...}/tags/list a/b/c "},
      {"GET", "/v2/a/tags/list/tags/list", "/v2/{name...}/tags/list a/tags/list "},
      {"GET", "/v2/a/b/tags/x", "/v2/{name...}/tags/{tag} a/b x"},
      {"GET", "/v2/a%2Fb/..%2f/tags/%78", "/v2/{name...}/tags/{tag} a/b/../ x"},
      {"POST", "/v2/a/b/uploads/", "/v2/{name...}/uploads/ a/b "},
      {"GET", "/v2/a/b/uploads/17", "/v2/{name...}/uploads/{id} a/b 17"},
      {"GET", "/v2/projects/p/logs", "/v2/projects/{id}/logs  p"},
      {"GET", "/v2/projects/p/tags/list", "/v2/{name...}/tags/list projects/p "},
      {"DELETE", "/v2/projects/p/a/b", "/v2/projects/{id}/{name...} a/b p"},
      {"PUT", "/v2/a/tags/list", "GET"},
      {"GET", "/v2/a/b/uploads/", "POST"},
      {"GET", "/v2/tags/list", ""},
      {"GET", "/v2/a/tags/", ""},
      {"GET", "/v2/a/%zz/tags/list", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ask(row.method, row.path), row.answer) << row.method << " " << row.path;
  }
}

}  // namespace
}  // namespace caip::http
