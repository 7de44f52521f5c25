// Chapter: machines, packages, and the start of all replicas.

#include "engine/errors.h"
#include "engine/job_run.h"

namespace caip::engine {

using run::JobEvent;
namespace texts = ml::texts;

// In PREPARING or, where the emulator was killed under a running job, in RUNNING.
void JobRun::BeginAttempt() {
  phase_ = Phase::kPreparing;
  retrying_ = false;
  for (auto& [id, replica] : replicas_) replica = {};
  Save();
  if (job_.state == run::JobState::kPreparing) LogLife(texts::JobPreparing());
  const run::Wait wait = WaitForMachines();
  if (wait.delay > Duration(0)) {
    Start(TimerKind::kProvisioned, now_ + wait.delay, {}, note_.attempt);
  } else {
    MachinesAreThere();
  }
}

// The same throw whenever it is asked for, so nothing needs to be remembered. A tuning job has no
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
    End(JobEvent::kGaveUp, texts::OutOfStock(job_.training_input->region));
    return;
  }
  LogLife(texts::WaitingForProgram());
  if (IsTrial()) {
    for (const auto& [id, note] : note_.replicas) {
      if (!note.finished) LogFirstWords(id);
    }
  }
  if (plan_.is_container || IsTrial()) {
    LaunchAll();
  } else {
    InstallPackages();
  }
}

void JobRun::LogFailedTries(int tries) {
  for (int i = 1; i <= tries; ++i) {
    LogService(texts::NoMachines(job_.training_input->region, i), Severity::kWarning);
  }
}

void JobRun::InstallPackages() {
  const ml::TrainingInput& input = *job_.training_input;
  PrepareRequest request{key_,
                         note_.attempt,
                         input.package_uris,
                         input.runtime_version,
                         ml::PythonVersionOf(input, rules_->validation),
                         input.python_module,
                         {}};
  for (const auto& [id, note] : note_.replicas) {
    if (note.finished) continue;
    request.log_tasks.push_back(run::TaskName(id));
    LogFirstWords(id);
  }
  if (study_) request.log_tasks.push_back(run::TaskName(kMaster));
  installing_ = true;
  Do(PreparePackages{std::move(request)});
}

// The first that the service's launcher says of a Python program, before it installs.
void JobRun::LogFirstWords(run::ReplicaId id) {
  if (plan_.is_container) return;
  LogReplica(id, TaskLine(FactsOf(id)));
  LogReplica(id, texts::RunningModule(job_.training_input->python_module));
}

void JobRun::On(const Prepared& prepared) {
  if (!installing_ || prepared.attempt != note_.attempt) return;
  installing_ = false;
  if (!prepared.failure) {
    prepared_ = prepared;
    LaunchAll();
  } else if (const Prepared::Failure& failure = *prepared.failure; !failure.refusal.empty()) {
    End(JobEvent::kGaveUp, failure.refusal);
  } else {
    // Permanent, whoever looks at it.
    End(JobEvent::kGaveUp, Words({run::ExitClass::kNotPrepared,
                                  {kMaster, failure.exit_code, 0, false, failure.traceback},
                                  ""}));
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
  for (run::ReplicaId id : launched) Launch(id, true);
}

// The boot was counted, and that was saved before.
void JobRun::Launch(run::ReplicaId id, bool fresh_disk) {
  Replica& replica = replicas_.at(id);
  replica.life = Life::kLaunched;
  replica.terminated = false;
  replica.lost.reset();
  if (!plan_.is_container) LogReplica(id, CommandLine(FactsOf(id)));
  Do(LaunchReplica{MakeLaunch(FactsOf(id), fresh_disk)});
}

}  // namespace caip::engine
