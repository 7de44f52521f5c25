#include "engine/run_note.h"

#include "base/json.h"
#include "base/time_text.h"
#include "engine/errors.h"

namespace caip::engine {
namespace {

struct EndingName {
  run::JobEvent as;
  const char* name;
};
constexpr EndingName kEndings[] = {{run::JobEvent::kSucceeded, "SUCCEEDED"},
                                   {run::JobEvent::kGaveUp, "FAILED"},
                                   {run::JobEvent::kAllStopped, "CANCELLED"}};

Json ReplicasToJson(const run::ByReplica<ReplicaNote>& replicas) {
  Json list = Json::array();
  for (const auto& [id, note] : replicas) {
    Json entry = {{"role", id.role}, {"index", id.index}, {"boot", note.boot}};
    if (note.restarts > 0) entry["restarts"] = note.restarts;
    if (note.finished) entry["finished"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

bool ReadReplicas(const Json& list, RunNote& note) {
  if (!list.is_array()) return false;
  for (const Json& entry : list) {
    const std::string role = StringOr(entry, "role");
    const auto index = static_cast<int>(IntOr(entry, "index", -1));
    if (role.empty() || index < 0) return false;
    const Json* finished = Member(entry, "finished");
    note.replicas[{role, index}] = {static_cast<int>(IntOr(entry, "boot", 0)),
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

// A list of words is a command, a text a source.
Json ImagesToJson(const ImageAnswers& images) {
  Json json = Json::object();
  for (const auto& [uri, answer] : images) {
    json[uri] = answer.entrypoint.empty() ? Json(answer.source) : Json(answer.entrypoint);
  }
  return json;
}

bool ReadImages(const Json& object, RunNote& note) {
  if (!object.is_object()) return false;
  for (const auto& [uri, answer] : object.items()) {
    ImageAnswer& known = note.images[uri];
    if (answer.is_string()) known.source = answer.get<std::string>();
    if (!answer.is_string() && !answer.is_array()) return false;
    for (const Json& word : answer.is_array() ? answer : Json::array()) {
      if (!word.is_string()) return false;
      known.entrypoint.push_back(word.get<std::string>());
    }
  }
  return true;
}

bool ReadValues(const Json& object, RunNote& note) {
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) return false;
    note.values.emplace(name, value.get<std::string>());
  }
  return true;
}

bool ReadEnding(const Json& json, RunNote& note) {
  for (const EndingName& ending : kEndings) {
    if (StringOr(json, "as") != ending.name) continue;
    note.ending =
        Ending{ending.as, StringOr(json, "message"), run::EndCauseNamed(StringOr(json, "cause"))};
    return true;
  }
  return false;
}

}  // namespace

Json ToJson(const RunNote& note) {
  Json json = {{"clusterId", note.names.cluster_id},
               {"cloudId", note.names.tenant_project},
               {"attempt", note.attempt},
               {"queuedUntil", Rfc3339(note.queued_until, 9)}};
  if (note.loss_restarts > 0) json["lossRestarts"] = note.loss_restarts;
  if (note.failed_tries > 0) json["failedTries"] = note.failed_tries;
  if (note.out_of_stock) json["outOfStock"] = true;
  json["addresses"] = note.addresses;
  json["replicas"] = ReplicasToJson(note.replicas);
  if (!note.images.empty()) json["images"] = ImagesToJson(note.images);
  if (!note.output_directory.empty()) json["seenJobDir"] = note.output_directory;
  if (!note.values.empty()) json["hyperparameters"] = note.values;
  if (note.stopped_early) json["stoppedEarly"] = true;
  if (note.failing) {
    json["failing"] = Json{{"role", note.failing->replica.role},
                           {"index", note.failing->replica.index},
                           {"message", note.failing->message},
                           {"cause", run::Name(note.failing->cause)}};
  }
  if (!note.ending) return json;
  for (const EndingName& ending : kEndings) {
    if (ending.as != note.ending->as) continue;
    json["ending"] = Json{{"as", ending.name}, {"message", note.ending->message}};
    if (note.ending->cause == run::EndCause::kNone) continue;
    json["ending"]["cause"] = run::Name(note.ending->cause);
  }
  return json;
}

Result<RunNote> ParseRunNote(const Json& json) {
  RunNote note;
  note.names.cluster_id = StringOr(json, "clusterId");
  note.names.tenant_project = StringOr(json, "cloudId");
  note.attempt = static_cast<int>(IntOr(json, "attempt", 0));
  if (note.names.cluster_id.empty()) return errors::RunNoteUnreadable("clusterId");
  if (note.attempt < 1) return errors::RunNoteUnreadable("attempt");
  const auto until = ParseRfc3339(StringOr(json, "queuedUntil"));
  if (!until) return errors::RunNoteUnreadable("queuedUntil");
  note.queued_until = *until;
  note.loss_restarts = static_cast<int>(IntOr(json, "lossRestarts", 0));
  note.failed_tries = static_cast<int>(IntOr(json, "failedTries", 0));
  const Json* out_of_stock = Member(json, "outOfStock");
  note.out_of_stock = out_of_stock && *out_of_stock == true;
  const Json* addresses = Member(json, "addresses");
  if (!addresses || !ReadAddresses(*addresses, note)) return errors::RunNoteUnreadable("addresses");
  const Json* replicas = Member(json, "replicas");
  if (!replicas || !ReadReplicas(*replicas, note)) return errors::RunNoteUnreadable("replicas");
  const Json* images = Member(json, "images");
  if (images && !ReadImages(*images, note)) return errors::RunNoteUnreadable("images");
  note.output_directory = StringOr(json, "seenJobDir");
  const Json* values = Member(json, "hyperparameters");
  if (values && !ReadValues(*values, note)) return errors::RunNoteUnreadable("hyperparameters");
  const Json* stopped_early = Member(json, "stoppedEarly");
  note.stopped_early = stopped_early && *stopped_early == true;
  if (const Json* failing = Member(json, "failing")) {
    note.failing =
        FailingEnd{{StringOr(*failing, "role"), static_cast<int>(IntOr(*failing, "index", 0))},
                   StringOr(*failing, "message"),
                   run::EndCauseNamed(StringOr(*failing, "cause"))};
  }
  const Json* ending = Member(json, "ending");
  if (ending && !ReadEnding(*ending, note)) return errors::RunNoteUnreadable("ending");
  return note;
}

}  // namespace caip::engine
