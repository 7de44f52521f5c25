
#include "conformance/steps/scope.h"

#include <algorithm>

#include "conformance/format/received_json.h"
#include "conformance/format/substitution.h"
#include "conformance/problems.h"

namespace conform {

Scope::Scope(const World& world, Clients& clients, const Case& one, int number)
    : world_(world), clients_(clients), instance_(one.instance), api_(one.api), number_(number) {}

std::string Scope::ServiceFor(const std::string& path) const {
  const std::string service = ServiceOf(path);
  return service == "ml" && api_ == "vertex" ? "vertex" : service;
}

std::string Scope::FreshId(const std::string& name) {
  std::string number = std::to_string(number_);
  number.insert(0, 5 - std::min<size_t>(number.size(), 5), '0');  // no id begins with another
  const std::string id = "conform_" + world_.setting("run") + "_" + number;
  const std::string more = name.substr(std::string("fresh").size());
  return more.empty() ? id : id + "_" + more;
}

Result<Json> Scope::Filled(const Json& tree) {
  const Json filled = Fill(tree, [&](const std::string& name) -> std::optional<Json> {
    if (const auto own = names_.find(name); own != names_.end()) return own->second;
    const auto setting = world_.target.settings.find(name);
    if (setting != world_.target.settings.end()) return setting->second;
    if (name.starts_with("fresh")) return Json(FreshId(name));
    return std::nullopt;
  });
  const auto missing = NamesIn(filled);
  if (!missing.empty()) return problems::NameWithoutValue(missing[0]);
  return filled;
}

Result<Json> Scope::Send(const std::string& service, WireRequest request) {
  const Result<WireResponse> response = clients_.Send(instance_, service, std::move(request));
  if (!response.ok()) return response.problem();
  Json seen = {{"status", response.value().status},
               {"headers", response.value().headers},
               {"text", response.value().body}};
  Json body = ParseReceived(response.value().body);
  if (!body.is_discarded()) seen["body"] = std::move(body);
  return seen;
}

std::string JobPath(const std::string& project, const std::string& id) {
  if (id.starts_with("projects/")) return "/v1/" + id;
  return "/v1/projects/" + Encoded(project) + "/jobs/" + Encoded(id);
}

void Scope::NoteJob(const std::string& project, const std::string& id) {
  live_.insert(JobPath(project, id));
}

void Scope::NoteEnded(const std::string& project, const std::string& id) {
  live_.erase(JobPath(project, id));
}

void Scope::CleanUp() {
  for (const std::string& path : live_) {
    WireRequest cancel{"POST", path + ":cancel", {{"Content-Type", "application/json"}}, "{}"};
    // A job that is missing or has ended needs nothing.
    (void)clients_.Send(instance_, ServiceFor(path), cancel);
  }
  live_.clear();
}

std::string World::setting(const std::string& name) const {
  const auto found = target.settings.find(name);
  if (found == target.settings.end()) return "";
  return found->second.is_string() ? found->second.get<std::string>() : found->second.dump();
}

Result<WireResponse> Clients::Send(const std::string& instance, const std::string& service,
                                   WireRequest request) {
  auto places = world_.instances.find(instance);
  if (places == world_.instances.end()) places = world_.instances.find("");
  const std::string& base = service == "storage"   ? places->second.storage
                            : service == "logging" ? places->second.logging
                            : service == "vertex"  ? places->second.vertex
                                                   : places->second.ml;
  auto& client = clients_[base];
  if (!client) {
    const Result<Url> url = ParseUrl(base);
    if (!url.ok()) return url.problem();
    client = std::make_unique<WireClient>(url.value(), world_.trust, world_.call_patience);
  }
  if (!world_.token.empty() && !request.headers.contains("Authorization")) {
    request.headers["Authorization"] = "Bearer " + world_.token;
  }
  return client->Send(request);
}

std::string ServiceOf(const std::string& path) {
  for (const char* start : {"/storage/", "/upload/storage", "/resumable/upload",
                            "/download/storage", "/batch/storage", "/b/", "/b?"}) {
    if (path.starts_with(start)) return "storage";
  }
  return path.starts_with("/v2/") ? "logging" : "ml";
}

}  // namespace conform
