#include "engine/engine.h"

#include <future>
#include <utility>

#include "base/json.h"
#include "engine/errors.h"

namespace caip::engine {
namespace {

// A replica that cannot be killed (it hangs in the kernel) must not keep the emulator alive.
constexpr Duration kStopPatience = std::chrono::seconds(10);

// Adds what the engine itself decides.
EngineOptions Completed(EngineOptions options, const EnginePorts& ports) {
  options.rules.launch.boot_disk = [disks = ports.disks](const ReplicaKey& key) {
    return disks ? disks->BootDisk(key) : std::string();
  };
  options.rules.apis = ports.apis();
  return options;
}

}  // namespace

Engine::Engine(EngineOptions options, EnginePorts ports, Clock& clock)
    : options_(Completed(std::move(options), ports)),
      ports_(ports),
      clock_(clock),
      mailbox_(std::make_shared<Mailbox>(clock)),
      core_(options_, ports_, clock, mailbox_, observers_, board_) {}

Engine::~Engine() { Stop(); }

Status Engine::Start() {
  RETURN_IF_ERROR(Recover());
  running_ = true;
  thread_ = std::thread([this] { Loop(); });
  return Ok{};
}

Status Engine::Recover() { return core_.Recover(); }

void Engine::Loop() {
  Instant give_up = kNever;
  while (!core_.stopping() || (core_.AnythingLives() && clock_.Now() < give_up)) {
    Turn();
    if (core_.stopping() && give_up == kNever) give_up = clock_.Now() + kStopPatience;
    if (core_.stopping() && !core_.AnythingLives()) break;
    clock_.WaitUntil(std::min(core_.NextDeadline(), give_up));
  }
  mailbox_->Close();
  Turn();  // answers the calls that were posted before the mailbox closed
}

void Engine::Turn() {
  for (Message& message : mailbox_->Take()) {
    if (const auto* event = std::get_if<RunEvent>(&message)) {
      core_.Deliver(*event);
    } else {
      std::get<Call>(message)();
    }
  }
  core_.Turn();
}

void Engine::Stop() {
  if (thread_.joinable()) {
    mailbox_->Post(Call([this] { core_.BeginStop(); }));
    thread_.join();
  }
  mailbox_->Close();
}

Result<NewJob> Engine::Check(const std::string& project, const Json& document,
                             const std::vector<std::string>& arriving, const run::JobPlace& place) {
  const auto find = [&](const std::string& job_id) -> Result<run::Job> {
    ASSIGN_OR_RETURN(JobRecord earlier, ports_.store.Get(project, job_id));
    return std::move(earlier.job);
  };
  const run::JobRequest request{.project = project,
                                .location = place.location,
                                .body = document,
                                .arriving = arriving,
                                .find = find,
                                .new_id = place.new_id,
                                .collection = place.collection};
  const run::ApiPort* api = options_.rules.apis.Find(place.api);
  if (!api) return errors::ApiUnknown(place.api);
  ASSIGN_OR_RETURN(run::AcceptedJob accepted, api->Accept(request));
  ResolvedPrograms programs = ResolvePrograms(accepted.job->spec(), ports_.launcher);
  RETURN_IF_ERROR(api->Probe(accepted, request, std::move(programs.refused)));
  accepted.api = place.api;
  return NewJob{std::move(accepted), std::move(programs.images)};
}

Result<run::Job> Engine::Submit(const std::string& project, const Json& document,
                                const run::JobPlace& place) {
  ASSIGN_OR_RETURN(const NewJob job, Check(project, document, {}, place));
  return Ask<run::Job>([&](auto answer) { return SubmitLater(job, answer); });
}

Status Engine::Cancel(const std::string& project, const std::string& job_id) {
  return Ask<Ok>([&](auto answer) { return CancelLater(project, job_id, answer); });
}

Result<run::Job> Engine::Update(const std::string& project, const std::string& job_id,
                                DocumentChange change) {
  return Ask<run::Job>([&](auto answer) { return UpdateLater(project, job_id, change, answer); });
}

// The job itself goes last: if the emulator is killed on the way, the removal can be repeated.
// Removals wait for each other, so that `before` never meets a new job of the same id.
Status Engine::Remove(const std::string& project, const std::string& job_id, RemovedId id,
                      const std::function<Status()>& before) {
  const RunKey key{project, job_id, ""};
  const std::lock_guard lock(removal_);
  RETURN_IF_ERROR(Ask<Ok>([&](std::function<void(Status)> answer) {
    return mailbox_->Post(Call([=, this] { answer(core_.CheckRemovable(key)); }));
  }));
  RETURN_IF_ERROR(before());
  return Ask<Ok>([&](std::function<void(Status)> answer) {
    return mailbox_->Post(Call([=, this] { answer(core_.Remove(key, id)); }));
  });
}

Status Engine::LoseVm(const RunKey& run, const run::ReplicaId& replica, VmLoss kind) {
  return Ask<Ok>([&](auto answer) { return LoseVmLater(run, replica, kind, answer); });
}

bool Engine::SubmitLater(NewJob job, std::function<void(Result<run::Job>)> answer) {
  return mailbox_->Post(Call([=, this] { answer(core_.Create(job)); }));
}

bool Engine::CancelLater(const std::string& project, const std::string& job_id,
                         std::function<void(Status)> answer) {
  return mailbox_->Post(Call([=, this] { answer(core_.Cancel({project, job_id, ""})); }));
}

bool Engine::UpdateLater(const std::string& project, const std::string& job_id,
                         DocumentChange change, std::function<void(Result<run::Job>)> answer) {
  const RunKey key{project, job_id, ""};
  return mailbox_->Post(Call([=, this] { answer(core_.Update(key, change)); }));
}

bool Engine::LoseVmLater(const RunKey& run, const run::ReplicaId& replica, VmLoss kind,
                         std::function<void(Status)> answer) {
  return mailbox_->Post(Call([=, this] { answer(core_.LoseVm(run, replica, kind)); }));
}

// Posts, and waits for the answer of the engine's thread.
template <typename T>
Result<T> Engine::Ask(const std::function<bool(std::function<void(Result<T>)>)>& post) {
  if (!running_) return errors::EngineStopped();
  auto answered = std::make_shared<std::promise<Result<T>>>();
  auto future = answered->get_future();
  if (!post([answered](Result<T> result) { answered->set_value(std::move(result)); })) {
    return errors::EngineStopped();
  }
  return future.get();
}

Result<run::Job> Engine::Get(const std::string& project, const std::string& job_id) const {
  auto record = ports_.store.Get(project, job_id);
  if (record.ok()) return WithPosition(std::move(record->job));
  const bool missing = record.error().code == Code::kNotFound;
  return missing ? ports_.api.JobNotFound() : record.error();
}

Result<run::Job> Engine::FindInAnyProject(const std::string& job_id) const {
  auto record = ports_.store.Find(job_id);
  if (record.ok()) return WithPosition(std::move(record->job));
  const bool missing = record.error().code == Code::kNotFound;
  return missing ? ports_.api.JobNotFound() : record.error();
}

Result<std::vector<run::Job>> Engine::List(const JobQuery& query) const {
  ASSIGN_OR_RETURN(std::vector<JobRecord> records, ports_.store.List(query));
  std::vector<run::Job> jobs;
  for (JobRecord& record : records) jobs.push_back(WithPosition(std::move(record.job)));
  return jobs;
}

Result<std::vector<TrialRecord>> Engine::Trials(const std::string& project,
                                                const std::string& job_id) const {
  RETURN_IF_ERROR(Get(project, job_id));
  return ports_.store.Trials(project, job_id);
}

run::Job Engine::WithPosition(run::Job job) const {
  const bool queued = job.state == run::JobState::kQueued;
  job.queue_position = queued ? board_.PositionOf(job.key) : 0;
  return job;
}

Subscription Engine::Watch(Observer observer) { return observers_.Add(std::move(observer)); }

bool Engine::Idle() const { return core_.unfinished() == 0; }

}  // namespace caip::engine
