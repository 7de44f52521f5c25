// The chapter roles: TF_CONFIG, with one check for each role and for each name of the master, and
// the end of the other replicas with the master.

#include <csignal>
#include <set>

#include "base/time_text.h"
#include "harness/check/check.h"
#include "harness/check/own_copies.h"
#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

constexpr char kRoleSource[] =
    "docs/service/replica-environment.md, section 2: TF_CONFIG of every role";

CheckResult CheckWithoutTfConfig(const CheckSession& session) {
  const CheckRun& run = session.Run("without-tf-config");
  if (run.succeeded()) return Pass("SUCCEEDED without the variable");
  return FailOf(run, "without TF_CONFIG",
                "Read it as json.loads(os.environ.get('TF_CONFIG') or '{}'), and treat a missing "
                "task as the only one. Then the trainer runs on a laptop and in tests, too.");
}

std::string RoleAdvice(const std::string& role) {
  if (role == "chief" || role == "master") {
    return "The first replica is task type `chief` with runtime versions from 2.1 on and with "
           "evaluators, and `master` with older versions and with containers. Treat both as the "
           "one that trains, saves and exports.";
  }
  if (role == "evaluator") {
    return "An evaluator is not in TF_CONFIG's cluster: do not look its task up there. It gets the "
           "same arguments, evaluates checkpoints of job-dir, and ends when training has ended.";
  }
  return "Look at task.type and task.index of TF_CONFIG, and let a " + role + " do the work of a " +
         role + " (or wait for the master, if it has none).";
}

bool HasOwnCluster(const CheckSession& session) {
  return HasCluster(*session.trainer.job.kind, session.trainer.job.document);
}

// The writes of the role to objects that the master writes, one for each object. Of two replicas
// that rename one file, only one of them succeeds. So the name before counts, too.
std::vector<ReplicaWrite> SharedWrites(const CheckSession& session, const CheckRun& run,
                                       const std::string& role) {
  std::set<std::string> of_master;
  const auto add = [&](const CheckRun& source) {
    for (const ReplicaWrite& write : WritesOf(source, MasterOf(source))) {
      of_master.insert({write.object, write.first_name()});
    }
  };
  add(run);
  if (const auto plain = session.runs.find("plain"); plain != session.runs.end()) {
    add(plain->second);
  }
  std::vector<ReplicaWrite> shared;
  for (const ReplicaWrite& write : WritesOf(run, "")) {
    if (RoleOf(write.event->replica) != role) continue;
    const size_t known = of_master.erase(write.object) + of_master.erase(write.first_name());
    if (known > 0) shared.push_back(write);
  }
  return shared;
}

// The run in which workers do the master's work, because the trainer does not ask TF_CONFIG for its
// role. nullptr: none. The replicas then overwrite each other's objects, and how the run ends is
// chance. A cluster of the job's own that succeeds may share objects on purpose.
const CheckRun* FindOverlappingRun(const CheckSession& session) {
  const bool is_own = HasOwnCluster(session);
  for (const char* name : {"chief", "master"}) {
    const auto run = session.runs.find(name);
    if (run == session.runs.end() || !run->second.skipped.empty()) continue;
    if (is_own && run->second.succeeded()) continue;
    if (!SharedWrites(session, run->second, "worker").empty()) return &run->second;
  }
  return nullptr;
}

constexpr char kChance[] =
    "as worker it does the work of the master, so that the end of the run is chance: see "
    "roles/worker";

CheckResult CheckRole(const CheckSession& session, const std::string& run_name,
                      const std::string& role, const std::string& name) {
  if (FindOverlappingRun(session)) return Skip(kChance);
  const CheckRun& run = session.Run(run_name);
  const auto failure = FirstFailure(run);
  if (failure && RoleOf(failure->replica) != role) {
    return Skip("the run ended early because its " + RoleOf(failure->replica) + " failed");
  }
  if (!failure && run.succeeded()) return Pass("as " + name + " it did its part");
  CheckResult result{CheckVerdict::kFail, "as " + name + ": " + Outcome(run)};
  if (!failure && role != "master") return Skip("the run did not end well: " + Outcome(run));
  result.evidence = LastLines(run, failure ? failure->replica : "", 4);
  if (failure) {
    result.evidence.push_back(Shown(*failure));
    for (const LaunchedReplica& launched : run.launched) {
      if (launched.replica != failure->replica || launched.boot != failure->boot) continue;
      result.evidence.push_back("TF_CONFIG=" + launched.Variable("TF_CONFIG").substr(0, 300));
    }
  }
  result.advice = RoleAdvice(name);
  return result;
}

CheckResult MastersWork(const std::vector<ReplicaWrite>& writes, const std::string& found,
                        const std::string& role) {
  constexpr size_t kShownWrites = 4;
  CheckResult result{CheckVerdict::kWarn,
                     "as " + role + " it does the work of the master, and " + found,
                     {},
                     RoleAdvice(role)};
  for (const ReplicaWrite& write : writes) {
    if (result.evidence.size() < kShownWrites) result.evidence.push_back(Shown(write));
  }
  return result;
}

// A replica that writes the master's objects does the master's work: one overwrites the other.
CheckResult Overwrites(const std::vector<ReplicaWrite>& shared, const std::string& role) {
  return MastersWork(shared, "overwrites its objects", role);
}

