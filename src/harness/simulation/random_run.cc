#include "harness/simulation/random_run.h"

#include <csignal>

#include "base/random.h"
#include "harness/errors.h"

namespace caip::harness {
namespace {

using engine::EngineOptions;
using engine::VmLoss;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A run with five jobs takes some hundred steps. A run with this many is in an endless loop.
constexpr int kStepsOfRunMax = 50'000;

constexpr const char* kGpu = "NVIDIA_TESLA_T4";

run::DelayModel AnyDelay(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return run::ConstantDelay{minutes(20)};
    case 1:
      return run::UniformDelay{seconds(1), minutes(5)};
    case 2:
      return run::LognormalDelay{minutes(1), 1.5};
    case 3:
      return run::StockOut{static_cast<int>(1 + random.Below(2)), minutes(5)};
    case 4:
      return random.Below(4) == 0 ? run::DelayModel(run::StockOut{3, minutes(5)})
                                  : run::DelayModel();
    default:
      return run::NoDelay{};
  }
}

EngineOptions AnyOptions(uint64_t seed, Random& random) {
  EngineOptions options;
  options.rules.seed = seed;
  options.rules.queue_delay = AnyDelay(random);
  options.rules.provisioning_delay = AnyDelay(random);
  options.rules.vm_restart_delay = AnyDelay(random);
  options.jobs_max = static_cast<int>(random.Below(4));
  return options;
}

/// One emulator with up to five jobs.
class RandomRun {
 public:
  RandomRun(uint64_t seed, const RandomRunOptions& options)
      : seed_(seed), random_(seed), world_(AnyOptions(seed, random_)) {
    world_.log.keep = false;
    if (!options.keep_journal) world_.options.journal = nullptr;
    world_.devices.stock = {{kGpu, 3}};
    world_.devices.never = OneIn(10);
    world_.packager.takes = milliseconds(random_.Below(5000));
    world_.packager.fails = [this](const engine::PrepareRequest&) { return AnyFailure(); };
    world_.executor.takes = [this] { return Duration(milliseconds(thinking_.Below(20'000))); };
    world_.launcher.script = [this](const engine::ReplicaLaunch& launch) {
      return ScriptFor(launch);
    };
    world_.store.refuse = [this] { return Refusal(); };
    disk_may_fill_ = OneIn(5);
    if (options.spoil) options.spoil(world_);
  }

  SeedResult Run() {
    Boot();
    tally_.seeds = 1;
    const int jobs = JobsOf(seed_);
    for (int i = 0; i < jobs && !IsOver(); ++i) {
      Submit("job" + std::to_string(i));
      Disturb();
    }
    for (int i = 0; i < 6 && !IsOver(); ++i) Disturb();
    disk_may_fill_ = false;
    while (!IsOver() && Step()) {
    }
    if (!IsOver()) monitor_.CheckEnd();
    SumUp();
    return {std::move(tally_), monitor_.broken(), std::move(world_.journal)};
  }

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  bool IsOver() const { return !monitor_.broken().empty(); }

  void Boot() { world_.Boot(); }

  bool Step() {
    if (++steps_ > kStepsOfRunMax) {
      monitor_.AddViolation("every run ends", Describe(WorldFacts{world_}));
      return false;
    }
    return world_.Step();
  }

  void RunFor(Duration time) {
    bool over = false;
    world_.events.In(time, [&] { over = true; });
    while (!over && Step()) {
    }
  }

  std::optional<engine::Prepared::Failure> AnyFailure() {
    if (!OneIn(40)) return std::nullopt;
    return engine::Prepared::Failure{1, "", OneIn(2) ? "refused" : ""};
  }

  std::optional<Error> Refusal() {
    // The emulator is killed between two saves: later saves and their effects never happen.
    const bool dead = saves_until_death_ == 0;
    if (saves_until_death_ > 0) --saves_until_death_;
    if (!dead && !(disk_may_fill_ && OneIn(30))) return std::nullopt;
    ++tally_.refused_saves;
    return errors::SaveRefused();
  }

  Script ScriptFor(const engine::ReplicaLaunch& launch) {
    Script script;
    script.start_after = milliseconds(random_.Below(2000));
    script.run_for = milliseconds(random_.Below(600'000));
    script.sigterm_takes = OneIn(4) ? kForever : Duration(milliseconds(random_.Below(40'000)));
    script.exit_code_of_sigterm = OneIn(3) ? static_cast<int>(random_.Below(3)) : -1;
    const bool is_master = launch.key.replica.role == "master";
    if (!is_master && OneIn(2)) script.run_for = kForever;
    if (launch.metrics) script.reports = AnyReports(launch);
    if (OneIn(200)) script.start_error = "No such file or directory";
    const uint64_t fate = random_.Below(12);
    if (fate == 0) script.exit_code = 1;
    if (fate == 1 || fate == 2) script.signal = SIGKILL;
    if (fate == 3) script.signal = SIGSEGV;
    if (fate == 4 && OneIn(4)) script.signal = SIGKILL, script.out_of_memory = true;
    return script;
  }

  void Submit(const std::string& id) {
    const auto workers = static_cast<int>(random_.Below(4));
    ml::Job job = AJob(id, workers, static_cast<int>(random_.Below(3)));
    ml::TrainingInput& input = *job.training_input;
    if (OneIn(3)) {
      input.master.config.emplace().accelerator_config = {
          static_cast<int64_t>(1 + random_.Below(3)), kGpu};
    }
    ml::Scheduling& scheduling = input.scheduling.emplace();
    scheduling.priority = static_cast<int32_t>(random_.Below(3));
    scheduling.resilient_to_worker_restart = OneIn(6);
    if (OneIn(4)) scheduling.max_wait_time = minutes(30);
    if (OneIn(4)) scheduling.max_running_time = minutes(5);
    if (OneIn(4)) Tune(job);
    jobs_.push_back(id);
    ++tally_.jobs;
    if (!world_.Submit(std::move(job)).ok()) ++tally_.refused;
  }

  // Turns the job into a tuning job.
  void Tune(ml::Job& job) {
    ml::HyperparameterSpec& tuning = job.training_input->hyperparameters.emplace();
    tuning.goal = OneIn(2) ? "MAXIMIZE" : "MINIMIZE";
    tuning.algorithm = OneIn(3) ? "GRID_SEARCH" : OneIn(2) ? "RANDOM_SEARCH" : "";
    tuning.max_trials = static_cast<int32_t>(1 + random_.Below(6));
    tuning.max_parallel_trials =
        static_cast<int32_t>(1 + random_.Below(static_cast<uint64_t>(*tuning.max_trials)));
    tuning.max_failed_trials = static_cast<int32_t>(random_.Below(4));
    tuning.enable_trial_early_stopping = OneIn(2);
    ml::ParameterSpec& layers = tuning.params.emplace_back();
    layers.parameter_name = "layers";
    layers.type = "INTEGER";
    layers.min_value = 1;
    layers.max_value = 4;
  }

  // Returns reports with random values. A restarted trainer reports from the beginning again.
  std::vector<std::pair<Duration, engine::Report>> AnyReports(const engine::ReplicaLaunch& launch) {
    std::vector<std::pair<Duration, engine::Report>> reports;
    const auto count = static_cast<int64_t>(random_.Below(5));
    const auto born = static_cast<double>(world_.clock.Now().time_since_epoch().count());
    for (int64_t i = 1; i <= count; ++i) {
      const engine::Report report{i * 10, random_.Unit(), born + static_cast<double>(i),
                                  launch.key.boot % 2 == 0};
      reports.emplace_back(seconds(i), report);
      if (OneIn(4)) reports.emplace_back(seconds(i), report);  // the report is read twice
    }
    return reports;
  }

  // Lets some time pass and injects a fault or a cancel.
  void Disturb() {
    RunFor(milliseconds(random_.Below(300'000)));
    if (IsOver()) return;
    const std::string& id = jobs_[random_.Below(jobs_.size())];
    switch (random_.Below(6)) {
      case 0:
        tally_.cancels += world_.Cancel(id).ok();
        break;
      case 1:
        KillTheEmulator();
        break;
      case 2:
      case 3:
        LoseSomeMachine(id);
        break;
      default:
        break;
    }
  }

  void KillTheEmulator() {
    saves_until_death_ = static_cast<int>(random_.Below(6));
    RunFor(milliseconds(random_.Below(60'000)));
    tally_.events += world_.engine->handled();
    world_.KillEmulator();
    saves_until_death_ = -1;
    ++tally_.kills_of_the_emulator;
    world_.clock.MoveTo(world_.clock.Now() + seconds(random_.Below(3000)));
    Boot();
  }

  void LoseSomeMachine(const std::string& id) {
    const auto living = world_.launcher.Live();
    const engine::ReplicaKey any = living.empty() ? engine::ReplicaKey{{"p", id, ""}, {}, 1}
                                                  : living[random_.Below(living.size())];
    const uint64_t kind = random_.Below(tally_.machines_lost.size());
    if (world_
            .LoseVm(OneIn(4) ? id : any.run.job_id, any.replica, VmLoss{static_cast<int>(kind)},
                    any.run.trial)
            .ok()) {
      ++tally_.machines_lost[kind];
    }
  }

  void SumUp() {
    for (const engine::JobRecord& record : world_.store.InOrder()) {
      ++tally_.ends[record.job.state];
      if (const auto note = engine::ParseRunNote(record.note); note.ok()) {
        tally_.retries += static_cast<uint64_t>(note->attempt - 1);
      }
      tally_.trials += world_.store.Trials(record.job.key.project, record.job.key.job_id)->size();
    }
    tally_.events += world_.engine->handled();
    tally_.saves = monitor_.saves();
    tally_.restarts = monitor_.restarts();
    tally_.reports = monitor_.reports();
    tally_.launches = world_.launcher.launches();
  }

  uint64_t seed_;
  Random random_;
  Random thinking_ = Random(seed_).Fork("thinking");
  SimulatedEngine world_;
  InvariantMonitor monitor_{world_};
  Tally tally_;
  std::vector<std::string> jobs_;
  bool disk_may_fill_ = false;
  int saves_until_death_ = -1;  // -1: the emulator is not killed
  int steps_ = 0;
};

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  seeds += other.seeds;
  jobs += other.jobs;
  refused += other.refused;
  for (const auto& [state, count] : other.ends) ends[state] += count;
  events += other.events;
  saves += other.saves;
  launches += other.launches;
  restarts += other.restarts;
  retries += other.retries;
  cancels += other.cancels;
  for (size_t i = 0; i < machines_lost.size(); ++i) machines_lost[i] += other.machines_lost[i];
  kills_of_the_emulator += other.kills_of_the_emulator;
  refused_saves += other.refused_saves;
  trials += other.trials;
  reports += other.reports;
  return *this;
}

int JobsOf(uint64_t seed) { return static_cast<int>(1 + Random(seed).Fork("jobs").Below(5)); }

SeedResult RunSeed(uint64_t seed, const RandomRunOptions& options) {
  return RandomRun(seed, options).Run();
}

}  // namespace caip::harness
