#include "engine/run_note.h"

#include "base/json.h"
#include "base/time_text.h"

namespace caip::engine {
namespace {

struct EndingName {
  run::JobEvent as;
  const char* name;
};
constexpr EndingName kEndings[] = {{run::JobEvent::kSucceeded, "SUCCEEDED"},
                                   {run::JobEvent::kGaveUp, "FAILED"},
                                   {run::JobEvent::kAllStopped, "CANCELLED"}};

Error Unreadable(std::string_view what) {
  return {Code::kDataLoss, "the state directory holds a run that cannot be read: " +
                               std::string(what) + " is missing or malformed"};
}

Json ReplicasToJson(const std::map<run::ReplicaId, ReplicaNote>& replicas) {
  Json list = Json::array();
  for (const auto& [id, note] : replicas) {
    Json entry = {{"role", run::RoleKey(id.role)}, {"index", id.index}, {"boot", note.boot}};
    if (note.restarts > 0) entry["restarts"] = note.restarts;
    if (note.finished) entry["finished"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

std::optional<run::Role> RoleNamed(std::string_view name) {
  for (run::Role role : run::kRoles) {
    if (run::RoleKey(role) == name) return role;
  }
  return std::nullopt;
}

bool ReadReplicas(const Json& list, RunNote& note) {
  if (!list.is_array()) return false;
  for (const Json& entry : list) {
    const auto role = RoleNamed(StringOr(entry, "role"));
    const auto index = static_cast<int>(IntOr(entry, "index", -1));
    if (!role || index < 0) return false;
    const Json* finished = Member(entry, "finished");
    note.replicas[{*role, index}] = {static_cast<int>(IntOr(entry, "boot", 0)),
                                     static_cast<int>(IntOr(entry, "restarts", 0)),
                                     finished && *finished == true};
  }
  return true;
}

bool ReadAddresses(const Json& list, RunNote& note) {
  if (!list.is_array()) return false;
  for (const Json& address : list) {
    if (!address.is_string()) return false;
    note.addresses.push_back(address.get<std::string>());
  }
  return true;
}

bool ReadImages(const Json& object, RunNote& note) {
  if (!object.is_object()) return false;
  for (const auto& [uri, command] : object.items()) {
    if (!command.is_array()) return false;
    std::vector<std::string>& words = note.images[uri];
    for (const Json& word : command) {
      if (!word.is_string()) return false;
      words.push_back(word.get<std::string>());
    }
  }
  return true;
}

bool ReadValues(const Json& object, RunNote& note) {
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) return false;
    note.hyperparameters.emplace(name, value.get<std::string>());
  }
  return true;
}

bool ReadEnding(const Json& json, RunNote& note) {
  for (const EndingName& ending : kEndings) {
    if (StringOr(json, "as") != ending.name) continue;
    note.ending = Ending{ending.as, StringOr(json, "message")};
    return true;
  }
  return false;
}

}  // namespace

Json ToJson(const RunNote& note) {
  Json json = {{"clusterId", note.cluster_id},
               {"cloudId", note.cloud_id},
               {"attempt", note.attempt},
               {"queuedUntil", Rfc3339(note.queued_until, 9)}};
  if (note.failed_tries > 0) json["failedTries"] = note.failed_tries;
  if (note.out_of_stock) json["outOfStock"] = true;
  json["addresses"] = note.addresses;
  json["replicas"] = ReplicasToJson(note.replicas);
  if (!note.images.empty()) json["images"] = note.images;
  if (!note.seen_job_dir.empty()) json["seenJobDir"] = note.seen_job_dir;
  if (!note.hyperparameters.empty()) json["hyperparameters"] = note.hyperparameters;
  if (note.stopped_early) json["stoppedEarly"] = true;
  if (!note.ending) return json;
  for (const EndingName& ending : kEndings) {
    if (ending.as != note.ending->as) continue;
    json["ending"] = Json{{"as", ending.name}, {"message", note.ending->message}};
  }
  return json;
}

Result<RunNote> ParseRunNote(const Json& json) {
  RunNote note;
  note.cluster_id = StringOr(json, "clusterId");
  note.cloud_id = StringOr(json, "cloudId");
  note.attempt = static_cast<int>(IntOr(json, "attempt", 0));
  if (note.cluster_id.empty()) return Unreadable("clusterId");
  if (note.attempt < 1) return Unreadable("attempt");
  const auto until = ParseRfc3339(StringOr(json, "queuedUntil"));
  if (!until) return Unreadable("queuedUntil");
  note.queued_until = *until;
  note.failed_tries = static_cast<int>(IntOr(json, "failedTries", 0));
  const Json* out_of_stock = Member(json, "outOfStock");
  note.out_of_stock = out_of_stock && *out_of_stock == true;
  const Json* addresses = Member(json, "addresses");
  if (!addresses || !ReadAddresses(*addresses, note)) return Unreadable("addresses");
  const Json* replicas = Member(json, "replicas");
  if (!replicas || !ReadReplicas(*replicas, note)) return Unreadable("replicas");
  const Json* images = Member(json, "images");
  if (images && !ReadImages(*images, note)) return Unreadable("images");
  note.seen_job_dir = StringOr(json, "seenJobDir");
  const Json* values = Member(json, "hyperparameters");
  if (values && !ReadValues(*values, note)) return Unreadable("hyperparameters");
  const Json* stopped_early = Member(json, "stoppedEarly");
  note.stopped_early = stopped_early && *stopped_early == true;
  const Json* ending = Member(json, "ending");
  if (ending && !ReadEnding(*ending, note)) return Unreadable("ending");
  return note;
}

}  // namespace caip::engine