// The replica leaves what the master leaves. Evaluators may: tf.estimator lets them export.
CheckResult WarnOfOwnCopies(CheckResult result, const CheckRun& run, const std::string& role) {
  const bool is_meant = result.verdict == CheckVerdict::kPass && role != "evaluator";
  const auto copies = is_meant ? FindOwnCopies(run, role) : std::vector<ReplicaWrite>{};
  if (copies.empty()) return result;
  result = MastersWork(copies, "stores the same objects under names of its own", role);
  result.advice +=
      " If all replicas must save, as with MultiWorkerMirroredStrategy, let all but the first one "
      "save to a temporary directory and delete it.";
  return result;
}

// A job without a cluster of its own does not use the role.
CheckResult OnlyWarned(CheckResult result) {
  if (result.verdict == CheckVerdict::kFail) result.verdict = CheckVerdict::kWarn;
  return result;
}

CheckResult CheckMember(const CheckSession& session, const std::string& role) {
  const Scenario& job = session.trainer.job;
  const bool has_cluster = HasOwnCluster(session);
  if (has_cluster && !job.kind->HasRole(job.document, role)) return Skip("the job has no " + role);
  const CheckRun* const overlapping = role == "worker" ? FindOverlappingRun(session) : nullptr;
  const CheckRun& run = overlapping ? *overlapping : session.Run("chief");
  const std::vector<ReplicaWrite> shared = SharedWrites(session, run, role);
  if (role == "worker" && !shared.empty()) {
    CheckResult result = Overwrites(shared, role);
    if (has_cluster && !run.succeeded()) result.verdict = CheckVerdict::kFail;
    return result;
  }
  CheckResult result = CheckRole(session, "chief", role, role);
  if (!has_cluster) result = OnlyWarned(std::move(result));
  if (result.verdict == CheckVerdict::kPass && !shared.empty()) return Overwrites(shared, role);
  return WarnOfOwnCopies(std::move(result), run, role);
}

// A job of one replica may call it by one of the names only.
CheckResult CheckMasterName(const CheckSession& session, const std::string& name) {
  CheckResult result = CheckRole(session, name, "master", name);
  const Scenario& job = session.trainer.job;
  const bool is_used =
      HasOwnCluster(session) || job.kind->UsesChief(job.document) == (name == "chief");
  return is_used ? result : OnlyWarned(std::move(result));
}

CheckResult CheckChief(const CheckSession& session) { return CheckMasterName(session, "chief"); }
CheckResult CheckMaster(const CheckSession& session) { return CheckMasterName(session, "master"); }
CheckResult CheckWorker(const CheckSession& session) { return CheckMember(session, "worker"); }
CheckResult CheckParameterServer(const CheckSession& session) { return CheckMember(session, "ps"); }
CheckResult CheckEvaluator(const CheckSession& session) {
  return CheckMember(session, "evaluator");
}

// The master's end is the end of the job: the others get SIGTERM, and SIGKILL after the grace
// period.
CheckResult CheckStopWithMaster(const CheckSession& session) {
  if (FindOverlappingRun(session)) return Skip(kChance);
  const CheckRun& run = session.Run("chief");
  if (!run.succeeded()) return Skip("the run with every role did not end well");
  CheckResult result{CheckVerdict::kFail, ""};
  size_t others = 0;
  for (const Event& event : run.evidence.events) {
    const auto* exit = event.As<ExitEvent>();
    if (!exit || RoleOf(event.replica) == "master") continue;
    ++others;
    if (exit->signal == SIGKILL) result.evidence.push_back(Shown(event) + " (SIGKILL)");
  }
  if (others == 0) return Skip("the job has only a master");
  if (result.evidence.empty()) {
    return Pass(std::to_string(others) + " other replicas ended by themselves or by SIGTERM");
  }
  result.found = std::to_string(result.evidence.size()) + " of " + std::to_string(others) +
                 " replicas did not end within " + HumanDuration(session.trainer.job.limits.grace) +
                 " after SIGTERM and had to be killed";
  result.advice =
      "Do not ignore SIGTERM, and let a handler end the process. Anything that it writes after the "
      "end of the job is lost or incomplete.";
  return result;
}

}  // namespace

std::vector<CheckKind> RoleChecks() {
  return {
      {"roles/without-tf-config",
       "The trainer runs without TF_CONFIG.",
       "docs/service/replica-environment.md, section 2; a run by hand has none",
       {"without-tf-config"},
       CheckWithoutTfConfig},
      {"roles/chief", "The trainer works as task type chief.", kRoleSource, {"chief"}, CheckChief},
      {"roles/master",
       "The trainer works as task type master.",
       kRoleSource,
       {"master"},
       CheckMaster},
      {"roles/worker",
       "A replica of type worker does not fail.",
       kRoleSource,
       {"chief"},
       CheckWorker},
      {"roles/ps",
       "A replica of type ps does not fail.",
       kRoleSource,
       {"chief"},
       CheckParameterServer},
      {"roles/evaluator",
       "A replica of type evaluator, which is in no cluster, does not fail.",
       kRoleSource,
       {"chief"},
       CheckEvaluator},
      {"roles/stop-with-master",
       "The other replicas stop when the master is done.",
       "docs/service/replica-environment.md, sections 7 and 8: all others are shut down by SIGTERM",
       {"chief"},
       CheckStopWithMaster},
  };
}

}  // namespace caip::harness
