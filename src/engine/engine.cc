#include "engine/engine.h"

#include <future>
#include <utility>

#include "engine/errors.h"
#include "engine/submission.h"
#include "ml/errors.h"

namespace caip::engine {
namespace {

// A replica that cannot be killed (it hangs in the kernel) shall not keep the emulator.
constexpr Duration kStopPatience = std::chrono::seconds(10);

// The engine's own additions to what it was given.
EngineOptions Completed(EngineOptions options, LocalDisks* disks) {
  options.rules.launch.boot_disk = [disks](const ReplicaKey& key) {
    return disks ? disks->BootDisk(key) : std::string();
  };
  return options;
}

Error JobMissing(const Error& error) {
  return error.code == Code::kNotFound ? ml::errors::JobNotFound() : error;
}

}  // namespace

Engine::Engine(EngineOptions options, EnginePorts ports, Clock& clock)
    : options_(Completed(std::move(options), ports.disks)),
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
  Turn();  // answers those who asked before the door was closed
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

Status Engine::Check(const std::string& project, const ml::Job& job,
                     const std::vector<std::string>& arriving) {
  Status checked = CheckSubmission(job, options_, ports_.storage, arriving);
  if (!job.training_input) return checked;
  Status resumable = CheckResumption(project, *job.training_input, ports_.store);
  return Both(std::move(checked), std::move(resumable));
}

Result<ml::Job> Engine::Submit(const std::string& project, ml::Job job) {
  RETURN_IF_ERROR(Check(project, job));
  return Ask<ml::Job>([&](auto answer) { return SubmitLater(project, job, answer); });
}

Status Engine::Cancel(const std::string& project, const std::string& job_id) {
  return Ask<Ok>([&](auto answer) { return CancelLater(project, job_id, answer); });
}

Result<ml::Job> Engine::UpdateLabels(const std::string& project, const std::string& job_id,
                                     std::map<std::string, std::string> labels,
                                     std::optional<std::string> etag) {
  if (auto broken = ml::ValidateLabels(labels); !broken.empty()) {
    return ml::ValidationError(std::move(broken));
  }
  return Ask<ml::Job>([&](auto answer) {
    return mailbox_->Post(
        Call([=, this] { answer(core_.ReplaceLabels(project, job_id, labels, etag)); }));
  });
}

Status Engine::LoseVm(const RunKey& run, run::ReplicaId replica, VmLoss kind) {
  return Ask<Ok>([&](auto answer) { return LoseVmLater(run, replica, kind, answer); });
}

bool Engine::SubmitLater(const std::string& project, ml::Job job,
                         std::function<void(Result<ml::Job>)> answer) {
  return mailbox_->Post(Call([=, this] { answer(core_.Create(project, job)); }));
}

bool Engine::CancelLater(const std::string& project, const std::string& job_id,
                         std::function<void(Status)> answer) {
  return mailbox_->Post(Call([=, this] { answer(core_.Cancel(project, job_id)); }));
}

bool Engine::LoseVmLater(const RunKey& run, run::ReplicaId replica, VmLoss kind,
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

Result<ml::Job> Engine::Get(const std::string& project, const std::string& job_id) const {
  auto record = ports_.store.Get(project, job_id);
  if (!record.ok()) return JobMissing(record.error());
  return WithPosition(project, std::move(record->job));
}

Result<std::vector<ml::Job>> Engine::List(const JobQuery& query) const {
  ASSIGN_OR_RETURN(std::vector<JobRecord> records, ports_.store.List(query));
  std::vector<ml::Job> jobs;
  for (JobRecord& record : records) {
    jobs.push_back(WithPosition(record.project, std::move(record.job)));
  }
  return jobs;
}

Result<std::vector<TrialRecord>> Engine::Trials(const std::string& project,
                                                const std::string& job_id) const {
  RETURN_IF_ERROR(Get(project, job_id));
  return ports_.store.Trials(project, job_id);
}

ml::Job Engine::WithPosition(const std::string& project, ml::Job job) const {
  const bool queued = job.state == run::JobState::kQueued;
  job.job_position = queued ? board_.PositionOf({project, job.job_id, ""}) : 0;
  return job;
}

Subscription Engine::Watch(Observer observer) { return observers_.Add(std::move(observer)); }

bool Engine::Idle() const { return core_.unfinished() == 0; }

}  // namespace caip::engine
