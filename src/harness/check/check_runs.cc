// The table of the runs of `caip check`, and the plan of each one.

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "harness/check/check_run.h"
#include "harness/check/file_places.h"
#include "harness/check/missing_module.h"
#include "harness/check/restart_point.h"
#include "run/limits.h"

namespace caip::harness {
namespace {

RunPlan SkippedPlan(std::string why) {
  RunPlan plan;
  plan.skip = std::move(why);
  return plan;
}

// Why runs that need a successful plain run cannot be made; "" if they can.
std::string WhyNoBaseline(const CheckSession& session) {
  const auto plain = session.runs.find("plain");
  if (plain == session.runs.end()) return "the plain run was not made";
  if (!plain->second.skipped.empty()) return plain->second.skipped;
  if (plain->second.succeeded()) return "";
  return "the job does not succeed as given, without any fault";
}

Duration LongestTimeWithoutProgress(const CheckRun& run) {
  Duration longest{0};
  const Event* last = nullptr;
  for (const Event& event : run.evidence.events) {
    const auto* entered = event.As<StateEvent>();
    if (entered && entered->state == "PREPARING") last = nullptr;  // the limit does not count then
    if (!IsProgress(event) || (entered && entered->state == "PREPARING")) continue;
    if (last) longest = std::max<Duration>(longest, event.time - last->time);
    last = &event;
  }
  return longest;
}

// Whether even the plain run needs machines. Replicas that are processes of this host share its
// ports, so only one of them can listen on port 2222 of all addresses.
bool NeedsMachines(const CheckedTrainer& trainer) {
  return trainer.is_command || trainer.has_own_files ||
         HasCluster(*trainer.job.kind, trainer.job.document);
}

// Whether the runs after the plain run may use machines. A machine hides files and servers of this
// host. A trainer that needs some would only fail there, and machine/independent says so.
bool MayUseMachines(const CheckSession& session) {
  const auto plain = session.runs.find("plain");
  const bool reads_nothing =
      plain != session.runs.end() && FindFilesOfThisHost(session, plain->second).empty();
  const auto machine = session.runs.find(kRunOnMachine);
  const bool has_failed = machine != session.runs.end() && machine->second.skipped.empty() &&
                          !machine->second.succeeded();
  return reads_nothing && !has_failed;
}

// Whether the job as given is known to succeed on a machine.
bool SucceedsOnMachine(const CheckSession& session) {
  const auto machine = session.runs.find(kRunOnMachine);
  if (machine != session.runs.end() && machine->second.succeeded()) return true;
  return RanOnMachine(session.Run("plain")) && session.Run("plain").succeeded();
}

// The job as given. Its limit without progress is at least twice the longest such time of the plain
// run, because a run beside other runs, or after a restart, may be half as fast.
RunPlan PlanAsGiven(const CheckSession& session) {
  RunPlan plan;
  plan.scenario = session.trainer.job;
  plan.metric = session.trainer.metric;
  plan.on_machines = NeedsMachines(session.trainer) || MayUseMachines(session);
  const auto plain = session.runs.find("plain");
  if (plain == session.runs.end()) return plan;
  Duration& stall = plan.scenario.limits.no_progress;
  stall = std::max(stall, 2 * LongestTimeWithoutProgress(plain->second));
  return plan;
}

// The plain run has no limit without progress. It shows how long the trainer is without progress.
RunPlan PlanPlainRun(const CheckSession& session) {
  RunPlan plan = PlanAsGiven(session);
  plan.scenario.limits.no_progress = plan.scenario.limits.wall;
  plan.watches_files = true;
  return plan;
}

// Shows whether the other runs may use machines.
RunPlan PlanRunOnMachine(const CheckSession& session) {
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  if (NeedsMachines(session.trainer) || RanOnMachine(session.Run("plain"))) {
    return SkippedPlan("the plain run shows it");
  }
  if (!MayUseMachines(session)) {
    return SkippedPlan("the trainer reads files of this host, which a machine may hide");
  }
  RunPlan plan = PlanAsGiven(session);
  plan.needs_machines = true;
  return plan;
}

RunPlan PlanWithoutTfConfig(const CheckSession& session) {
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  const Scenario& job = session.trainer.job;
  if (!job.kind->GivesTfConfigToOneReplica() && !HasCluster(*job.kind, job.document)) {
    return SkippedPlan("a " + std::string(job.kind->noun()) +
                       " with one replica has no TF_CONFIG in any run");
  }
  RunPlan plan = PlanAsGiven(session);
  plan.tf_config = false;
  return plan;
}

// A hyperparameter's flag comes after the job's own arguments (docs/service/replica-environment.md,
// section 5).
RunPlan PlanUnknownFlag(const CheckSession& session) {
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  RunPlan plan = PlanAsGiven(session);
  plan.scenario.kind->AddArguments({"--caip_check_hyperparameter", "0.5"}, plan.scenario.document);
  return plan;
}

RunPlan PlanMovedRun(const CheckSession& session) {
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  RunPlan plan = PlanAsGiven(session);
  plan.moved_to = "caip-check-moved";
  // Without a machine, the new name has no address. A machine may hide what the trainer needs.
  plan.on_machines = NeedsMachines(session.trainer) || SucceedsOnMachine(session);
  return plan;
}

RunPlan PlanPackageLook(const CheckSession& session) {
  if (session.trainer.is_container) return SkippedPlan("the job is an image and has no packages");
  RunPlan plan;
  plan.how = RunPlan::How::kLook;
  plan.scenario.semantics = Semantics::kObject;
  Json archives = Json::array();
  for (const Path& archive : session.trainer.packages) archives.push_back(archive.string());
  const auto& launched = session.Run("plain").launched;
  plan.look = {{"archives", std::move(archives)},
               {"source", session.trainer.source ? session.trainer.source->string() : ""},
               {"environment", launched.empty() ? "" : launched.front().Variable("VIRTUAL_ENV")},
               {"runtime", RuntimeModules()}};
  return plan;
}

// Twice the time in which the master reached its middle, within limits. In that time the other
// replicas have started work, too.
Duration TimeToMiddle(const CheckRun& plain, const CrashPoint& middle) {
  constexpr auto kLeast = std::chrono::milliseconds(500);
  constexpr auto kMost = std::chrono::seconds(5);
  Instant live{};
  for (size_t i = 0; i < middle.events; ++i) {
    const Event& event = plain.evidence.events[i];
    if (event.replica == middle.replica && event.Is<LiveEvent>()) live = event.time;
  }
  const Duration took = plain.evidence.events[middle.events - 1].time - live;
  return std::clamp<Duration>(2 * took, kLeast, kMost);
}

// Stops the master in its middle for a while. Otherwise it may end before the other replicas have
// started, and the run shows nothing about them.
void LetOthersCatchUp(const CheckSession& session, Scenario& scenario) {
  const CheckRun& plain = session.Run("plain");
  const auto middle = FindMiddle(plain);
  if (!middle) return;
  scenario.faults.push_back(
      HangFault("pause", middle->replica, MakeTrigger(*middle), TimeToMiddle(plain, *middle)));
}

RunPlan PlanCluster(const CheckSession& session, bool chief) {
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  RunPlan plan = PlanAsGiven(session);
  Json& document = plan.scenario.document;
  const JobKind& kind = *plan.scenario.kind;
  if (!HasCluster(kind, document)) kind.AddEveryRole(document, chief);
  if (const std::string why = kind.NameFirst(chief, document); !why.empty()) {
    return SkippedPlan(why);
  }
  LetOthersCatchUp(session, plan.scenario);
  return plan;
}

RunPlan PlanChiefCluster(const CheckSession& session) { return PlanCluster(session, true); }
RunPlan PlanMasterCluster(const CheckSession& session) { return PlanCluster(session, false); }

RunPlan PlanRefusedWrites(const CheckSession& session) {
  constexpr int kForbidden = 403;  // clients retry 5xx for minutes
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  const std::string master = MasterOf(session.Run("plain"));
  if (WritesOf(session.Run("plain"), master).empty()) {
    return SkippedPlan("the master writes nothing that could be refused");
  }
  RunPlan plan = PlanAsGiven(session);
  Trigger every_write{.kind = StorageTrigger{Phase::kBefore, "write", "*"}};
  every_write.nth.every = 1;
  plan.scenario.faults.push_back(
      RefuseStorageFault("no write", master, std::move(every_write), kForbidden));
  return plan;
}

RunPlan PlanMaintenance(const CheckSession& session) {
  constexpr auto kPause = std::chrono::milliseconds(500);
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  const auto middle = FindRestartPoint(session.Run("plain"));
  if (!middle) {
    return SkippedPlan(
        "no replica reports two steps (docs/scenarios.md: Steps) or writes two objects: there is "
        "no middle at which to restart the trainer");
  }
  RunPlan plan = PlanAsGiven(session);
  const Trigger when = MakeTrigger(*middle);
  // The replica is stopped until SIGTERM is sent. Otherwise a fast trainer ends before it.
  plan.scenario.faults.push_back(HangFault("pause", middle->replica, when, kPause));
  plan.scenario.faults.push_back(MaintenanceFault("maintenance", middle->replica, when));
  plan.scenario.limits.grace = run::kGraceDefault;
  return plan;
}

// The time of a run without the installation of its packages, which later runs share.
Duration TrainingTimeOf(const CheckRun& run) {
  const auto& events = run.evidence.events;
  const auto live = std::find_if(events.begin(), events.end(),
                                 [](const Event& event) { return event.Is<LiveEvent>(); });
  if (live == events.end()) return run.took;
  return std::min<Duration>(run.took, events.back().time - live->time);
}

// The explorer runs the job three times before its first restart.
RunPlan PlanRestarts(const CheckSession& session) {
  constexpr int kBaselineRuns = 3;
  constexpr Duration kShort = std::chrono::seconds(10);
  constexpr Duration kLong = std::chrono::seconds(30);
  constexpr int64_t kFewPoints = 12;
  if (const std::string why = WhyNoBaseline(session); !why.empty()) return SkippedPlan(why);
  RunPlan plan = PlanAsGiven(session);
  plan.how = RunPlan::How::kExplore;
  if (session.trainer.deep) return plan;
  const Duration took = TrainingTimeOf(session.Run("plain"));
  if (took > kLong) {
    return SkippedPlan("one run takes " + HumanDuration(took) +
                       ": give the trainer less to do after the --, or use --deep");
  }
  plan.budget = kBaselineRuns * took + std::max(kShort, 2 * took);
  plan.points_max = kFewPoints;
  return plan;
}

}  // namespace

const std::vector<CheckRunKind>& CheckRunKinds() {
  static const std::vector<CheckRunKind> kinds = {
      {"plain",
       "The job as given, installed from its archive, without any fault.",
       {},
       PlanPlainRun},
      {kRunOnMachine,
       "The job as given, on a machine, if the plain run was a process of this host.",
       {"plain"},
       PlanRunOnMachine},
      {"without-tf-config",
       "The job without TF_CONFIG in its environment.",
       {"plain", kRunOnMachine},
       PlanWithoutTfConfig},
      {"chief",
       "The job's own cluster, or else one with a replica of every role, whose master TF_CONFIG "
       "calls chief.",
       {"plain", kRunOnMachine},
       PlanChiefCluster},
      {"master",
       "A cluster whose master TF_CONFIG calls master.",
       {"plain", kRunOnMachine},
       PlanMasterCluster},
      {"restarts",
       "The explorer: the machine goes away at a dozen crash points; with --deep at all of them.",
       {"plain", kRunOnMachine},
       PlanRestarts},
      {"unknown-flag",
       "The job with one more flag, as for a hyperparameter.",
       {"plain", kRunOnMachine},
       PlanUnknownFlag},
      {"refused-writes",
       "The job while storage refuses each object that its master writes.",
       {"plain", kRunOnMachine},
       PlanRefusedWrites},
      {"maintenance",
       "The job whose master gets SIGTERM in the middle of its training, and then a new machine. "
       "If only another replica trains, that one gets it.",
       {"plain", kRunOnMachine},
       PlanMaintenance},
      {"packages",
       "The archive and what was installed, compared with the source tree.",
       {"plain"},
       PlanPackageLook},
      {"moved",
       "The job on a host of another name, with another HOME and current directory.",
       {"plain", kRunOnMachine},
       PlanMovedRun},
  };
  return kinds;
}

const CheckRunKind* FindCheckRun(std::string_view name) {
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

bool RanOnMachine(const CheckRun& run) {
  return !run.launched.empty() && run.launched.front().boot_disk.empty();
}

std::string LaunchedReplica::Variable(std::string_view name) const {
  for (const auto& [variable, value] : environment) {
    if (variable == name) return value;
  }
  return "";
}

}  // namespace caip::harness
