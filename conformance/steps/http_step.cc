#include "conformance/format/step.h"
#include "conformance/problems.h"
#include "conformance/steps/steps.h"

namespace conform {
namespace {

// Converts "trainingInput.hyperparameters.params[0].minValue" to a JSON pointer.
Json::json_pointer PointerOf(const std::string& path) {
  std::string pointer = "/";
  for (char c : path) {
    if (c == '.' || c == '[') pointer += '/';
    if (c != '.' && c != '[' && c != ']') pointer += c;
  }
  return Json::json_pointer(pointer);
}

void Remove(Json& job, const std::string& path) {
  const Json::json_pointer pointer = PointerOf(path);
  if (!job.contains(pointer)) return;
  Json& parent = job.at(pointer.parent_pointer());
  if (parent.is_array()) {
    parent.erase(std::stoul(pointer.back()));
  } else {
    parent.erase(pointer.back());
  }
}

std::string TextOfHttpStep(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string WithQuery(std::string target, const Json& query) {
  for (const auto& [name, value] : query.items()) {
    const Json values = value.is_array() ? value : Json::array({value});
    for (const Json& one : values) {
      target += target.find('?') == std::string::npos ? '?' : '&';
      target += Encoded(name) + "=" + Encoded(TextOfHttpStep(one));
    }
  }
  return target;
}

// A link in an answer is a whole URL. Its path is requested from the same endpoint.
std::string PathOf(const std::string& link) {
  const size_t scheme = link.find("://");
  if (scheme == std::string::npos || scheme > 5) return link;
  const size_t path = link.find('/', scheme + 3);
  return path == std::string::npos ? "/" : link.substr(path);
}

WireRequest RequestOf(const Json& step) {
  const std::string line = step["call"];
  const size_t blank = line.find(' ');
  WireRequest request;
  request.method = line.substr(0, blank);
  request.target = WithQuery(PathOf(line.substr(blank + 1)), step.value("query", Json::object()));
  if (step.contains("body")) {
    request.headers["Content-Type"] = "application/json";
    request.body = step["body"].dump();
  }
  if (step.contains("text")) request.body = step["text"];
  if (step.contains("base64")) request.body = FromBase64(step["base64"]).value_or("");
  for (const Json members = step.value("headers", Json::object());
       const auto& [name, value] : members.items()) {
    request.headers[name] = TextOfHttpStep(value);
  }
  return request;
}

// A job that `call` created must be cancelled like any other.
void NoteIfCreated(Scope& scope, const WireRequest& request, const Json& seen) {
  const std::string start = "/v1/projects/";
  const bool create = request.method == "POST" && request.target.starts_with(start);
  const size_t end = request.target.find("/jobs", start.size());
  if (!create || end == std::string::npos || seen["status"] != 200) return;
  const Json body = seen.value("body", Json::object());
  if (!body.is_object() || !body.contains("jobId") || !body["jobId"].is_string()) return;
  scope.NoteJob(request.target.substr(start.size(), end - start.size()), body["jobId"]);
}

}  // namespace

Result<Json> Call(Scope& scope, const Json& step) {
  const WireRequest request = RequestOf(step);
  const std::string service = step.value("service", ServiceOf(request.target));
  Result<Json> seen = scope.Send(service, request);
  if (seen.ok()) NoteIfCreated(scope, request, seen.value());
  return seen;
}

Result<Json> BuildJob(const World& world, const Json& form) {
  Json job = form.value("job", Json::object());
  if (form.contains("base")) {
    const auto base = world.jobs.find(form["base"]);
    if (base == world.jobs.end()) return problems::JobUnknown(form["base"]);
    job = base->second;
  }
  try {
    for (const Json members = form.value("set", Json::object());
         const auto& [path, value] : members.items()) {
      if (value.is_null()) {
        Remove(job, path);
      } else {
        job[PointerOf(path)] = value;
      }
    }
    for (const Json& path : form.value("unset", Json::array())) Remove(job, path);
  } catch (const Json::exception& broken) {
    return problems::JobPathBroken(broken.what());
  }
  return job;
}

Result<Json> Create(Scope& scope, const Json& step) {
  const Result<Json> made = BuildJob(scope.world(), step["create"]);
  if (!made.ok()) return made;
  const Result<Json> job = scope.Filled(made.value());
  if (!job.ok()) return job;
  const std::string project = step.value("project", scope.world().setting("project"));
  const Json id = job.value().value("jobId", Json());
  if (id.is_string()) scope.Save("job", id);
  return Call(scope, {{"call", "POST /v1/projects/" + project + "/jobs"}, {"body", job.value()}});
}

}  // namespace conform
