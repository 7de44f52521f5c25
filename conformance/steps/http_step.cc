#include <algorithm>

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

constexpr const char* kVertexCollections[] = {"customJobs", "hyperparameterTuningJobs",
                                              "trainingPipelines"};

// The full name of a job of Vertex AI that has just been created; "" if it is something else.
std::string NameOfNewJob(const std::string& target, const Json& body) {
  const std::string path = target.substr(0, target.find('?'));
  const std::string collection = path.substr(path.rfind('/') + 1);
  const bool is_known =
      std::ranges::find(kVertexCollections, collection) != std::end(kVertexCollections);
  if (!is_known || !body.contains("name") || !body["name"].is_string()) return "";
  const std::string name = body["name"];
  return name.starts_with("projects/") ? name : "";
}

// A job that `call` created must be cancelled like any other.
void NoteIfCreated(Scope& scope, const WireRequest& request, const Json& seen) {
  if (request.method != "POST" || seen["status"] != 200) return;
  const Json body = seen.value("body", Json::object());
  if (!body.is_object()) return;
  if (const std::string name = NameOfNewJob(request.target, body); !name.empty()) {
    scope.NoteJob("", name);
  }
  const std::string start = "/v1/projects/";
  const size_t end = request.target.find("/jobs", start.size());
  if (!request.target.starts_with(start) || end == std::string::npos) return;
  if (!body.contains("jobId") || !body["jobId"].is_string()) return;
  scope.NoteJob(request.target.substr(start.size(), end - start.size()), body["jobId"]);
}

// Vertex AI gives names. ${job} is the whole one, ${id} its last part, ${number} the project's.
void SaveResourceName(Scope& scope, const Json& seen) {
  const std::string name = seen.value("/body/name"_json_pointer, "");
  const size_t project = name.find('/') + 1;
  if (!name.starts_with("projects/")) return;
  scope.Save("job", name);
  scope.Save("id", name.substr(name.rfind('/') + 1));
  scope.Save("number", name.substr(project, name.find('/', project) - project));
}

// The collection of Vertex AI in which the form's job is created; "" for AI Platform Training.
std::string CollectionOf(const World& world, const Json& form) {
  if (form.contains("collection")) return form["collection"];
  const auto base = world.jobs.find(form.value("base", ""));
  return base == world.jobs.end() ? "" : base->second.value("collection", "");
}

std::string PathOfCreate(const Scope& scope, const Json& step) {
  const std::string project = step.value("project", scope.world().setting("project"));
  const std::string collection = CollectionOf(scope.world(), step["create"]);
  if (collection.empty()) return "/v1/projects/" + project + "/jobs";
  return "/" + step.value("version", "v1") + "/projects/" + project + "/locations/" +
         step.value("location", scope.world().setting("region")) + "/" + collection;
}

// The worker pools of a resource of Vertex AI, wherever it has them.
Json* PoolsOf(Json& job) {
  for (const char* place :
       {"/jobSpec", "/trialJobSpec", "/trainingTaskInputs", "/trainingTaskInputs/trialJobSpec"}) {
    const Json::json_pointer pools(std::string(place) + "/workerPoolSpecs");
    if (job.contains(pools)) return &job.at(pools);
  }
  return nullptr;
}

// Puts the words of the probe before the arguments of each program.
void AddWordsOfProbe(Json& job, const Json& deeds) {
  const auto add = [&](Json& args) {
    Json words = Json::array();
    for (const Json& deed : deeds) words.push_back("--do=" + deed.get<std::string>());
    for (const Json& word : args.is_array() ? args : Json::array()) words.push_back(word);
    args = words;
  };
  if (deeds.empty()) return;
  Json* pools = PoolsOf(job);
  if (pools == nullptr) return add(job["trainingInput"]["args"]);
  for (Json& pool : *pools) {
    for (const char* task : {"containerSpec", "pythonPackageSpec"}) {
      if (pool.contains(task)) add(pool[task]["args"]);
    }
  }
}

}  // namespace

Result<Json> Call(Scope& scope, const Json& step) {
  const WireRequest request = RequestOf(step);
  const std::string service = step.value("service", scope.ServiceFor(request.target));
  Result<Json> seen = scope.Send(service, request);
  if (seen.ok()) NoteIfCreated(scope, request, seen.value());
  return seen;
}

Result<Json> BuildJob(const World& world, const Json& form) {
  Json job = form.value("job", Json::object());
  if (form.contains("base")) {
    const auto base = world.jobs.find(form["base"]);
    if (base == world.jobs.end()) return problems::JobUnknown(form["base"]);
    job = base->second.contains("collection") ? base->second["resource"] : base->second;
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
  Json filled = job.value();
  AddWordsOfProbe(filled, step.value("do", Json::array()));
  const Json id = filled.value("jobId", Json());
  if (id.is_string()) scope.Save("job", id);
  Result<Json> seen = Call(scope, {{"call", "POST " + PathOfCreate(scope, step)},
                                   {"query", step.value("query", Json::object())},
                                   {"body", filled}});
  if (seen.ok() && seen.value()["status"] == 200) SaveResourceName(scope, seen.value());
  return seen;
}

}  // namespace conform
