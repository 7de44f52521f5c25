// Chapter: machines, packages, images, and the start of all replicas.

#include <algorithm>

#include "engine/job_run.h"

namespace caip::engine {

using run::JobEvent;

namespace {

// All modules of a run share one environment. The first one chooses its Python.
void AddModule(const run::Program& program, PrepareRequest& request) {
  const auto* module = std::get_if<run::PythonModule>(&program);
  if (!module) return;
  if (request.python_module.empty()) {
    request.software_version = module->software_version;
    request.python_version = module->python_version;
    request.is_python_default = module->is_python_default;
    request.python_module = module->module;
  }
  for (const std::string& uri : module->package_uris) {
    const auto& known = request.package_uris;
    if (std::find(known.begin(), known.end(), uri) == known.end()) {
      request.package_uris.push_back(uri);
    }
  }
}

}  // namespace

// In PREPARING or, where the emulator was killed under a running job, in RUNNING.
void JobRun::BeginAttempt() {
  phase_ = Phase::kPreparing;
  retrying_ = false;
  for (auto& [id, replica] : replicas_) replica = {};
  Save();
  if (job_.state == run::JobState::kPreparing) LogJobEvent(run::LoggedJobEvent::kPreparing);
  const run::Wait wait = WaitForMachines();
  if (wait.delay > Duration(0)) {
    Start(TimerKind::kProvisioned, now_ + wait.delay, {}, note_.attempt);
  } else {
    MachinesAreThere();
  }
}

// The same delay whenever it is asked for, so nothing needs to be stored. A tuning job has no
// machines; each of its trials waits for its own.
run::Wait JobRun::WaitForMachines() const {
  if (study_) return {};
  Random random = RandomFor("machines of attempt " + std::to_string(note_.attempt));
  return run::Throw(rules_->provisioning_delay, random);
}

void JobRun::MachinesAreThere() {
  const run::Wait wait = WaitForMachines();
  LogFailedTries(wait.failed_tries);
  if (wait.out_of_stock) {
    End(JobEvent::kGaveUp, api_->OutOfStock(), run::EndCause::kOutOfStock);
    return;
  }
  LogJobEvent(run::LoggedJobEvent::kMachinesReady);
  if (IsTrial()) {
    for (const auto& [id, note] : note_.replicas) {
      if (!note.finished) LogBeforePackages(id);
    }
  }
  // A trial uses what its job has prepared.
  const bool needs_nothing = !api_->spec().NeedsPackages() && ImagesToPrepare().empty();
  if (needs_nothing || IsTrial()) {
    LaunchAll();
  } else {
    PrepareReplicas();
  }
}

// Those that the launcher does not run as a command of its own.
std::map<std::string, std::string> JobRun::ImagesToPrepare() const {
  std::map<std::string, std::string> sources;
  for (const run::ReplicaGroup& group : api_->spec().groups) {
    const auto* image = std::get_if<run::ContainerImage>(&group.program);
    const auto known = image ? note_.images.find(image->uri) : note_.images.end();
    const bool is_known = known != note_.images.end();
    if (!image || (is_known && !known->second.entrypoint.empty())) continue;
    sources[image->uri] = is_known ? known->second.source : "";
  }
  return sources;
}

void JobRun::LogFailedTries(int tries) {
  for (int i = 1; i <= tries; ++i) {
    LogService(run::texts::NoMachines(api_->spec().region, i), Severity::kWarning);
  }
}

void JobRun::PrepareReplicas() {
  PrepareRequest request;
  request.run = key();
  request.attempt = note_.attempt;
  request.images = ImagesToPrepare();
  for (const run::ReplicaGroup& group : api_->spec().groups) AddModule(group.program, request);
  for (const auto& [id, note] : note_.replicas) {
    if (note.finished) continue;
    if (!api_->spec().NeedsPackages() || RunsPackages(id)) {
      request.log_tasks.push_back(api_->TaskName(id));
    }
    LogBeforePackages(id);
  }
  if (study_) request.log_tasks.push_back(api_->TaskName(lead_));
  installing_ = true;
  Do(PreparePackages{std::move(request), AddressesToStart()});
}

std::vector<std::string> JobRun::AddressesToStart() const {
  std::vector<std::string> addresses;
  for (const run::PlannedReplica& replica : plan_) {
    const auto note = note_.replicas.find(replica.id);
    const bool starts = note != note_.replicas.end() && !note->second.finished;
    if (starts) addresses.push_back(replica.address);
  }
  return addresses;
}

bool JobRun::RunsPackages(const run::ReplicaId& id) const {
  return std::holds_alternative<run::PythonModule>(api_->spec().GroupOf(id).program);
}

// The lead, if no replica runs packages.
run::ReplicaId JobRun::FirstWithPackages() const {
  for (const auto& [id, note] : note_.replicas) {
    if (!note.finished && RunsPackages(id)) return id;
  }
  return lead_;
}

void JobRun::LogBeforePackages(const run::ReplicaId& id) {
  LogReplicaEvent({id}, run::LoggedReplicaEvent::kBeforePackages);
}

void JobRun::On(const Prepared& prepared) {
  if (!installing_ || prepared.attempt != note_.attempt) return;
  installing_ = false;
  if (!prepared.failure) {
    prepared_ = prepared;
    LaunchAll();
  } else if (const Prepared::Failure& failure = *prepared.failure; !failure.refusal.empty()) {
    End(JobEvent::kGaveUp, failure.refusal, run::EndCause::kRefused);
  } else {
    // Permanent: another attempt would install the same packages.
    FailBecauseOf({run::ExitClass::kNotPrepared,
                   {.replica = FirstWithPackages(),
                    .status = failure.exit_code,
                    .traceback = failure.traceback},
                   ""});
  }
}

void JobRun::LaunchAll() {
  if (study_) return ActivateStudy();
  phase_ = Phase::kActive;
  std::vector<run::ReplicaId> launched;
  for (auto& [id, note] : note_.replicas) {
    if (note.finished) continue;
    ++note.boot;
    launched.push_back(id);
  }
  Save();
  for (const run::ReplicaId& id : launched) Launch(id, true);
}

// The boot was counted, and that was saved before.
void JobRun::Launch(const run::ReplicaId& id, bool fresh_disk) {
  Replica& replica = replicas_.at(id);
  replica.life = Life::kLaunched;
  replica.terminated = false;
  replica.lost.reset();
  LogReplicaEvent({id}, run::LoggedReplicaEvent::kBeforeStart);
  Do(LaunchReplica{MakeLaunch(FactsOf(id), fresh_disk)});
}

}  // namespace caip::engine
