// One check a role, and one for each name of the master: all look at the same runs.

#include "harness/check/check.h"
#include "harness/check/cluster_roles.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

constexpr char kRolesSource[] =
    "docs/service/replica-environment.md, section 2: TF_CONFIG of every role";

std::string AdviceFor(const std::string& role) {
  if (role == "chief" || role == "master") {
    return "The first replica is task type `chief` with runtime versions from 2.1 on and with "
           "evaluators, `master` with older ones and with containers: take both for the one that "
           "trains, saves and exports.";
  }
  if (role == "evaluator") {
    return "An evaluator is not in TF_CONFIG's cluster: do not look its task up there. It gets the "
           "same arguments, evaluates checkpoints of job-dir, and ends when training has ended.";
  }
  return "Look at task.type and task.index of TF_CONFIG, and let a " + role + " do a " + role +
         "'s work (or wait for the master, if it has none).";
}

Ruling JudgeRole(const Course& course, const std::string& run_name, const std::string& role,
                 const std::string& name) {
  const CourseRun& run = course.Of(run_name);
  const auto failure = FirstFailure(run);
  if (failure && RoleOf(failure->replica) != role) {
    return Skip("the run ended early, for its " + RoleOf(failure->replica) + " failed");
  }
  if (!failure && run.succeeded()) return Pass("as " + name + " it did its part");
  Ruling ruling{CheckVerdict::kFail, "as " + name + ": " + Outcome(run)};
  if (!failure && role != "master") return Skip("the run did not end well: " + Outcome(run));
  ruling.evidence = LastLines(run, failure ? failure->replica : "", 4);
  if (failure) {
    ruling.evidence.push_back(Shown(*failure));
    for (const LaunchedReplica& launched : run.launched) {
      if (launched.replica != failure->replica || launched.boot != failure->boot) continue;
      ruling.evidence.push_back("TF_CONFIG=" + launched.Variable("TF_CONFIG").substr(0, 300));
    }
  }
  ruling.advice = AdviceFor(name);
  return ruling;
}

Ruling JudgeMember(const Course& course, const std::string& role) {
  const Json& input = course.trainer.job.training_input;
  if (HasCluster(input) && !HasRole(input, role)) return Skip("the job has no " + role);
  return JudgeRole(course, "chief", role, role);
}

Ruling JudgeChief(const Course& course) { return JudgeRole(course, "chief", "master", "chief"); }
Ruling JudgeMaster(const Course& course) { return JudgeRole(course, "master", "master", "master"); }
Ruling JudgeWorker(const Course& course) { return JudgeMember(course, "worker"); }
Ruling JudgeServer(const Course& course) { return JudgeMember(course, "ps"); }
Ruling JudgeEvaluator(const Course& course) { return JudgeMember(course, "evaluator"); }

}  // namespace

CheckKind ChiefCheck() {
  return {"roles/chief",
          "The trainer knows itself as task type chief.",
          kRolesSource,
          {"chief"},
          JudgeChief};
}

CheckKind MasterCheck() {
  return {"roles/master",
          "The trainer knows itself as task type master.",
          kRolesSource,
          {"master"},
          JudgeMaster};
}

CheckKind WorkerCheck() {
  return {"roles/worker",
          "A replica of type worker does not fail.",
          kRolesSource,
          {"chief"},
          JudgeWorker};
}

CheckKind ParameterServerCheck() {
  return {"roles/ps", "A replica of type ps does not fail.", kRolesSource, {"chief"}, JudgeServer};
}

CheckKind EvaluatorCheck() {
  return {"roles/evaluator",
          "A replica of type evaluator, which is in no cluster, does not fail.",
          kRolesSource,
          {"chief"},
          JudgeEvaluator};
}

}  // namespace caip::harness
