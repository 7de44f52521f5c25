#pragma once
// One run on a bench: fed with events by hand, and what it asked for is kept.

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/job_run.h"
#include "tests/support/simulated_engine.h"

namespace caip::engine {

inline const run::ReplicaId kMasterId{"master", 0};
inline const run::ReplicaId kWorker0{"worker", 0};
inline const run::ReplicaId kWorker1{"worker", 1};
inline const run::ReplicaId kPs{"ps", 0};
/// The replicas of AJob.
inline const run::ReplicaId kAll[] = {kMasterId, kWorker0, kWorker1, kPs};

inline RunRules PlainRules() {
  RunRules rules;
  rules.launch.boot_disk = [](const ReplicaKey& key) { return "/disks/" + run::Name(key.replica); };
  return rules;
}

/// A run and what it has asked for so far.
struct Bench {
  using Images = ImageAnswers;  // as the launcher resolves them

  explicit Bench(RunRules given = PlainRules(), ml::Job job = AJob("j"), Images answers = {})
      : rules(WithApi(std::move(given))),
        run(JobRun::New(api.Take("p", std::move(job)), answers, now, rules)),
        images(answers) {}

  /// Hands in the event and keeps what came out.
  Effects& Feed(const Event& event) {
    last = run.Handle(now, event);
    for (const Effect& effect : last) Keep(effect);
    return last;
  }
  void Keep(const Effect& effect) {
    all.push_back(Describe(effect));
    if (const auto* save = std::get_if<SaveJob>(&effect)) saved = save->record;
    if (const auto* launch = std::get_if<LaunchReplica>(&effect)) {
      launches[launch->launch.key.replica].push_back(launch->launch);
    }
    if (const auto* timer = std::get_if<StartTimer>(&effect)) {
      timers[{timer->fires.kind, timer->fires.replica}] = *timer;
    }
    if (const auto* stop = std::get_if<StopTimer>(&effect)) {
      timers.erase({stop->kind, stop->replica});
    }
  }
  std::vector<std::string> Last() const {
    std::vector<std::string> texts;
    for (const Effect& effect : last) texts.push_back(Describe(effect));
    return texts;
  }
  ReplicaKey Key(const run::ReplicaId& id, int boot = 0) const {
    return {run.key(), id, boot ? boot : run.note().replicas.at(id).boot};
  }
  void Fire(TimerKind kind, const run::ReplicaId& replica = {}) {
    const StartTimer timer = timers.at({kind, replica});
    timers.erase({kind, replica});
    now = timer.at;
    Feed(timer.fires);
  }
  void Grant() {
    Feed(Granted{{"127.0.0.2:2222", "127.0.0.3:2222", "127.0.0.4:2222", "127.0.0.5:2222"}, {}, {}});
  }
  void Prepare() {
    Feed(Prepared{run.key(), run.note().attempt, "/e/bin/python3", {}, "/e/bin", {}});
  }
  void Start(const run::ReplicaId& id) { Feed(ReplicaStarted{Key(id)}); }
  void StartAll() {
    for (const run::ReplicaId& id : kAll) Start(id);
  }
  void Exit(const run::ReplicaId& id, int code = 0, int signal = 0, std::string traceback = "") {
    Feed(ReplicaExit{Key(id), code, signal, false, std::move(traceback), ""});
  }
  void ExitAll(int signal) {
    for (const run::ReplicaId& id : kAll) Exit(id, 0, signal);
  }
  Bench& UntilRunning() {
    Feed(Submitted{});
    Grant();
    Prepare();
    StartAll();
    return *this;
  }
  /// The emulator was killed after the last save, and started again.
  void KillEmulator() {
    run = JobRun::Restore(saved, *api.Open(saved.job.document), images, rules);
    timers.clear();
    Feed(Recovered{});
  }
  run::JobState State() const { return run.job().state; }

  RunRules WithApi(RunRules given) {
    given.apis = {&api};
    return given;
  }

  Instant now = kMorning;
  FakeStorage storage;
  ml::TrainingApi api{{}, storage};
  RunRules rules;
  JobRun run;
  Images images;  // the launcher's answers, also after a restart
  Effects last;
  JobRecord saved;
  std::vector<std::string> all;
  std::map<run::ReplicaId, std::vector<ReplicaLaunch>> launches;
  std::map<std::pair<TimerKind, run::ReplicaId>, StartTimer> timers;
};

inline ml::Job AContainerJob(const std::string& image) {
  ml::Job job = AJob("j");
  ml::TrainingInput& input = *job.training_input;
  input.package_uris.clear();
  input.python_module = input.runtime_version = input.python_version = "";
  input.master.config.emplace().image_uri = image;
  return job;
}

inline ml::Job WithScheduling(std::optional<Duration> wait, std::optional<Duration> running) {
  ml::Job job = AJob("j");
  ml::Scheduling& scheduling = job.training_input->scheduling.emplace();
  scheduling.max_wait_time = wait;
  scheduling.max_running_time = running;
  return job;
}

}  // namespace caip::engine
