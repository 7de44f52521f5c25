#include "engine/core.h"

#include <iterator>
#include <utility>

#include "engine/errors.h"

namespace caip::engine {
Core::Core(const EngineOptions& options, EnginePorts ports, Clock& clock,
           std::shared_ptr<Mailbox> mailbox, Observers& observers, QueueBoard& board)
    : options_(options),
      ports_(ports),
      clock_(clock),
      mailbox_(std::move(mailbox)),
      observers_(observers),
      board_(board),
      scheduler_(options.jobs_max) {}

Core::Entry& Core::Add(JobRun run, uint64_t age) {
  const RunKey key = run.key();
  ++unfinished_;
  return runs_.try_emplace(key, std::move(run), age).first->second;
}

Core::Entry* Core::Find(const RunKey& key) {
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : &found->second;
}

// The key with the location of the run that has its other names: callers do not know where a job
// runs. Unchanged if there is no such run.
RunKey Core::Located(const RunKey& key) const {
  const auto found = runs_.lower_bound(key);
  if (found == runs_.end()) return key;
  RunKey located = key;
  located.location = found->first.location;
  return located == found->first ? located : key;
}

run::Job Core::WithPosition(run::Job job) const {
  job.queue_position = board_.PositionOf(job.key);
  return job;
}

Result<run::Job> Core::Create(NewJob job) {
  if (stopping_) return errors::EngineStopped();
  const RunKey key = job.accepted.key;
  ASSIGN_OR_RETURN(JobRun::Trials trials, TrialsOf(key, job.accepted.job->spec()));
  trials.own.clear();  // The job that already has this id.
  JobRun run = JobRun::New(std::move(job.accepted), std::move(job.images), clock_.Now(),
                           options_.rules, std::move(trials));
  if (Status created = ports_.store.Create(run.Record()); !created.ok()) {
    const bool taken = created.error().code == Code::kAlreadyExists;
    return taken ? ports_.apis().Find(run.job().api)->JobAlreadyExists() : created.error();
  }
  run::Job answer = run.job();
  Add(std::move(run), created_++);
  Handle(key, Submitted{});
  answer = WithPosition(std::move(answer));
  observers_.Notify(answer);
  return answer;
}

Status Core::Cancel(const RunKey& job) {
  const RunKey key = Located(job);
  if (stopping_) return errors::EngineStopped();
  if (!Find(key)) {
    const auto stored = ports_.store.Get(key.project, key.job_id);
    if (stored.ok()) return Ok{};  // it has ended
    return stored.error().code == Code::kNotFound ? ports_.api.JobNotFound() : stored.error();
  }
  Handle(key, CancelAsked{run::texts::CancelledByUser()});
  Entry* entry = Find(key);
  return entry ? SavedOrWhyNot(*entry) : Status(Ok{});
}

Result<run::Job> Core::Update(const RunKey& of, const DocumentChange& change) {
  const RunKey key = Located(of);
  if (stopping_) return errors::EngineStopped();
  Entry* entry = Find(key);
  if (entry) RETURN_IF_ERROR(SavedOrWhyNot(*entry));  // one that has ended takes no change
  entry = Find(key);
  Result<JobRecord> stored = ports_.store.Get(key.project, key.job_id);
  if (!stored.ok()) {
    const bool missing = stored.error().code == Code::kNotFound;
    return missing ? ports_.api.JobNotFound() : stored.error();
  }
  run::Job job = entry ? entry->run.job() : stored->job;
  ASSIGN_OR_RETURN(job.document, change(job));
  if (entry) {
    Handle(key, DocumentReplaced{job.document});
    RETURN_IF_ERROR(SavedOrWhyNot(*entry));
    return WithPosition(std::move(job));
  }
  stored->job = job;
  RETURN_IF_ERROR(ports_.store.Save(*stored));
  observers_.Notify(job);
  return job;
}

Status Core::CheckRemovable(const RunKey& key) const {
  if (stopping_) return errors::EngineStopped();
  const Result<JobRecord> stored = ports_.store.Get(key.project, key.job_id);
  if (!stored.ok()) {
    const bool missing = stored.error().code == Code::kNotFound;
    return missing ? ports_.api.JobNotFound() : stored.error();
  }
  if (runs_.contains(Located(key)) || !run::IsTerminal(stored->job.state)) {
    return errors::JobHasNotEnded(key.job_id);
  }
  return Ok{};
}

Status Core::Remove(const RunKey& key, RemovedId id) {
  RETURN_IF_ERROR(CheckRemovable(key));
  return ports_.store.Remove(key.project, key.job_id, id);
}

Status Core::LoseVm(const RunKey& run, const run::ReplicaId& replica, VmLoss kind) {
  const RunKey key = Located(run);
  if (stopping_) return errors::EngineStopped();
  const auto found = runs_.find(key);
  if (found == runs_.end()) {
    const auto stored = ports_.store.Get(key.project, key.job_id);
    return stored.ok() ? errors::JobNotRunning(key.job_id) : ports_.api.JobNotFound();
  }
  const auto live = live_.lower_bound({key, replica, 0});
  if (live == live_.end() || live->run != key || live->replica != replica) {
    return errors::NothingToLose(key.job_id, found->second.run.api().ReplicaName(replica));
  }
  Handle(key, VmLost{replica, kind});
  return Ok{};
}

void Core::Deliver(const RunEvent& message) {
  if (const auto* exit = std::get_if<ReplicaExit>(&message.event)) {
    if (live_.erase(exit->key) > 0) clock_.Release();
  } else if (std::holds_alternative<Prepared>(message.event)) {
    EndInstallation(message.run);
  } else if (std::holds_alternative<ValuesChosen>(message.event)) {
    EndChoice(message.run);
  }
  if (!stopping_) Handle(message.run, message.event);
}

void Core::Turn() {
  while (!stopping_) {
    const Instant now = clock_.Now();
    const auto due = timers_.TakeDue(now);
    if (!due) break;
    if (due->fired.kind != TimerKind::kSaveAgain) {
      Handle(due->run, due->fired);
    } else if (const auto found = runs_.find(due->run); found != runs_.end()) {
      CarryOut(found->second);
    }
  }
  StartRuns();
}

Instant Core::NextDeadline() const { return stopping_ ? kNever : timers_.NextDeadline(); }

void Core::Handle(const RunKey& key, const Event& event) {
  const auto found = runs_.find(key);
  if (found == runs_.end()) return;  // a late event of a run that has ended
  Entry& entry = found->second;
  ++handled_;
  if (options_.journal) options_.journal(key, Describe(event));
  Effects effects = entry.run.Handle(clock_.Now(), event);
  const bool was_waiting = !entry.pending.empty();
  std::move(effects.begin(), effects.end(), std::back_inserter(entry.pending));
  if (!was_waiting) CarryOut(entry);
}

void Core::CarryOut(Entry& entry) {
  while (!entry.pending.empty() && Do(entry, entry.pending.front())) entry.pending.pop_front();
  WriteLines();
  if (!entry.forgotten && awaiting_reports_.empty()) return;
  const RunKey key = entry.run.key();
  if (entry.forgotten) {
    timers_.StopAllOf(key);
    runs_.erase(key);
    --unfinished_;
  }
  CarryOutTrialsOf(key);
}

// Continues the trials for which the job has saved the last reports. Their ends are events of
// the job, so that this may remove any run.
void Core::CarryOutTrialsOf(const RunKey& job) {
  const std::set<RunKey> waiting = awaiting_reports_;
  for (const RunKey& trial : waiting) {
    if (trial.Job() != job || !awaiting_reports_.contains(trial) || AwaitsReports(trial)) continue;
    if (Entry* entry = Find(trial)) CarryOut(*entry);
  }
}

// A save that succeeds at the second try may be followed by another wait for the log.
Status Core::SavedOrWhyNot(Entry& entry) {
  const RunKey key = entry.run.key();
  Entry* left = &entry;
  for (const bool tries_again : {true, false}) {
    if (const Status logged = AwaitLog(*left); !logged.ok()) {
      return errors::NotSavedYet(logged.error());
    }
    left = Find(key);
    if (!left || !left->save_error) return Ok{};
    if (tries_again) CarryOut(*left);  // the disk may have room again
    left = Find(key);
    if (!left) return Ok{};
  }
  return errors::NotSavedYet(*left->save_error);
}

void Core::StartRuns() {
  while (!stopping_) {
    const auto next = scheduler_.Next(active_);
    if (!next) return;
    if (!TryToStart(runs_.at(*next))) scheduler_.Waits(*next);
  }
}

// False: it has to wait until somebody gives something back.
bool Core::TryToStart(Entry& entry) {
  const RunKey key = entry.run.key();
  if (entry.run.phase() != JobRun::Phase::kWaiting) return true;  // ended, not saved yet
  if (entry.run.plan().empty()) {  // a tuning job: its trials ask for themselves
    Start(entry, {}, "");
    return true;
  }
  const std::vector<DeviceRequest> requests =
      DeviceRequestsOf(entry.run.api().spec(), entry.run.plan());
  std::vector<run::ReplicaId> replicas;
  for (const run::PlannedReplica& replica : entry.run.plan()) replicas.push_back(replica.id);
  DeviceAnswer answer = ports_.devices.Bind(key, replicas, requests);
  if (answer.kind == DeviceAnswer::Kind::kWait) return false;
  std::string refusal = std::move(answer.refusal);
  Granted granted{{}, std::move(answer.replicas), std::move(answer.warnings)};
  if (answer.kind == DeviceAnswer::Kind::kGranted) {
    auto addresses = ports_.addresses.Lend(key, replicas.size(), entry.run.note().addresses);
    if (!addresses.ok()) ports_.devices.Release(key);
    if (!addresses.ok() && addresses.error().code == Code::kResourceExhausted && clusters_ > 0) {
      return false;
    }
    refusal = addresses.ok() ? "" : addresses.error().message;
    if (addresses.ok()) granted.addresses = *std::move(addresses);
  }
  Start(entry, std::move(granted), refusal);
  return true;
}

void Core::Start(Entry& entry, Granted granted, const std::string& refusal) {
  const RunKey key = entry.run.key();
  scheduler_.Remove(key);
  board_.Take(key);
  if (!refusal.empty()) {
    Handle(key, Refused{refusal});
    return;
  }
  entry.granted = true;
  active_ += !entry.run.IsTrial();
  clusters_ += !entry.run.plan().empty();
  Handle(key, granted);
}

void Core::BeginStop() {
  std::vector<RunKey> waiting;
  for (const auto& [key, entry] : runs_) {
    if (entry.log_wait) waiting.push_back(key);
  }
  for (const RunKey& key : waiting) {  // what has ended is saved before the emulator ends
    if (Entry* entry = Find(key); entry && !AwaitLog(*entry).ok()) break;
  }
  stopping_ = true;
  for (const RunKey& run : std::exchange(installing_, {})) {
    ports_.packager.Abandon(run);
    clock_.Release();
  }
  while (!choosing_.empty()) EndChoice(*choosing_.begin());
  for (const ReplicaKey& key : live_) ports_.launcher.Kill(key);
}

}  // namespace caip::engine
