#include "conformance/steps/world.h"

#include "conformance/problems.h"

namespace conform {

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
