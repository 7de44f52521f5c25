#include "emulator/scenario/ready_job.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "client/job_preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/scenario/errors.h"
#include "harness/events/replica_name.h"
#include "harness/faults/fault_reader.h"
#include "run/lifecycle.h"

namespace caip::scenario {
namespace {

using harness::JobKind;
using harness::Scenario;

constexpr char kRegion[] = "us-central1";

Status AsRejection(const Status& sent) {
  return sent.ok() ? sent : Status(errors::JobRejected(sent.error()));
}

/// A job that the client's command sends, with its packages.
class SubmittedJob final : public ReadyJob {
 public:
  SubmittedJob(const JobKind& kind, client::PreparedJob prepared)
      : ReadyJob(kind, {}), prepared_(std::move(prepared)) {}

  Status Create(app::Emulator& emulator, bool once_more) const override {
    client::PreparedJob job = prepared_;
    job.job["jobId"] = id(once_more);
    client::FixedConnection connection(emulator.base_url());
    RETURN_IF_ERROR(AsRejection(client::StageFiles(connection, job, false)));
    const auto created = client::CreateJob(connection, job);
    return AsRejection(created.ok() ? Status(Ok{}) : Status(created.error()));
  }

 private:
  client::PreparedJob prepared_;
};

/// A job that is sent to the engine as its document.
class DocumentJob final : public ReadyJob {
 public:
  DocumentJob(const JobKind& kind, Json document, std::string region, LocalImages images)
      : ReadyJob(kind, std::move(images)),
        document_(std::move(document)),
        region_(std::move(region)) {}

  Status Create(app::Emulator& emulator, bool once_more) const override {
    run::JobPlace place = kind_.PlaceOf(id(once_more));
    if (!place.location.empty() && !region_.empty()) place.location = region_;
    const Json body = kind_.RequestOf(document_, id(once_more));
    const auto created = emulator.engine().Submit(kProject, body, place);
    return AsRejection(created.ok() ? Status(Ok{}) : Status(created.error()));
  }

