#include "fakes/gcs/faults/retry_tests.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

using http::PathParameters;
using http::Request;
using http::Response;

constexpr char kHeader[] = "x-retry-test-id";
constexpr size_t kBodyBytesMax = 1 << 20;

// Converts "storage.bucket_acl.get" to "storage.bucketAccessControls.get".
std::string RouteIdOf(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"storage.bucket_acl.", "storage.bucketAccessControls."},
      {"storage.default_object_acl.", "storage.defaultObjectAccessControls."},
      {"storage.object_acl.", "storage.objectAccessControls."},
      {"storage.hmacKey.", "storage.projects.hmacKeys."},
      {"storage.serviceaccount.", "storage.projects.serviceAccount."},
  };
  for (const auto& [theirs, ours] : kNames) {
    if (name.starts_with(theirs)) return std::string(ours) + name.substr(theirs.size());
  }
  return name;
}

// Returns "storage.objects." for "storage.objects.get".
std::string_view FamilyOf(std::string_view method) {
  return method.substr(0, method.rfind('.') + 1);
}

// Some verbs of a resource may have no route here; their tests never take effect.
bool IsKnown(const std::set<std::string>& methods, const std::string& method) {
  return std::any_of(methods.begin(), methods.end(),
                     [&](const std::string& known) { return FamilyOf(known) == FamilyOf(method); });
}

}  // namespace

Result<std::string> RetryTests::Create(const Json& resource) {
  const Json* instructions = Member(resource, "instructions");
  if (instructions == nullptr || !instructions->is_object()) {
    return errors::FieldInvalid("instructions", "expected an object of lists, by method");
  }
  const std::string transport = StringOr(resource, "transport", "HTTP");
  if (transport != "HTTP" && transport != "http") {  // Go's client writes it in lower case
    return errors::FieldInvalid("transport", "only HTTP is served here, not " + transport);
  }
  Test test;
  for (const auto& [name, list] : instructions->items()) {
    const std::string method = RouteIdOf(name);
    if (!IsKnown(methods_, method)) {
      return errors::FieldInvalid("instructions." + name, "there is no such method");
    }
    if (!list.is_array()) return errors::FieldInvalid("instructions." + name, "expected a list");
    test.names[method] = name;
    for (const Json& word : list) {
      const auto fault = word.is_string() ? ParseFault(word.get<std::string>()) : std::nullopt;
      if (!fault) {
        return errors::FieldInvalid(
            "instructions." + name,
            CompactJson(word) + " is not a valid instruction. Use one of " + FaultForms());
      }
      test.pending[method].push_back({word.get<std::string>(), *fault});
    }
  }
  const std::lock_guard lock(mutex_);
  test.number = ++made_;
  const std::string id = random_.Hex(32);
  tests_[id] = std::move(test);
  while (tests_.size() > kTestsMax) {
    tests_.erase(std::min_element(tests_.begin(), tests_.end(), [](const auto& a, const auto& b) {
      return a.second.number < b.second.number;
    }));
  }
  return id;
}

std::optional<Fault> RetryTests::Take(const std::string& method, const Request& request) {
  const std::string_view id = request.headers.Get(kHeader);
  if (id.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto test = tests_.find(std::string(id));
  if (test == tests_.end())
    return Fault{.status = 404, .message = errors::RetryTestNotFound(id).message};
  const auto steps = test->second.pending.find(method);
  if (steps == test->second.pending.end() || steps->second.empty()) return std::nullopt;
  Step step = std::move(steps->second.front());
  steps->second.pop_front();
  const Fault fault = step.fault;
  test->second.taken[method].push_back(std::move(step));
  return fault;
}

void RetryTests::PutBack(const std::string& method, const Request& request, const Fault& fault) {
  const std::lock_guard lock(mutex_);
  const auto test = tests_.find(std::string(request.headers.Get(kHeader)));
  if (test == tests_.end()) return;
  std::vector<Step>& taken = test->second.taken[method];
  const auto step = std::find_if(taken.rbegin(), taken.rend(), [&](const Step& given) {
    return given.fault.kind == fault.kind && given.fault.bytes == fault.bytes &&
           given.fault.status == fault.status;
  });
  if (step == taken.rend()) return;
  test->second.pending[method].push_front(std::move(*step));
  taken.erase(std::next(step).base());
}

Json RetryTests::Shown(const std::string& id, const Test& test) const {
  Json instructions = Json::object();
  bool completed = true;
  for (const auto& [method, name] : test.names) {
    Json list = Json::array();
    if (const auto steps = test.pending.find(method); steps != test.pending.end()) {
      for (const Step& step : steps->second) list.push_back(step.instruction);
    }
    completed = completed && list.empty();
    instructions[name] = std::move(list);
  }
  return {{"id", id},
          {"instructions", std::move(instructions)},
          {"transport", "HTTP"},
          {"completed", completed}};
}

Result<Json> RetryTests::Get(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto test = tests_.find(id);
  if (test == tests_.end()) return errors::RetryTestNotFound(id);
  return Shown(id, test->second);
}

Status RetryTests::Delete(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (tests_.erase(id) == 0) return errors::RetryTestNotFound(id);
  return Ok{};
}

std::vector<Json> RetryTests::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<Json> list;
  for (const auto& [id, test] : tests_) list.push_back(Shown(id, test));
  return list;
}

std::vector<http::Route> RetryTestRoutes(std::shared_ptr<RetryTests> tests) {
  const auto route = [](const char* verb, const char* pattern, const char* id, auto method) {
    return http::Route{verb, pattern, id,
                       [method](const Request& request, const PathParameters& path) -> Response {
                         const Result<Json> json = method(request, path);
                         if (!json.ok()) return errors::ToResponse(json.error());
                         return http::JsonResponse(200, CompactJson(*json));
                       }};
  };
  const auto list = [tests](const Request&, const PathParameters&) -> Result<Json> {
    return Json{{"retry_test", tests->List()}};
  };
  return {
      route("POST", "/retry_test", "testbench.retryTests.create",
            [tests](const Request& request, const PathParameters&) -> Result<Json> {
              ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kBodyBytesMax));
              const auto resource = ParseJson(text);
              if (!resource.ok()) return errors::BodyInvalid(resource.error().message);
              ASSIGN_OR_RETURN(const std::string id, tests->Create(*resource));
              return tests->Get(id);
            }),
      route("GET", "/retry_test", "testbench.retryTests.list", list),
      route("GET", "/retry_tests", "testbench.retryTests.list", list),
      route("GET", "/retry_test/{id}", "testbench.retryTests.get",
            [tests](const Request&, const PathParameters& path) {
              return tests->Get(path.At("id"));
            }),
      route("DELETE", "/retry_test/{id}", "testbench.retryTests.delete",
            [tests](const Request&, const PathParameters& path) -> Result<Json> {
              RETURN_IF_ERROR(tests->Delete(path.At("id")));
              return Json::object();
            }),
  };
}

std::set<std::string> MethodsOf(const std::vector<http::Route>& routes) {
  std::set<std::string> methods;
  for (const http::Route& route : routes) methods.insert(route.id);
  return methods;
}

}  // namespace caip::gcs
