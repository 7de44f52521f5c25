#include "emulator/scenario/scenario_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "client/packaging.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/errors.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/user_command.h"
#include "emulator/scenario/watch/launch_watch.h"
#include "emulator/scenario/watch/output_watch.h"
#include "emulator/scenario/watch/request_watch.h"
#include "emulator/scenario/watch/storage_watch.h"
#include "harness/events/event.h"
#include "harness/events/replica_name.h"
#include "harness/events/step_reader.h"
#include "host/machine/addresses.h"
#include "host/python/installed_files.h"

namespace caip::scenario {
namespace {

using harness::Event;
using harness::Evidence;
using harness::HostAbility;
using std::chrono::milliseconds;

constexpr auto kCheckInterval = milliseconds(100);           // between two checks of the limits
constexpr auto kFullDiskPatience = std::chrono::seconds(5);  // if storage reports no error
constexpr char kDiskIsFull[] = "the disk is full";
constexpr char kNoFault[] = "a fault could not be injected";

bool IsTerminal(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELLED";
}

}  // namespace

// A clock for the injector, which needs one before the emulator exists. Begin sets the emulator's
// clock.
struct ScenarioRun::RunClock final : Clock {
  Instant Now() const override {
    const Clock* clock = real.load();
    return clock ? clock->Now() : Instant{};
  }
  void WaitUntil(Instant) override {}
  void Interrupt() override {}
  void Hold() override {
    if (Clock* clock = real.load()) clock->Hold();
  }
  void Release() override {
    if (Clock* clock = real.load()) clock->Release();
  }
  std::atomic<Clock*> real{nullptr};
};

ScenarioRun::ScenarioRun(const harness::Scenario& scenario, RunOptions options)
    : scenario_(scenario), options_(std::move(options)), clock_(std::make_unique<RunClock>()) {
  harness::FaultInjectorOptions directing;
  directing.seed = options_.seed;
  if (options_.disturbed) {
    directing.faults = scenario.faults;
    directing.vm_lifetime = scenario.service_delays.vm_lifetime;
    directing.step_time = scenario.service_delays.step_time;
  }
  injector_ = std::make_unique<harness::FaultInjector>(std::move(directing), *clock_);
  injector_->Attach(*this);
  if (options_.watcher) injector_->Watch(options_.watcher);
}

bool ScenarioRun::Needs(harness::HostAbility ability) const {
  return options_.disturbed && std::ranges::any_of(scenario_.faults, [&](const auto& fault) {
           return fault.kind->needs == ability;
         });
}

// In the state directory, without links, as watches report paths.
Path ScenarioRun::Below(const char* name) const {
  std::error_code error;
  const Path state = std::filesystem::canonical(options_.state, error);
  return (error ? options_.state : state) / name;
}

bool ScenarioRun::WatchesDisks() const {
  if (options_.watch_disks) return true;
  const auto is_of_disk = [](const harness::Trigger& trigger) {
    const auto* operation = trigger.As<harness::StorageTrigger>();
    return operation && operation->IsOfDisk();
  };
  if (Needs(HostAbility::kWatchedDisk)) return true;
  return options_.disturbed && std::ranges::any_of(scenario_.faults, [&](const auto& fault) {
           return is_of_disk(fault.when) || (fault.until && is_of_disk(*fault.until));
         });
}

std::string ScenarioRun::DiskOf(const engine::ReplicaKey& key) const {
  if (!disks_) return "";
  const std::string disk = disks_->BootDisk(key);
  if (disk.empty() || SeesHost()) return "/";
  return Below("") / Path(disk).lexically_relative(options_.state);
}

ScenarioRun::~ScenarioRun() {
  injector_->End();
  emulator_.reset();
}

app::EmulatorOptions ScenarioRun::Options() const {
  app::EmulatorOptions options = options_.settings.options;
  options.state = options_.state;
  options.port = 0;
  options.access_log = "off";
  options.durable_storage = false;  // the directory is removed after the run
  options.queue_delay = scenario_.service_delays.queue_delay;
  options.provision_delay = scenario_.service_delays.provisioning_delay;
  options.restart_delay = scenario_.service_delays.restart_delay;
  options.failing_restart = FailingRestart();
  options.grace = scenario_.limits.grace;
  options.seed = options_.seed;
  AddImages(scenario_, Below("buckets"), options.images);
  for (const auto& [image, command] : job_->images()) options.images[image] = command;
  options.create_buckets = true;
  if (scenario_.own_ports) options.addressing = app::Addressing::kPorts;
  options.isolation = IsolationOf(options, options.state);
  if (scenario_.semantics == harness::Semantics::kPosix) {
    options.storage_view = app::StorageView::kPath;
  }
  return options;
}

std::unique_ptr<gcs::BucketStore> ScenarioRun::WrapStore(gcs::BucketStore& store) {
  StoreListener listener;
  listener.failed = [this](const Error& error) {
    if (error.code == Code::kResourceExhausted) disk_was_full_ = true;
  };
  if (options_.recorder) {
    listener.changed = [this](const std::string& bucket, const std::string& name) {
      options_.recorder->Take(emulator_->buckets(), bucket, name);
    };
  }
  return WatchedStore(store, *injector_, std::move(listener));
}

std::unique_ptr<engine::LogSink> ScenarioRun::WrapOutput(engine::LogSink& sink) {
  return WatchedOutput(sink, *injector_, harness::StepReader(scenario_.steps), lines_,
                       options_.observer);
}

std::unique_ptr<engine::LogSink> ScenarioRun::WrapServiceLog(engine::LogSink& sink) {
  return WatchedServiceLog(sink, *injector_);
}

Status ScenarioRun::WrapLaunchers(host::LauncherBundle& replicas) {
  RETURN_IF_ERROR(CheckAbilities(scenario_, replicas));
  if (WatchesDisks()) disks_ = replicas.disks;
  calls_ = std::make_unique<SystemWatch>(
      *injector_, *volumes_,
      SystemWatch::Options{Below("buckets"), [this](const auto& key) { return DiskOf(key); },
                           Files(), options_.observer, FilesWrittenBefore()});
  host::ReplicaWatch watch{.output = true};
  if (scenario_.semantics == harness::Semantics::kPosix) watch.roots = {Below("buckets")};
  for (const Path& root : volumes_->Roots()) watch.roots.push_back(root);
  if (disks_) watch.changed_roots = {SeesHost() ? Path("/") : Below("disks")};
  replicas.watchable->Watch(std::move(watch), *calls_);
  freezable_ = replicas.freezable;
  if (Needs(HostAbility::kFakeClock)) {
    clocks_ = std::make_unique<FakeClocks>(options_.state / "clocks");
  }
  if (Needs(HostAbility::kOwnNetwork)) {
    networks_ = std::make_unique<NetworkFaults>(
        *replicas.networks, replicas.machines->SharedAddress(), replicas.machines->HostAddress());
  }
  auto watched = std::make_unique<WatchedLauncher>(
      std::move(replicas.launcher), *replicas.disks, *injector_,
      LaunchHooks{&callers_, clocks_.get(), networks_.get(), AlterationOf(), options_.observer,
                  [this](const std::string& why) {
                    const std::lock_guard lock(refusal_mutex_);
                    refusal_ = why;
                  },
                  [this](bool has_peers) {
                    if (host::IsTaskPortTaken()) (has_peers ? port_shared_ : port_taken_) = true;
                  }});
  launcher_ = watched.get();
  replicas.launcher = std::move(watched);
  replicas.packager = WatchedPackager(std::move(replicas.packager), *injector_);
  return Ok{};
}

LaunchEditor ScenarioRun::AlterationOf() {
  std::vector<std::vector<std::string>> commands;
  for (const harness::ClusterMember& member : scenario_.members) {
    commands.push_back(CompleteCommand(scenario_, member.command, Below("buckets")));
  }
  return [this, commands](engine::ReplicaLaunch& launch, const std::string& boot_disk) {
    LoseUnsynced(harness::ReplicaNameOf(launch.key));
    volumes_->AddTo(launch);
    if (scenario_.inherits_environment) InheritEnvironment(launch);
    if (!scenario_.members.empty()) {
      BecomeMember(scenario_.members, commands, launch);
    } else if (scenario_.ranks > 1) {
      SetRankVariables(launch);
    }
    if (options_.alter_launch) options_.alter_launch(launch, boot_disk);
  };
}

http::Handler ScenarioRun::WrapHandler(http::Handler apis) {
  return WithCallers(WatchedJobApi(std::move(apis), *injector_), callers_);
}

void ScenarioRun::Begin(engine::Engine& engine, Clock& clock) {
  clock_->real = &clock;
  engine_ = &engine;
  states_ = engine.Watch([this, last = std::string()](const run::Job& job) mutable {
    const std::string state(run::Name(job.state));
    if (state == last) return;
    last = state;
    if (state == "QUEUED") injector_->SetSubmitted(clock_->Now());
    injector_->Report({.body = harness::StateEvent{state}});
  });
}

// The launchers, the engine and its clock are still there, and faults use them.
void ScenarioRun::End() {
  injector_->End();
  injector_->Drain();
  states_.End();
}

// Shares the caches of runs: installing packages takes seconds and has the same result in each run.
Status ScenarioRun::ShareCaches() const {
  if (options_.caches.empty()) return Ok{};
  for (const char* name : {"environments", "sdists"}) {
    RETURN_IF_ERROR(MakeDirectories(options_.caches / name));
    std::error_code error;
    std::filesystem::create_directory_symlink(options_.caches / name, options_.state / name, error);
    if (error) return errors::CannotShare(name, error.value());
  }
  return Ok{};
}

bool ScenarioRun::DiskWasFull() const {
  return disk_was_full_ || (calls_ && calls_->disk_was_full());
}

bool ScenarioRun::LacksRoom() const {
  return IsFull(options_.state) || (options_.overfull && options_.overfull());
}

// Whether replicas get loopback addresses with port 2222, which another program can take.
bool ScenarioRun::LendsTaskPorts() const {
  const bool by_port =
      scenario_.own_ports || options_.settings.options.addressing == app::Addressing::kPorts;
  return !on_machines_ && !by_port;
}

// Fails if the host prevented the run: it shows nothing about the trainer.
Result<Evidence> ScenarioRun::Run() {
  const uint64_t shortages = DescriptorShortages();
  const bool was_taken = host::IsTaskPortTaken();
  auto evidence = RunJob();
  {
    const std::lock_guard lock(refusal_mutex_);
    if (!refusal_.empty()) return errors::ReplicaRefused(refusal_);
  }
  const bool well = evidence.ok() && evidence->state == "SUCCEEDED";
  if (!well && DescriptorShortages() > shortages) {
    return errors::NoDescriptorsForRun(DescriptorLimit());
  }
  const bool failed = evidence.ok() && !well;
  const bool is_taken = port_taken_ || (!was_taken && LendsTaskPorts() && host::IsTaskPortTaken());
  lacked_task_port_ = failed && (is_taken || port_shared_);
  if (lacked_task_port_) {
    return is_taken ? errors::TaskPortTaken() : errors::TaskPortShared();
  }
  if (!DiskWasFull() && (well || !LacksRoom())) return evidence;
  return errors::DiskFull(options_.state);
}

Result<Evidence> ScenarioRun::RunJob() {
  RETURN_IF_ERROR(ShareCaches());
  ASSIGN_OR_RETURN(job_, MakeReadyJob(scenario_, options_.read_words, Below("buckets")));
  const app::EmulatorOptions options = Options();
  on_machines_ = options.isolation == app::Isolation::kMachine;
  ::chmod(options_.state.c_str(), S_IRWXU);  // the emulator refuses one that is open to others
  const std::vector<Path>& states = options_.settings.options.outer_states;
  ASSIGN_OR_RETURN(volumes_, RunVolumes::Make(scenario_, {Below("volumes"), options_.volumes,
                                                          states, on_machines_}));
  RETURN_IF_ERROR(RecordForPowerLoss());
  ASSIGN_OR_RETURN(emulator_, app::Emulator::Start(options, {}, this));
  RETURN_IF_ERROR(FillBuckets());
  Evidence evidence;
  RETURN_IF_ERROR(Collect(evidence.objects_before));
  RETURN_IF_ERROR(job_->Create(*emulator_));
  ASSIGN_OR_RETURN(const run::Job accepted, engine_->Get(kProject, job_->id()));
  RETURN_IF_ERROR(CheckReplicas(scenario_, accepted));
  evidence.broke_off = Follow();
  if (!evidence.broke_off.empty()) Abandon();
  RETURN_IF_ERROR(CheckNetwork());
  {
    const std::lock_guard lock(power_mutex_);
    RETURN_IF_ERROR(power_failure_);
  }
  ASSIGN_OR_RETURN(const run::Job ended, engine_->Get(kProject, job_->id()));
  evidence.state = run::Name(ended.state);
  evidence.error_message = ended.error_message;
  RETURN_IF_ERROR(CollectTrials(ended, evidence));
  evidence.events = injector_->events();
  evidence.faults = injector_->tallies();
  if (evidence.state == "FAILED") ShowSources(evidence);
  RETURN_IF_ERROR(Collect(evidence.objects));
  if (options_.once_more && evidence.state == "FAILED") {
    injector_->End();
    ASSIGN_OR_RETURN(evidence.once_more,
                     RunOnceMore(scenario_, *job_, *emulator_, options_.interrupted));
  }
  emulator_.reset();
  return evidence;
}

// People read why a job failed, and no trigger needs its lines.
void ScenarioRun::ShowSources(Evidence& evidence) const {
  Path parent = scenario_.package_parent;
  if (!scenario_.words.empty()) {
    const auto words = ReadWordsOf(scenario_, options_.read_words);
    const auto* submit = words.ok() ? std::get_if<client::SubmitRequest>(&words->request) : nullptr;
    if (submit) parent = client::ParentOfPackage(submit->package_path);
  }
  if (parent.empty()) return;
  const auto shown = [&parent](std::string text) {
    return host::WithSourcesInFrames(std::move(text), [&parent](const auto&, const auto& file) {
      return host::SourceIn(parent, file);
    });
  };
  evidence.error_message = shown(std::move(evidence.error_message));
  for (Event& event : evidence.events) {
    auto* line = std::get_if<harness::LogEvent>(&event.body);
    if (line) line->message = shown(std::move(line->message));
  }
}

// A fault that was not injected makes the run meaningless.
Status ScenarioRun::CheckNetwork() const {
  const std::string failure = networks_ ? networks_->failure() : "";
  return failure.empty() ? Status(Ok{}) : errors::NetworkFaultNotInjected(failure);
}

// Waits for the end of the job. Returns the limit that ended the run earlier; "" if the job ended.
std::string ScenarioRun::Follow() {
  RunLimits limits(scenario_.limits, MonotonicNow());
  size_t known = 0;
  for (;;) {
    const size_t now = injector_->WaitForState(known, kCheckInterval);
    if (now > known) {
      const std::vector<Event> all = injector_->Since(known);
      for (const Event& event : all) {
        limits.Take(event, MonotonicNow());
        const auto* entered = event.As<harness::StateEvent>();
        if (entered && IsTerminal(entered->state)) return "";
      }
      known = now;
    }
    if (options_.interrupted && options_.interrupted()) return "interrupted";
    if (DiskWasFull()) return kDiskIsFull;  // such a run has no valid result
    if (!CheckNetwork().ok()) return kNoFault;
    if (std::string limit = LimitMet(limits); !limit.empty()) return limit;
  }
}

std::string ScenarioRun::LimitMet(const RunLimits& limits) const {
  const auto now = MonotonicNow();
  if (lines_ > scenario_.limits.log_lines) {
    return "limits.log_lines: more than " + std::to_string(scenario_.limits.log_lines) + " lines";
  }
  if (options_.overfull && options_.overfull()) return kDiskIsFull;
  if (limits.WithoutProgress(now) > kFullDiskPatience && IsFull(options_.state)) {
    return kDiskIsFull;
  }
  return limits.Exceeded(now);
}

// Cancels the job. Ends the event list before, because later events are caused by the cancellation.
void ScenarioRun::Abandon() {
  injector_->End();
  (void)engine_->Cancel(kProject, job_->id());
}

}  // namespace caip::scenario