 private:
  Json document_;
  std::string region_;
};

// The time of the names of images, so that they are the same in each run.
class FixedClock final : public Clock {
 public:
  Instant Now() const override { return Instant{}; }
  void WaitUntil(Instant) override {}
  void Interrupt() override {}
};

// A directory of this host in place of kJobDirWord, a URI in place of kGcsJobDirWord.
std::vector<std::string> WithJobDir(std::vector<std::string> words, const Path& buckets) {
  const std::string uri = kJobDir;
  const std::string below = uri.substr(std::string_view("gs://").size());
  for (std::string& word : words) {
    word = ReplaceAll(word, std::string(harness::kJobDirWord), (buckets / below).string());
    word = ReplaceAll(word, std::string(harness::kGcsJobDirWord), uri);
  }
  return words;
}

// Fills in the flags that words may leave out.
Result<client::PreparedJob> PrepareWords(const Scenario& scenario, client::SubmitRequest request) {
  request.flags.job = scenario.kind->IdOf(false);
  if (!scenario.arguments.empty()) {
    std::vector<std::string> args = request.flags.user_args.value_or(std::vector<std::string>{});
    args.insert(args.end(), scenario.arguments.begin(), scenario.arguments.end());
    request.flags.user_args = std::move(args);
  }
  request.gcloud.project = request.gcloud.project.value_or(kProject);
  request.flags.region = request.flags.region.value_or(kRegion);
  request.flags.job_dir = request.flags.job_dir.value_or(kJobDir);
  if (request.package_path && !request.staging_bucket) request.staging_bucket = "job";
  const app::StopOnInterrupt interrupt;
  client::PreparationOptions options;
  options.stop = interrupt.token();
  return client::PrepareJob(request, options);
}

template <typename Request>
Result<MergedVertexJob> MergeRequest(const JobKind& kind, Request request) {
  request.gcloud.project = request.gcloud.project.value_or(kProject);
  const auto property = client::GcloudProperty(request.gcloud, "ai", "region");
  if (!request.region && (!property || property->empty())) request.region = kRegion;
  const FixedClock clock;
  MergedVertexJob merged;
  merged.kind = &kind;
  ASSIGN_OR_RETURN(
      const client::vertex::PreparedJob prepared,
      client::vertex::Prepare(
          request,
          {.clock = clock,
           .read_input = []() -> Result<std::string> { return errors::StandardInputOfJob(); },
           .warn = [&](const std::string& text) { merged.warning += text; }}));
  ASSIGN_OR_RETURN(merged.document, kind.Read(prepared.job));
  merged.region = prepared.location.region;
  if (prepared.image) merged.images[prepared.image->uri] = prepared.image->entry;
  return merged;
}

using ReadyResult = Result<std::unique_ptr<const ReadyJob>>;

ReadyResult MakeReadyWords(const Scenario& scenario, JobWords words) {
  if (auto* submit = std::get_if<client::SubmitRequest>(&words.request)) {
    auto prepared = PrepareWords(scenario, std::move(*submit));
    if (!prepared.ok()) return errors::JobRejected(prepared.error());
    return ReadyResult(std::make_unique<const SubmittedJob>(*scenario.kind, *std::move(prepared)));
  }
  auto merged = MergeVertexJob(std::move(words));
  if (!merged.ok()) return errors::JobRejected(merged.error());
  Json document = scenario.kind->Complete(
      std::move(merged->document), {.arguments = scenario.arguments, .output_directory = kJobDir});
  return ReadyResult(std::make_unique<const DocumentJob>(
      *scenario.kind, std::move(document), merged->region, std::move(merged->images)));
}

Json CompleteDocument(const Scenario& scenario, const Path& buckets) {
  const bool has_output = scenario.appends_job_dir || !scenario.kind->AddsJobDir();
  return scenario.kind->Complete(scenario.document,
                                 {.image = scenario.command.empty() ? "" : kImage,
                                  .arguments = WithJobDir(scenario.arguments, buckets),
                                  .output_directory = has_output ? kJobDir : "",
                                  .ranks = scenario.ranks,
                                  .restarts_together = scenario.restarts_together});
}

}  // namespace

ReadyResult MakeReadyJob(const Scenario& scenario, const ReadJobWords& read, const Path& buckets) {
  if (scenario.words.empty()) {
    return ReadyResult(std::make_unique<const DocumentJob>(
        *scenario.kind, CompleteDocument(scenario, buckets), "", LocalImages{}));
  }
  auto words = ReadWordsOf(scenario, read);
  if (!words.ok()) return errors::JobRejected(words.error());
  return MakeReadyWords(scenario, *std::move(words));
}

Result<MergedVertexJob> MergeVertexJob(JobWords words) {
  if (auto* custom = std::get_if<client::vertex::CustomJobRequest>(&words.request)) {
    return MergeRequest(harness::CustomJobs(), std::move(*custom));
  }
  return MergeRequest(harness::TuningJobs(),
                      std::move(std::get<client::vertex::TuningJobRequest>(words.request)));
}

void AddImages(const Scenario& scenario, const Path& buckets, LocalImages& images) {
  for (const auto& [image, command] : scenario.images) images[image] = command;
  if (scenario.command.empty()) return;
  images[kImage] = CompleteCommand(scenario, scenario.command, buckets);
}

std::vector<std::string> CompleteCommand(const Scenario& scenario,
                                         const std::vector<std::string>& command,
                                         const Path& buckets) {
  const bool is_in_folder = !scenario.working_directory.empty();
  return WithJobDir(is_in_folder ? command : CommandFrom(scenario.trainer_folder, command),
                    buckets);
}

Result<std::string> RunOnceMore(const Scenario& scenario, const ReadyJob& job,
                                app::Emulator& emulator, const std::function<bool()>& interrupted) {
  constexpr auto kPause = std::chrono::milliseconds(100);  // between two looks at `interrupted`
  const std::string job_id = job.id(true);
  std::promise<std::string> ended;
  std::future<std::string> state = ended.get_future();
  const engine::Subscription watch =
      emulator.engine().Watch([&, is_set = false](const run::Job& seen) mutable {
        if (is_set || seen.key.job_id != job_id || !run::IsTerminal(seen.state)) return;
        is_set = true;
        ended.set_value(std::string(run::Name(seen.state)));
      });
  RETURN_IF_ERROR(job.Create(emulator, true));
  const MonotonicTime deadline = MonotonicNow() + scenario.limits.wall;
  while (MonotonicNow() < deadline && !(interrupted && interrupted())) {
    if (state.wait_for(kPause) == std::future_status::ready) return state.get();
  }
  (void)emulator.engine().Cancel(kProject, job_id);
  return std::string();
}

Status CheckReplicas(const Scenario& scenario, const run::Job& job) {
  ASSIGN_OR_RETURN(const std::vector<std::string> replicas, scenario.kind->ReplicasOf(job));
  if (replicas.empty()) return Ok{};
  for (const harness::Fault& fault : scenario.faults) {
    const std::string unknown = harness::FindUnknownReplica(fault, replicas);
    if (unknown.empty()) continue;
    return errors::FaultWithoutReplica(fault.name, unknown, replicas);
  }
  return Ok{};
}

}  // namespace caip::scenario
