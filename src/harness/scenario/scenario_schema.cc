#include "harness/events/step_formats.h"
#include "harness/faults/fault.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {
namespace {

Json TextOf(const std::string& description) {
  return {{"type", "string"}, {"description", description}};
}

Json Ref(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

Json Object(Json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

Json TriggerSchema() {
  Json operations = Json::object();
  for (const std::string& name : OperationNames()) operations[name] = TextOf("glob of bucket/path");
  Json mid = {{"write", TextOf("glob of bucket/path")}, {"bytes", {{"type", "integer"}}}};
  Json properties = {
      {"before", Object(operations)},
      {"after", Object(operations)},
      {"mid", Object(std::move(mid))},
      {"log", TextOf("a regular expression (RE2), found in a line of the replica")},
      {"step", {{"type", "integer"}, {"description", "a step that the trainer reports"}}},
      {"metric", TextOf("tag of a reported metric")},
      {"state", TextOf("state of the job")},
      {"start", {{"type", "integer"}, {"description", "the replica's boot, from 1"}}},
      {"fault", TextOf("name of a fault that was injected")},
      {"prepare",
       {{"type", "integer"}, {"description", "the attempt whose packages are installed, from 1"}}},
      {"api", TextOf("a call of the job API: projects.jobs.get")},
      {"at", TextOf("time since submission, emulated: 90s, 20m")},
      {"replica", TextOf("the replica of the event, or any; default: the fault's own")},
      {"trial", {{"type", "integer"}, {"description", "for a tuning job: in this trial"}}},
      {"since", TextOf("count only after the fault of this name was injected")},
      {"nth", {{"description", "3, 2..5, every, every 3"}}},
      {"probability", {{"type", "number"}, {"description", "by the seed; above 0, at most 1"}}}};
  return Object(std::move(properties));
}

Json FaultSchema() {
  Json properties = {{"name", TextOf("the name by which other faults refer to it")},
                     {"when", Ref("trigger")},
                     {"if_reached",
                      {{"type", "boolean"},
                       {"description", "the scenario does not fail if `when` never occurs"}}}};
  Json kinds = Json::array();
  for (const FaultKind& kind : FaultKinds()) {
    Json parameters = Json::object();
    for (const std::string& name : kind.parameters) {
      const bool trigger = name == "until" || name == "down_until";
      parameters[name] = trigger ? Ref("trigger") : Json::object();
    }
    Json fault = Object(std::move(parameters));
    fault["description"] = kind.summary;
    if (!kind.required.empty()) fault["required"] = kind.required;
    properties[kind.name] = std::move(fault);
    kinds.push_back({{"required", {kind.name}}});
  }
  Json schema = Object(std::move(properties));
  schema["required"] = {"when"};
  schema["oneOf"] = std::move(kinds);
  return schema;
}

Json ExpectSchema() {
  Json properties = Json::object();
  for (const ExpectationKind& kind : ExpectationKinds()) {
    properties[kind.name] = {{"description", kind.summary}};
  }
  return Object(std::move(properties));
}

Json ServiceDelaysSchema() {
  const char* model = "none, constant:20m, uniform:1m..20m, lognormal:median=5m,sigma=0.8";
  return Object(
      {{"queue_delay", TextOf(model)},
       {"provisioning_delay", TextOf(model)},
       {"restart_delay", TextOf(model)},
       {"stock_out", {{"type", "integer"}, {"minimum", 1}}},
       {"vm_lifetime", TextOf("constant:20m, exponential:2h (the mean), or 2h for the latter")},
       {"step_time", TextOf("what a step of the trainer stands for: machines age by it")},
       {"failing_restart", TextOf("of a custom job: how long a failed program runs again")}});
}

Json TrainerSchema(const Json& texts) {
  return Object({{"command", texts},
                 {"args", texts},
                 {"working_directory", TextOf("a folder of this host; default: the machine's own")},
                 {"volumes", texts},
                 {"ranks", {{"type", "integer"}, {"minimum", 1}}},
                 {"cluster",
                  {{"type", "array"},
                   {"items", Object({{"name", TextOf("its host name")}, {"command", texts}})}}},
                 {"restart", {{"enum", {"one", "all"}}}},
                 {"job_dir", {{"enum", {"argument", "none"}}}},
                 {"environment", {{"enum", {"job", "user"}}}}});
}

}  // namespace

Json ScenarioSchema() {
  const Json texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  Json properties = {
      {"extends", TextOf("another scenario; the keys of this file replace its keys")},
      {"description", TextOf("what happens, in a sentence")},
      {"seed", {{"type", "integer"}, {"minimum", 0}}},
      {"semantics", {{"enum", {"object", "posix"}}}},
      {"addressing", {{"enum", {"loopback", "ports"}}}},
      {"needs",
       {{"oneOf",
         {texts, Object({{"modules", texts}, {"gpus", {{"type", "integer"}, {"minimum", 1}}}})}}}},
      {"job", Object({{"submit", texts},
                      {"config", {{"type", "object"}}},
                      {"create", texts},
                      {"custom_job", {{"type", "object"}}},
                      {"tune", texts},
                      {"hyperparameter_tuning_job", {{"type", "object"}}},
                      {"args", texts}})},
      {"trainer", TrainerSchema(texts)},
      {"buckets", {{"type", "object"}}},
      {"mood", ServiceDelaysSchema()},
      {"limits", Object({{"wall", TextOf("60s")},
                         {"no_progress", TextOf("10s")},
                         {"log_lines", {{"type", "integer"}}},
                         {"grace", TextOf("5s")}})},
      {"steps", Object({{"format", {{"enum", StepFormatNames()}}},
                        {"regex", TextOf("RE2 with a group named step")}})},
      {"faults", {{"type", "array"}, {"items", Ref("fault")}}},
      {"expect", ExpectSchema()},
      {"shows_bug", texts}};
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "caip scenario"}};
  schema.update(Object(std::move(properties)));
  schema["$defs"] = {{"trigger", TriggerSchema()}, {"fault", FaultSchema()}};
  return schema;
}

}  // namespace caip::harness
