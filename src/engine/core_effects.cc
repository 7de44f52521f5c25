// The part of engine/core.h that carries effects out.

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/core.h"

namespace caip::engine {
namespace {

constexpr Duration kSaveAgainAfter = std::chrono::seconds(1);

bool HasReportsOf(const RunKey& trial, const std::deque<Effect>& pending) {
  return std::any_of(pending.begin(), pending.end(), [&](const Effect& effect) {
    const auto* save = std::get_if<SaveReports>(&effect);
    return save && save->trial == trial;
  });
}

}  // namespace

bool Core::Do(Entry& entry, const Effect& effect) {
  if (options_.journal) options_.journal(entry.run.key(), "  " + Describe(effect));
  if (!std::holds_alternative<WriteLog>(effect)) WriteLines();
  if (const auto* save = std::get_if<SaveJob>(&effect)) return Apply(entry, *save);
  if (const auto* save = std::get_if<SaveReports>(&effect)) return Apply(entry, *save);
  if (const auto* flush = std::get_if<FlushLog>(&effect)) return Apply(entry, *flush);
  std::visit([&](const auto& e) { (void)Apply(entry, e); }, effect);
  return true;
}

// A store that refuses (a full disk, say) stops this run until it takes the record: what is not
// durable must not have consequences. Time is held, so that the wait is a real one.
bool Core::Saved(Entry& entry, const Status& saved) {
  if (!saved.ok()) {
    if (!entry.save_error) clock_.Hold();
    entry.save_error = saved.error();
    timers_.Start(entry.run.key(), {TimerKind::kSaveAgain, {}, 0}, clock_.Now() + kSaveAgainAfter);
    return false;
  }
  if (std::exchange(entry.save_error, std::nullopt)) clock_.Release();
  return true;
}

bool Core::Apply(Entry& entry, const SaveJob& save) {
  const RunKey& key = entry.run.key();
  if (entry.run.IsTrial()) {
    static const run::Document kNone = std::make_shared<const Json>(Json::object());
    TrialRecord record{save.record.job, save.record.note};
    record.job.document = kNone;  // that of its job
    if (AwaitsReports(key) || !Saved(entry, ports_.store.SaveTrial(record))) return false;
    Handle(key.Job(), TrialMoved{key.trial, std::move(record.job), entry.run.AnyWasLaunched(),
                                 entry.run.note().stopped_early});
    return true;
  }
  if (!Saved(entry, ports_.store.Save(save.record))) return false;
  if (observers_.any()) observers_.Notify(WithPosition(save.record.job));
  return true;
}

// A trial that ended is not saved before its reports, which its job saves: a kill in between would
// lose them. CarryOut of the job then continues the trial.
bool Core::AwaitsReports(const RunKey& trial) {
  const Entry* job = Find(trial.Job());
  const bool awaits = job && HasReportsOf(trial, job->pending);
  if (awaits && awaiting_reports_.insert(trial).second) clock_.Hold();
  if (!awaits && awaiting_reports_.erase(trial) > 0) clock_.Release();
  return awaits;
}

bool Core::Apply(Entry& entry, const SaveReports& save) {
  return Saved(entry, ports_.store.AddReports(save.trial, save.reports));
}

void Core::Apply(Entry& entry, const ChooseValues& choose) {
  const RunKey key = entry.run.key();
  if (choosing_.insert(key).second) clock_.Hold();
  ports_.executor.Do([mailbox = mailbox_, key, trial = choose.trial, known = choose.known] {
    mailbox->Post(RunEvent{key, ValuesChosen{trial, known->Suggestion(std::stoll(trial))}});
  });
}

void Core::EndChoice(const RunKey& run) {
  if (choosing_.erase(run) > 0) clock_.Release();
}

void Core::Apply(Entry& entry, const BeginTrial& begin) {
  const RunKey key = begin.record.job.key;
  JobRecord record{begin.record.job, begin.record.note};
  record.job.document = entry.run.job().document;
  JobRun run = JobRun::Restore(std::move(record), entry.run.shared_api(), entry.run.note().images,
                               options_.rules);
  run.UsePrepared(begin.prepared);
  Add(std::move(run), entry.age);
  Handle(key, begin.is_new ? Event(Submitted{}) : Event(Recovered{}));
}

void Core::Apply(Entry& entry, const TellTrial& tell) {
  const RunKey trial = entry.run.key().WithTrial(tell.trial);
  std::visit([&](const auto& event) { Handle(trial, event); }, tell.what);
}

void Core::Apply(Entry&, const WriteLog& write) { lines_.push_back(write.line); }

// Waits without blocking the thread: other runs go on.
bool Core::Apply(Entry& entry, const FlushLog&) {
  if (std::exchange(entry.log_stored, false)) return true;
  if (entry.log_wait) return false;
  const uint64_t wait = ++log_waits_;
  const RunKey key = entry.run.key();
  const bool stored = ports_.log.IsStored([this, mailbox = mailbox_, key, wait] {
    mailbox->Post(Call([this, key, wait] { LogStored(key, wait); }));
  });
  if (stored) return true;
  entry.log_wait = wait;
  clock_.Hold();
  return false;
}

void Core::LogStored(const RunKey& run, uint64_t wait) {
  Entry* entry = Find(run);
  if (!entry || entry->log_wait != wait) return;
  entry->log_wait = 0;
  entry->log_stored = true;
  clock_.Release();
  if (!stopping_) CarryOut(*entry);
}

/// Blocks, for a caller who is promised that the run is saved.
Status Core::AwaitLog(Entry& entry) {
  const RunKey key = entry.run.key();
  for (Entry* left = &entry; left && left->log_wait; left = Find(key)) {
    RETURN_IF_ERROR(ports_.log.Flush());
    LogStored(key, left->log_wait);
  }
  return Ok{};
}

void Core::Apply(Entry& entry, const Enqueue& enqueue) {
  const std::string& trial = entry.run.key().trial;
  const QueuePlace place{enqueue.resumed, enqueue.priority, entry.age,
                         trial.empty() ? 0 : std::stoll(trial)};
  std::set<std::string> wanted;
  for (const DeviceRequest& request : DeviceRequestsOf(entry.run.api().spec(), entry.run.plan())) {
    wanted.insert(request.type);
  }
  scheduler_.Add(entry.run.key(), place, std::move(wanted));
  if (!place.IsInside()) board_.Put(entry.run.key(), place);
}

void Core::Apply(Entry& entry, const BecomeReady&) { scheduler_.BecomeReady(entry.run.key()); }

void Core::Apply(Entry& entry, const LeaveQueue&) {
  scheduler_.Remove(entry.run.key());
  board_.Take(entry.run.key());
}

void Core::Apply(Entry& entry, const PreparePackages& prepare) {
  if (installing_.insert(entry.run.key()).second) clock_.Hold();
  if (!prepare.addresses.empty()) ports_.launcher.Expect(entry.run.key(), prepare.addresses);
  ports_.packager.Prepare(prepare.request, [mailbox = mailbox_](Prepared prepared) {
    const RunKey run = prepared.run;
    mailbox->Post(RunEvent{run, std::move(prepared)});
  });
}

void Core::Apply(Entry& entry, const AbandonPackages&) {
  ports_.packager.Abandon(entry.run.key());
  EndInstallation(entry.run.key());
}

void Core::EndInstallation(const RunKey& run) {
  if (installing_.erase(run) > 0) clock_.Release();
}

void Core::Apply(Entry&, const LaunchReplica& launch) {
  if (live_.insert(launch.launch.key).second) clock_.Hold();
  const auto post = [mailbox = mailbox_](const ReplicaKey& key, Event event) {
    mailbox->Post(RunEvent{key.run, std::move(event)});
  };
  const auto post_reports = [mailbox = mailbox_](const ReplicaKey& key,
                                                 std::vector<Report> reports) {
    mailbox->Post(RunEvent{key.run.Job(), Reported{key.run.trial, std::move(reports)}});
  };
  ports_.launcher.Launch(launch.launch,
                         {[post](const ReplicaKey& key) { post(key, ReplicaStarted{key}); },
                          [post](const ReplicaExit& exit) { post(exit.key, exit); }, post_reports});
}

void Core::Apply(Entry&, const SignalReplica& signal) {
  ports_.launcher.Signal(signal.key, signal.signal);
}

void Core::Apply(Entry&, const KillReplica& kill) { ports_.launcher.Kill(kill.key); }

void Core::Apply(Entry& entry, const StartTimer& start) {
  if (start.at != kNever) timers_.Start(entry.run.key(), start.fires, start.at);
}

void Core::Apply(Entry& entry, const StopTimer& stop) {
  timers_.Stop(entry.run.key(), stop.kind, stop.replica);
}

void Core::Apply(Entry& entry, const ReturnResources&) {
  ports_.devices.Release(entry.run.key());
  ports_.addresses.Release(entry.run.key());
  ports_.launcher.Discard(entry.run.key());
  ports_.packager.Abandon(entry.run.key());  // its environment may go when others need the room
  if (std::exchange(entry.granted, false)) {
    active_ -= !entry.run.IsTrial();
    clusters_ -= !entry.run.plan().empty();
  }
  scheduler_.TryAgain();
}

void Core::Apply(Entry& entry, const Forget&) { entry.forgotten = true; }

void Core::WriteLines() {
  if (!lines_.empty()) ports_.log.Write(std::exchange(lines_, {}));
}

}  // namespace caip::engine
