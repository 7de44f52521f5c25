#pragma once
// The smallest job API: {"name": "nap", "sleepers": 3} asks for three replicas that sleep. It shows
// that the engine runs the jobs of an API about which it knows nothing.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "run/api_port.h"

namespace caip::engine {

/// Tells each replica its bed, and how many sleep.
class SleepersRun final : public run::ApiRun {
 public:
  explicit SleepersRun(run::RunFacts facts) : facts_(std::move(facts)) {}

  run::ReplicaSetup SetUp(const run::ReplicaFacts& facts) const override {
    return {.arguments = {"--bed=" + std::to_string(facts.replica.index)},
            .environment = {{"PATH", facts.path},
                            {"SLEEPERS", std::to_string(facts_.plan.size())},
                            {"FIRST", facts_.plan.front().address}},
            .directories = {"pillow"},
            .working_directory = "bedroom"};
  }

 private:
  run::RunFacts facts_;
};

class SleepersJob final : public run::ApiJob {
 public:
  explicit SleepersJob(run::RunSpec spec) : ApiJob(std::move(spec)) {}

  std::unique_ptr<const run::ApiRun> Begin(run::RunFacts facts) const override {
    return std::make_unique<SleepersRun>(std::move(facts));
  }
  std::vector<std::string> Lines(run::LoggedJobEvent event, const run::RunKey& key) const override {
    if (event == run::LoggedJobEvent::kRunning) return {"All of " + key.job_id + " sleep."};
    return {};
  }
};

class SleepersApi final : public run::ApiPort {
 public:
  Result<run::AcceptedJob> Accept(const run::JobRequest& request) const override {
    const int64_t count = IntOr(request.body, "sleepers", 0);
    if (count < 1 || count > 8) {
      return Error{Code::kInvalidArgument, "The house has eight beds.", {{"sleepers", "1 to 8"}}};
    }
    const auto document = std::make_shared<const Json>(request.body);
    ASSIGN_OR_RETURN(auto job, Open(document));
    const bool is_named = request.new_id.empty();
    return run::AcceptedJob{{.project = request.project,
                             .job_id = is_named ? StringOr(*document, "name") : request.new_id,
                             .trial = "",
                             .location = request.location},
                            document,
                            job};
  }
  Status Probe(const run::AcceptedJob&, const run::JobRequest&,
               std::vector<FieldViolation> refused) const override {
    if (refused.empty()) return Ok{};
    return Error{Code::kFailedPrecondition, refused.front().description, std::move(refused)};
  }
  Result<std::shared_ptr<const run::ApiJob>> Open(const run::Document& document) const override {
    run::ReplicaGroup group;
    group.role = "sleeper";
    group.count = static_cast<int>(IntOr(*document, "sleepers", 1));
    group.machine_type = "bed";
    group.program = run::LocalCommand{{"/bin/sleep", "8h"}};
    if (document->contains("image")) {
      group.program = run::ContainerImage{StringOr(*document, "image")};
      group.program_field = "image";
    }
    run::RunSpec spec;
    spec.groups = {group};
    if (document->contains("package")) {  // of a second group
      run::ReplicaGroup readers = group;
      readers.role = "reader";
      readers.program =
          run::PythonModule{"reader.task", {StringOr(*document, "package")}, "", "3.10"};
      spec.groups.push_back(std::move(readers));
    }
    spec.region = "attic";
    if (document->contains("losses")) {
      spec.policy.job_restarts_after_loss_max = static_cast<int>(IntOr(*document, "losses", 0));
    }
    if (document->contains("patience")) {
      spec.limits.max_wait = std::chrono::seconds(IntOr(*document, "patience", 0));
      spec.limits.fails_after_max_wait = true;
    }
    return std::shared_ptr<const run::ApiJob>(std::make_shared<SleepersJob>(std::move(spec)));
  }
  run::RunNames MakeNames(Random&) const override { return {"nap", "tenant"}; }
  Error JobNotFound() const override { return {Code::kNotFound, "No such sleepers."}; }
  Error JobAlreadyExists() const override {
    return {Code::kAlreadyExists, "These sleepers sleep already."};
  }
};

}  // namespace caip::engine
