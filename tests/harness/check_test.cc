#include "harness/check/check.h"

#include <gmock/gmock.h>

#include <set>

#include "harness/check/check_report.h"
#include "harness/check/own_copies.h"
#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A session of one plain run of a master.
class ASession {
 public:
  ASession() {
    session_.trainer.job.document = {{"scaleTier", "BASIC"},
                                     {"region", "us-central1"},
                                     {"runtimeVersion", "2.11"},
                                     {"pythonModule", "trainer.task"}};
    session_.runs["plain"].launched.push_back({"master-0", 1, {}, {}});
  }
  /// Each at its second; the master is up at 0.
  ASession& With(int64_t second, Event event) {
    Evidence& evidence = session_.runs["plain"].evidence;
    event.time = Instant{} + seconds(second);
    event.number = static_cast<int64_t>(evidence.events.size()) + 1;
    evidence.events.push_back(std::move(event));
    return *this;
  }
  ASession& Ends(const std::string& state) {
    session_.runs["plain"].evidence.state = state;
    return *this;
  }
  CheckSession& operator*() { return session_; }
  CheckSession* operator->() { return &session_; }

 private:
  CheckSession session_;
};

Event Saved(const std::string& object) {
  return Storage("master-0", 1, "create", "job/out/" + object);
}

Event Renamed(const std::string& from, const std::string& to, int boot = 1) {
  Event event = Storage("master-0", boot, "rename", "job/out/" + from);
  BodyOf<StorageEvent>(event).from = "job/out/" + to;
  return event;
}

ASession Saves(const std::vector<int64_t>& at, int64_t end) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : at) {
    session.With(second, Saved("ckpt-" + std::to_string(second)));
  }
  session.With(end, Step("master-0", 1, 100)).With(end, Saved("export/model"));
  session.With(end, Exit("master-0", 1)).Ends("SUCCEEDED");
  return session;
}

TEST(Checks, HaveUniqueIdsWithAChapterAndKnownRuns) {
  std::set<std::string> ids;
  for (const CheckKind& check : CheckKinds()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_EQ(std::count(check.id.begin(), check.id.end(), '/'), 1) << check.id;
    EXPECT_TRUE(check.sentence.ends_with(".")) << check.id;
    EXPECT_FALSE(check.source.empty()) << check.id;
    for (const std::string& run : check.runs) EXPECT_TRUE(FindCheckRun(run)) << run;
  }
}

TEST(CheckRuns, ComeAfterTheRunsThatTheyDependOn) {
  std::set<std::string> before;
  for (const CheckRunKind& kind : CheckRunKinds()) {
    for (const std::string& name : kind.after) EXPECT_TRUE(before.contains(name)) << kind.name;
    before.insert(kind.name);
  }
}

TEST(CheckRuns, AreThoseThatTheChosenChecksNeed) {
  const CheckKind* stop = FindCheck("roles/stop-with-master");
  ASSERT_NE(stop, nullptr);
  std::vector<std::string> names;
  for (const CheckRunKind* kind : RunsFor({stop})) names.push_back(kind->name);
  EXPECT_THAT(names, ElementsAre("plain", "on-machine", "chief"));
}

TEST(CheckRuns, NeedAJobThatSucceedsWithoutFaults) {
  ASession session;
  session.Ends("FAILED");
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (kind.name == "plain" || kind.name == "packages") continue;
    EXPECT_THAT(kind.plan(*session).skip, HasSubstr("does not succeed")) << kind.name;
  }
}

TEST(CheckRuns, OfASingleReplicaGetEveryRole) {
  ASession session = Saves({10, 20}, 30);
  const Json chief = FindCheckRun("chief")->plan(*session).scenario.document;
  EXPECT_EQ(StringOr(chief, "workerCount"), "2");
  EXPECT_EQ(StringOr(chief, "evaluatorCount"), "1");
  EXPECT_EQ(StringOr(chief, "runtimeVersion"), "2.11");
  const Json master = FindCheckRun("master")->plan(*session).scenario.document;
  EXPECT_FALSE(master.contains("evaluatorCount"));
  EXPECT_EQ(StringOr(master, "runtimeVersion"), "1.15");
}

TEST(CheckRuns, OfAClusterKeepItsRoles) {
  ASession session = Saves({10, 20}, 30);
  Json& input = session->trainer.job.document;
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = input["workerType"] = "n1-standard-8";
  input["workerCount"] = "3";
  EXPECT_EQ(FindCheckRun("chief")->plan(*session).scenario.document, input);
}

// The names of the runs whose replicas are machines by default.
std::set<std::string> RunsOnMachines(const CheckSession& session) {
  std::set<std::string> names;
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (kind.plan(session).on_machines) names.insert(kind.name);
  }
  return names;
}

/// A session whose plain run was a process of this host.
ASession WithPlainProcess() {
  ASession session = Saves({10, 20}, 30);
  session->runs["plain"].launched.front().boot_disk = "/state/disks/master-0";
  return session;
}

TEST(CheckRuns, UseMachinesAfterThePlainRun) {
  ASession session = WithPlainProcess();
  const std::set<std::string> on_machines = RunsOnMachines(*session);
  for (const char* name : {"chief", "master", "restarts", "unknown-flag", "maintenance"}) {
    EXPECT_TRUE(on_machines.contains(name)) << name;
  }
  EXPECT_FALSE(on_machines.contains("moved")) << "it is compared with the plain run";
  session->runs["plain"].traces.files.push_back(
      {.replica = "master-0", .path = "/srv/words.txt", .was_there = true, .read = true});
  EXPECT_THAT(RunsOnMachines(*session), IsEmpty()) << "a machine may hide the file";
}

TEST(CheckRuns, UseMachinesIfTheJobSucceedsOnOne) {
  ASession session = WithPlainProcess();
  const RunPlan plan = FindCheckRun("on-machine")->plan(*session);
  EXPECT_EQ(plan.skip, "");
  EXPECT_TRUE(plan.on_machines && plan.needs_machines);
  CheckRun& machine = session->runs["on-machine"];
  machine.evidence.state = "SUCCEEDED";
  EXPECT_TRUE(RunsOnMachines(*session).contains("moved")) << "the new name has an address there";
  machine.evidence.state = "FAILED";
  for (const char* name : {"chief", "restarts", "maintenance", "moved", "without-tf-config"}) {
    EXPECT_FALSE(RunsOnMachines(*session).contains(name)) << name;
  }
  machine = {.skipped = "the host allows no machines"};
  EXPECT_TRUE(RunsOnMachines(*session).contains("chief"));
  session->runs["plain"].launched.front().boot_disk = "";
  EXPECT_NE(FindCheckRun("on-machine")->plan(*session).skip, "") << "the plain run had a machine";
}

TEST(IndependenceCheck, FailsIfTheJobFailsOnAMachineOnly) {
  ASession session = WithPlainProcess();
  session->runs["moved"] = session->runs["plain"];
  CheckRun& machine = session->runs["on-machine"];
  machine.evidence.state = "FAILED";
  machine.evidence.events = {
      Line("master-0", 1, "ConnectionRefusedError: [Errno 111] Connection refused", "ERROR"),
      Exit("master-0", 1, 1)};
  const CheckKind& check = *FindCheck("machine/independent");
  const CheckResult result = EvaluateCheck(check, *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kFail);
  EXPECT_THAT(result.found, HasSubstr("on a machine of its own: FAILED"));
  EXPECT_THAT(result.evidence, Contains(HasSubstr("ConnectionRefusedError")));
  EXPECT_THAT(result.advice, HasSubstr("localhost"));
  machine = {.skipped = "the host allows no machines"};
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
}

TEST(IndependenceCheck, DoesNotJudgeTheAddressOfTheNewNameOfAProcess) {
  const CheckKind& check = *FindCheck("machine/independent");
  for (const char* boot_disk : {"/state/disks/master-0", ""}) {
    ASession session = WithPlainProcess();
    CheckRun& moved = session->runs["moved"];
    moved.launched = session->runs["plain"].launched;
    moved.launched.front().boot_disk = boot_disk;
    moved.evidence.state = "FAILED";
    moved.evidence.events = {
        Line("master-0", 1, "socket.gaierror: [Errno -2] Name or service not known", "ERROR"),
        Line("master-0", 1, "a line that was printed before"), Exit("master-0", 1, 1)};
    const bool is_machine = *boot_disk == '\0';
    EXPECT_EQ(EvaluateCheck(check, *session).verdict,
              is_machine ? CheckVerdict::kFail : CheckVerdict::kSkipped);
    moved.evidence.events.front() = Line("master-0", 1, "ValueError: another host", "ERROR");
    EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kFail);
  }
}

TEST(CheckRuns, OfAClusterUseMachines) {
  ASession session;
  Json& input = session->trainer.job.document;
  input["scaleTier"] = "STANDARD_1";
  session->runs.clear();
  EXPECT_TRUE(FindCheckRun("plain")->plan(*session).on_machines);
  input["scaleTier"] = "BASIC";
  EXPECT_FALSE(FindCheckRun("plain")->plan(*session).on_machines);
}

TEST(CheckedRestart, ComesAfterAStepWithASaveBeforeIt) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Step("master-0", 1, 1));
  session.With(2, Step("master-0", 1, 2)).With(2, Saved("ckpt-2"));
  for (int64_t step = 3; step <= 6; ++step) session.With(step, Step("master-0", 1, step));
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after step 4 of master-0");
}

TEST(CheckedRestart, TakesANewDirectoryForNoSave) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  for (int64_t step = 1; step <= 8; ++step) {
    session.With(step, Step("master-0", 1, step));
    if (step == 6) session.With(step, Saved("ckpt-6"));
  }
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after step 7 of master-0");
}

TEST(CheckedRestart, ComesAfterAWriteIfNoStepsAreReported) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("a")).With(2, Saved("b")).With(3, Saved("c"));
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after create job/out/b by master-0");
  EXPECT_FALSE(FindMiddle(ASession()->Run("plain")));
}

/// A run of a master that only exports the result, and of a worker that trains.
ASession WorkerTrains() {
  ASession session;
  session->runs["plain"].launched.push_back({"worker-0", 1, {}, {}});
  session.With(0, Live("master-0", 1)).With(0, Live("worker-0", 1));
  for (int64_t step = 1; step <= 6; ++step) {
    session.With(step, Step("worker-0", 1, step));
    session.With(step, Storage("worker-0", 1, "write", "job/out/ck"));
  }
  session.With(7, Saved("model")).With(7, Exit("worker-0", 1)).With(8, Exit("master-0", 1));
  session.Ends("SUCCEEDED");
  return session;
}

TEST(CheckedRestart, IsThatOfAWorkerIfTheMasterDoesNotTrain) {
  ASession session = WorkerTrains();
  EXPECT_FALSE(FindMiddle(session->Run("plain")));
  EXPECT_EQ(Describe(*FindRestartPoint(session->Run("plain"))), "after step 4 of worker-0");
  const RunPlan plan = FindCheckRun("maintenance")->plan(*session);
  EXPECT_EQ(plan.skip, "");
  ASSERT_EQ(plan.scenario.faults.size(), 2u);
  EXPECT_EQ(plan.scenario.faults.back().replica, "worker-0");
}

/// The worker gets SIGTERM after step 4, and its second boot begins at step `resumes`.
ASession WorkerIsRestarted(int64_t resumes, int exit_code) {
  ASession session = WorkerTrains();
  CheckRun run = session->runs["plain"];
  std::vector<Event>& events = run.evidence.events;
  events.clear();
  for (int64_t step = 1; step <= 4; ++step) {
    events.push_back(Step("worker-0", 1, step));
    events.push_back(Storage("worker-0", 1, "write", "job/out/ck"));
  }
  events.push_back(Exit("worker-0", 1, exit_code));
  for (int64_t step = resumes; step <= 6; ++step) events.push_back(Step("worker-0", 2, step));
  events.push_back(Exit("worker-0", 2));
  events.push_back(Exit("master-0", 1));
  session->runs["maintenance"] = std::move(run);
  return session;
}

TEST(CheckedRestart, OfAWorkerIsJudgedByItsOwnSteps) {
  const auto evaluate = [](const char* id, int64_t resumes, int exit_code = 143) {
    return EvaluateCheck(*FindCheck(id), *WorkerIsRestarted(resumes, exit_code));
  };
  EXPECT_EQ(evaluate("restart/resumes", 5).found, "boot 1 reached step 4, boot 2 began at 5");
  EXPECT_EQ(evaluate("restart/resumes", 5).verdict, CheckVerdict::kPass);
  EXPECT_EQ(evaluate("restart/resumes", 1).verdict, CheckVerdict::kFail);
  EXPECT_THAT(evaluate("restart/sigterm", 5).found, HasSubstr("6 steps done"));
  EXPECT_THAT(evaluate("restart/sigterm", 6).evidence, ElementsAre("not done: step 5"));
  EXPECT_EQ(evaluate("exit/sigterm", 5).verdict, CheckVerdict::kPass);
  EXPECT_EQ(evaluate("exit/sigterm", 5, 0).verdict, CheckVerdict::kFail);
}

TEST(CheckpointsCheck, ShowsTheWritesOfAllReplicas) {
  ASession session;
  session.With(0, Live("master-0", 1));
  session.With(99, Storage("worker-0", 1, "create", "job/out/model"));
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  const CheckResult result = EvaluateCheck(*FindCheck("restart/checkpoints"), *session);
  EXPECT_EQ(result.found, "nothing was saved before the training was over");
  EXPECT_THAT(result.evidence, ElementsAre(HasSubstr("job/out/model")));
}

TEST(ExploredCheck, IsEvaluatedForATrainerWithoutAMiddle) {
  const CheckKind& check = *FindCheck("restart/explored");
  ASession session = Saves({10, 20}, 30);
  session->runs["restarts"].restarts_tried = 12;
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kNotRun)
      << "maintenance is missing";
  session->runs["maintenance"].skipped = "there is no middle";
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
  session->runs["restarts"].flaws = {
      {"it fails", "after step 3", "SUCCEEDED", "FAILED", "f 1.yaml"}};
  session->trainer.repeated_flags = " --python /opt/python3";
  const CheckResult result = EvaluateCheck(check, *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kFail);
  EXPECT_THAT(result.evidence,
              Contains("  again: caip scenario run 'f 1.yaml' --python /opt/python3"));
  session->runs["restarts"].repeated_flags = " --isolation process";
  EXPECT_THAT(EvaluateCheck(check, *session).evidence,
              Contains(HasSubstr("--python /opt/python3 --isolation process")));
  std::set<std::string> names;
  for (const CheckRunKind* kind : RunsFor({&check})) names.insert(kind->name);
  EXPECT_TRUE(names.contains("maintenance"));
}

TEST(CheckpointsCheck, ComparesTheLongestIntervalWithALifetimeAndALimit) {
  struct Row {
    std::vector<int64_t> saves;  // in a run of 100 seconds
    Duration lifetime;
    std::optional<Duration> real;
    std::string limit;  // maxRunningTime
    CheckVerdict verdict;
    std::string found;
  };
  const Row rows[] = {
      {{25, 50, 75}, hours(4), {}, "", CheckVerdict::kPass, "3 saves, at most 25.0s apart"},
      {{}, hours(4), {}, "", CheckVerdict::kFail, "nothing was saved before"},
      {{25, 50, 75}, seconds(20), {}, "", CheckVerdict::kFail, "a machine lives"},
      {{50}, hours(4), hours(10), "", CheckVerdict::kFail, "that is 5h 00m"},
      {{25, 50, 75}, hours(4), hours(10), "", CheckVerdict::kPass, "that is 2h 30m"},
      {{50}, hours(4), {}, "36000s", CheckVerdict::kFail, "in a job of 10h 00m"},
      {{50}, hours(4), hours(10), "7200s", CheckVerdict::kFail, "maxRunningTime ends the job"},
      {{1}, hours(40), {}, "10s", CheckVerdict::kPass, ""},
  };
  for (const Row& row : rows) {
    ASession session = Saves(row.saves, 100);
    session->trainer.vm_lifetime = row.lifetime;
    session->trainer.real_duration = row.real;
    if (!row.limit.empty()) {
      session->trainer.job.document["scheduling"] = {{"maxRunningTime", row.limit}};
    }
    const CheckResult result = EvaluateCheck(*FindCheck("restart/checkpoints"), *session);
    EXPECT_EQ(Name(result.verdict), Name(row.verdict)) << result.found;
    EXPECT_THAT(result.found, HasSubstr(row.found));
  }
}

TEST(CheckpointsCheck, CountsTheSavesOfAllReplicas) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(50, Storage("worker-0", 1, "create", "job/out/ckpt"));
  session.With(90, Step("master-0", 1, 100)).With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict,
            CheckVerdict::kPass);
}

TEST(RestartsRun, IsPlannedByTheTimeOfTheTrainingNotByThatOfTheInstallation) {
  ASession session;
  session.With(100, Live("master-0", 1)).With(102, Step("master-0", 1, 1));
  session.With(104, Exit("master-0", 1)).Ends("SUCCEEDED");
  session->runs["plain"].took = seconds(104);
  EXPECT_EQ(FindCheckRun("restarts")->plan(*session).skip, "");
}

TEST(SecondStartCheck, IsSkippedIfNoFailureWasTried) {
  ASession session;
  CheckRun& run = session->runs["restarts"];
  run.restarts_tried = 12;
  const CheckKind& check = *FindCheck("restart/second-start");
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kSkipped);
  EXPECT_THAT(EvaluateCheck(check, *session).found, HasSubstr("stores nothing"));
  run.failures_tried = 4;
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
  EXPECT_THAT(EvaluateCheck(check, *session).found, HasSubstr("4 failures"));
}

TEST(PackageChecks, AMissingModuleThatTheSourceLacksIsAnUndeclaredDependency) {
  const TemporaryDirectory directory("caip-check-");
  ASSERT_TRUE(MakeDirectories(directory.path() / "trainer").ok());
  for (const auto& [module, id, other] :
       {std::tuple{"yaml", "package/dependencies", "package/installed"},
        std::tuple{"trainer.model", "package/installed", "package/dependencies"}}) {
    ASession session;
    session->trainer.source = directory.path() / "trainer";
    session->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
    session.With(1, Line("master-0", 1,
                         "ModuleNotFoundError: No module named '" + std::string(module) + "'"));
    session.Ends("FAILED");
    EXPECT_EQ(EvaluateCheck(*FindCheck(id), *session).verdict, CheckVerdict::kFail) << module;
    EXPECT_NE(EvaluateCheck(*FindCheck(other), *session).verdict, CheckVerdict::kFail) << module;
  }
}

/// A job whose source tree has some modules, and which failed with a line of Python.
class AJobWithoutAModule {
 public:
  explicit AJobWithoutAModule(const std::string& line) {
    const Path package = directory_.path() / "trainer";
    EXPECT_TRUE(MakeDirectories(package / "models").ok());
    for (const char* file : {"__init__.py", "task.py", "models/deep.py", "fast.pyx"}) {
      EXPECT_TRUE(WriteFile(package / file, "").ok());
    }
    session_->trainer.source = package;
    session_->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
    session_.With(1, Line("master-0", 1, line)).With(2, Exit("master-0", 1, 1)).Ends("FAILED");
  }
  void AddBesidePackage(const Path& file) {
    const Path path = directory_.path() / file;
    EXPECT_TRUE(MakeDirectories(path.parent_path()).ok());
    EXPECT_TRUE(WriteFile(path, "").ok());
  }
  CheckResult Of(const char* check) { return EvaluateCheck(*FindCheck(check), *session_); }
  ASession& session() { return session_; }

 private:
  const TemporaryDirectory directory_{"caip-check-"};
  ASession session_;
};

TEST(PackageChecks, AModuleThatNoFileOfTheSourceHasIsNoMistakeOfPacking) {
  const std::pair<const char*, const char*> rows[] = {
      {"/usr/bin/python3: No module named trainer.taks", "trainer.taks"},
      {"/usr/bin/python3: No module named trainer.__main__; 'trainer' is a package and cannot be "
       "directly executed",
       "trainer.__main__"},
      {"/usr/bin/python3: Error while finding module specification for 'trainr.task' "
       "(ModuleNotFoundError: No module named 'trainr')",
       "trainr"},
      {"ModuleNotFoundError: No module named 'trainer.subdir'", "trainer.subdir"},
      {"ModuleNotFoundError: No module named 'trainer.models.wide'", "trainer.models.wide"},
      {"ImportError: cannot import name 'model' from 'trainer' (/x/trainer/__init__.py)",
       "trainer.model"},
  };
  for (const auto& [line, module] : rows) {
    AJobWithoutAModule job(line);
    const bool is_other = std::string(module) == "trainr";
    if (is_other) job.session()->trainer.job.document["pythonModule"] = "trainr.task";
    const CheckResult result = job.Of("package/installed");
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_EQ(result.found, "no file of the source has the module '" + std::string(module) + "'");
    EXPECT_THAT(result.evidence, Contains(HasSubstr(line)));
    EXPECT_THAT(result.advice, Not(HasSubstr("find_packages"))) << line;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(job.Of("start/succeeds").found, HasSubstr("see package/installed")) << line;
  }
}

TEST(PackageChecks, AModuleOfTheSourceThatThePackageLacksIsAMistakeOfPacking) {
  for (const char* line :
       {"/usr/bin/python3: No module named trainer.task",
        "ModuleNotFoundError: No module named 'trainer.models'",
        "ModuleNotFoundError: No module named 'trainer.models.deep'",
        "ModuleNotFoundError: No module named 'trainer.fast'",
        "ImportError: cannot import name 'deep' from 'trainer.models' (unknown location)"}) {
    const CheckResult result = AJobWithoutAModule(line).Of("package/installed");
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(result.advice, HasSubstr("find_packages")) << line;
  }
}

TEST(PackageChecks, DataBesideThePackageIsNoModule) {
  const std::string line = "ModuleNotFoundError: No module named 'mlflow'";
  for (const char* file :
       {"mlflow.db", "mlflow.yaml", "mlflow/0/meta.yaml", "mlflow/0/code/task.py"}) {
    AJobWithoutAModule job(line);
    job.AddBesidePackage(file);
    EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << file;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << file;
  }
  for (const char* file : {"mlflow.py", "mlflow.cpython-312-x86_64-linux-gnu.so", "mlflow.pyx",
                           "mlflow/__init__.py", "mlflow/models/deep.py"}) {
    AJobWithoutAModule job(line);
    job.AddBesidePackage(file);
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kFail) << file;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << file;
  }
}

TEST(PackageChecks, ANameThatAModuleLacksIsNoMistakeOfPacking) {
  for (const char* line :
       {"ImportError: cannot import name 'helper' from 'trainer.task' (/x/trainer/task.py)",
        "ImportError: cannot import name 'deep' from partially initialized module 'trainer.models' "
        "(most likely due to a circular import) (/x/trainer/models/__init__.py)",
        "ImportError: cannot import name 'load' from 'yaml' (/x/yaml/__init__.py)"}) {
    AJobWithoutAModule job(line);
    EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail) << line;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << line;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << line;
  }
}

TEST(PackageChecks, AMissingModuleOfTheRuntimeVersionIsNoMistakeOfTheTrainer) {
  using Origin = MissingModule::Origin;
  for (const auto& [module, origin] :
       {std::pair{"tensorflow", Origin::kRuntime}, std::pair{"google.cloud", Origin::kRuntime},
        std::pair{"xgboost", Origin::kRuntime}, std::pair{"yaml", Origin::kOtherPackage},
        std::pair{"tensorflow_io", Origin::kOtherPackage}}) {
    AJobWithoutAModule job("ModuleNotFoundError: No module named '" + std::string(module) + "'");
    EXPECT_EQ(MissingModuleOf(*job.session()).origin, origin) << module;
  }
}

TEST(PackageChecks, APartThatAPackageOfTheRuntimeVersionLacksIsAMistakeOfTheTrainer) {
  for (const char* module : {"tensorflow.contrib", "numpy.linalgg", "google.cloud.storag"}) {
    AJobWithoutAModule job("ModuleNotFoundError: No module named '" + std::string(module) + "'");
    EXPECT_EQ(MissingModuleOf(*job.session()).origin, MissingModule::Origin::kUnknown) << module;
    EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail) << module;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << module;
  }
}

TEST(PackageChecks, AModuleThatThePythonOfTheJobHasIsNotMissing) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'xgboost'");
  job.session()->runs["plain"].has_module = true;
  EXPECT_EQ(MissingModuleOf(*job.session()).origin, MissingModule::Origin::kUnknown);
  EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail);
}

constexpr char kMissesXgboost[] =
    "Traceback (most recent call last):\n  File \"/x/trainer/task.py\", line 8, in <module>\n"
    "    import xgboost\nModuleNotFoundError: No module named 'xgboost'";

/// The output of a master that failed, in order: a text, and its severity.
ASession Printed(const std::vector<std::pair<std::string, std::string>>& entries) {
  ASession session;
  session->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
  for (const auto& [text, severity] : entries) {
    session.With(1, Line("master-0", 1, text, severity));
  }
  session.With(2, Exit("master-0", 1, 1)).Ends("FAILED");
  return session;
}

TEST(PackageChecks, AModuleIsMissingOnlyIfTheLastExceptionSaysSo) {
  const std::string bad_label =
      "Traceback (most recent call last):\n  File \"/x/trainer/task.py\", line 12, in pre\n"
      "    raise ValueError(\"bad label\")\nValueError: bad label";
  const std::string command = "Command '['python3', '-m', 'trainer.task']' returned 1";
  const std::vector<std::vector<std::pair<std::string, std::string>>> others = {
      {{kMissesXgboost, "ERROR"}, {"no data given", "ERROR"}},
      {{std::string(kMissesXgboost) + "\nno data given", "ERROR"}},
      {{"ModuleNotFoundError: No module named 'xgboost'", "ERROR"}, {bad_label, "ERROR"}},
      {{"xgboost is not used: ImportError: No module named 'xgboost'", "WARNING"},
       {bad_label, "ERROR"},
       {command, "ERROR"}}};
  for (const auto& entries : others) {
    ASession session = Printed(entries);
    EXPECT_EQ(MissingModuleOf(*session).origin, MissingModule::Origin::kUnknown);
    EXPECT_EQ(EvaluateCheck(*FindCheck("start/succeeds"), *session).verdict, CheckVerdict::kFail);
  }
  const std::vector<std::vector<std::pair<std::string, std::string>>> same = {
      {{bad_label, "ERROR"}, {kMissesXgboost, "ERROR"}, {command, "ERROR"}},
      {{kMissesXgboost, "ERROR"}, {"stdout, which was flushed at the end", "INFO"}},
      {{kMissesXgboost, "INFO"}}};
  for (const auto& entries : same) {
    EXPECT_EQ(MissingModuleOf(*Printed(entries)).origin, MissingModule::Origin::kRuntime);
  }
}

TEST(PackageChecks, TheLinesOfOtherReplicasDoNotExplainTheFailure) {
  ASession session = Printed({{"ValueError: bad label", "ERROR"}});
  session.With(3, Line("worker-0", 1, kMissesXgboost, "ERROR"));
  EXPECT_EQ(MissingModuleOf(*session).origin, MissingModule::Origin::kUnknown);
}

TEST(PackageChecks, AModuleOfTheJobIsNoDependencyWithoutASourceTreeEither) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'trainer.extra'");
  job.session()->trainer.source.reset();
  EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kFail);
  EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kPass);
}

TEST(StartCheck, NamesTheCheckThatExplainsTheFailure) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'yaml.nodes'");
  EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kFail);
  EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped);
  EXPECT_EQ(job.Of("start/succeeds").found, "the job fails: see package/dependencies");
}

// The checks of packages and of --job-dir are not made for commands.
TEST(StartCheck, ExplainsTheFailureOfACommandItself) {
  for (const char* line : {"ModuleNotFoundError: No module named 'yaml'",
                           "train.py: error: unrecognized arguments: --job-dir out"}) {
    ASession session = Printed({{line, "ERROR"}});
    session->trainer.is_command = true;
    const CheckResult result = EvaluateCheck(*FindCheck("start/succeeds"), *session);
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(result.evidence, Contains(HasSubstr(line)));
    EXPECT_THAT(result.advice, Not(HasSubstr("--bucket"))) << "commands have no buckets";
  }
}

TEST(StartCheck, SaysThatAProgramCouldNotBeStarted) {
  ASession session;
  Event end = Exit("master-0", 1);
  BodyOf<ExitEvent>(end).lost = "cannot run 'trian': No such file or directory";
  session.With(0, end).Ends("FAILED");
  EXPECT_THAT(EvaluateCheck(*FindCheck("start/succeeds"), *session).evidence,
              ElementsAre("master-0 boot 1 could not be started: cannot run 'trian': No such file "
                          "or directory"));
}

TEST(RoleChecks, AReplicaThatWritesTheMastersObjectsGetsAWarning) {
  for (const char* object : {"job/out/model", "job/out/worker-0"}) {
    ASession session;
    CheckRun run;
    run.launched.push_back({"master-0", 1, {}, {}});
    run.evidence.state = "SUCCEEDED";
    run.evidence.events = {Storage("master-0", 1, "create", "job/out/model"),
                           Storage("worker-0", 1, "create", object)};
    session->runs["chief"] = run;
    const CheckResult result = EvaluateCheck(*FindCheck("roles/worker"), *session);
    const bool shares = std::string(object) == "job/out/model";
    EXPECT_EQ(result.verdict, shares ? CheckVerdict::kWarn : CheckVerdict::kPass) << object;
    EXPECT_THAT(result.found, HasSubstr(shares ? "overwrites its objects" : "it did its part"));
  }
}

/// A run of all roles, in which replicas store objects that are there at the end.
class ARunOfRoles {
 public:
  ARunOfRoles() {
    run_.launched.push_back({"master-0", 1, {}, {}});
    run_.evidence.state = "SUCCEEDED";
  }
  ARunOfRoles& Stores(const std::string& replica, const std::string& object) {
    run_.evidence.events.push_back(Storage(replica, 1, "create", "job/out/" + object));
    run_.evidence.objects["job/out/" + object] = {};
    return *this;
  }
  ARunOfRoles& Renames(const std::string& replica, const std::string& from, const std::string& to) {
    run_.evidence.events.push_back(Storage(replica, 1, "rename", "job/out/" + from));
    BodyOf<StorageEvent>(run_.evidence.events.back()).from = "job/out/" + to;
    auto& objects = run_.evidence.objects;
    for (auto at = objects.begin(); at != objects.end();) {
      const bool moves = at->first.starts_with("job/out/" + from);
      if (moves) objects["job/out/" + to + at->first.substr(8 + from.size())] = {};
      at = moves ? objects.erase(at) : std::next(at);
    }
    return *this;
  }
  ARunOfRoles& Deletes(const std::string& object) {
    run_.evidence.objects.erase("job/out/" + object);
    return *this;
  }
  CheckResult Of(const std::string& role) const {
    ASession session;
    session->runs["chief"] = run_;
    return EvaluateCheck(*FindCheck("roles/" + role), *session);
  }

 private:
  CheckRun run_;
};

TEST(RoleChecks, AReplicaThatStoresWhatTheMasterStoresUnderAnotherNameGetsAWarning) {
  const std::pair<const char*, const char*> names[] = {
      {"export/17/saved_model.pb", "export/23/saved_model.pb"},  // times, as exporters have
      {"export/saved_model.pb", "export/worker-0/saved_model.pb"},
      {"export/chief/model.joblib", "export/worker_0/model.joblib"},
      {"export_master_0/model.bst", "export_worker_0/model.bst"},
      {"model-master-0.keras", "model-worker-0.keras"},
      {"ckpt-2/weights", "worker-0/ckpt-2/weights"}};
  for (const auto& [of_master, of_worker] : names) {
    const CheckResult result =
        ARunOfRoles().Stores("master-0", of_master).Stores("worker-0", of_worker).Of("worker");
    EXPECT_EQ(result.verdict, CheckVerdict::kWarn) << of_worker;
    EXPECT_THAT(result.found, HasSubstr("stores the same objects under names of its own"));
    EXPECT_THAT(result.evidence, ElementsAre(HasSubstr(of_worker)));
    EXPECT_THAT(result.advice, HasSubstr("temporary directory"));
  }
}

TEST(RoleChecks, AReplicaMayStorePartsAndRecordsOfItsOwn) {
  const std::pair<const char*, const char*> names[] = {
      {"out/data-00000-of-00002", "out/data-00001-of-00002"},
      {"out/part-0.csv", "out/part-1.csv"},
      {"out/shard-0/data.csv", "out/shard-1/data.csv"},
      {"ckpt/rank-0.pt", "ckpt/rank-1.pt"},
      {"logs/master-0/train.txt", "logs/worker-0/train.txt"},
      {"master-0.log", "worker-0.log"},
      {"train/events.out.tfevents.1.a.v2", "train/events.out.tfevents.2.b.v2"},
      {"backup/ckpt-1.index", "backup/workertemp_1/ckpt-1.index"},
      {"export/17/saved_model.pb", "vocabulary/23/words.txt"}};
  for (const auto& [of_master, of_worker] : names) {
    const CheckResult result =
        ARunOfRoles().Stores("master-0", of_master).Stores("worker-0", of_worker).Of("worker");
    EXPECT_EQ(result.verdict, CheckVerdict::kPass) << of_worker << ": " << result.found;
  }
}

TEST(RoleChecks, OnlyWhatIsLeftAtTheEndIsACopy) {
  ARunOfRoles run;
  run.Stores("master-0", "model/saved_model.pb")
      .Stores("worker-0", "worker-0/model/saved_model.pb");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kWarn);
  run.Deletes("worker-0/model/saved_model.pb");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kPass);
  run.Stores("worker-0", "copy/saved_model.pb").Renames("worker-0", "copy", "worker-0/model");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kWarn);
}

TEST(RoleChecks, AnObjectIsSharedUnderItsLastName) {
  ARunOfRoles run;
  run.Stores("master-0", "tmpab12").Renames("master-0", "tmpab12", "model");
  run.Stores("worker-0", "tmpcd34").Renames("worker-0", "tmpcd34", "model");
  EXPECT_THAT(run.Of("worker").found, HasSubstr("overwrites its objects"));
  EXPECT_THAT(run.Of("worker").evidence, ElementsAre(HasSubstr("renamed to job/out/model")));
}

// Only one of two replicas can rename the file.
TEST(RoleChecks, AnObjectIsSharedUnderItsFirstName) {
  ARunOfRoles run;
  run.Stores("master-0", "model.tmp").Stores("worker-0", "model.tmp");
  run.Renames("worker-0", "model.tmp", "model");
  EXPECT_THAT(run.Of("worker").found, HasSubstr("overwrites its objects"));
}

TEST(RoleChecks, AnEvaluatorMayExport) {
  ARunOfRoles run;
  run.Stores("master-0", "export/17/saved_model.pb");
  run.Stores("evaluator-0", "export/23/saved_model.pb").Stores("ps-0", "export/24/saved_model.pb");
  EXPECT_EQ(run.Of("evaluator").verdict, CheckVerdict::kPass);
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kPass);
  EXPECT_EQ(run.Of("ps").verdict, CheckVerdict::kWarn);
}

TEST(RoleChecks, NamesOfReplicasAreLeftOut) {
  EXPECT_EQ(NameWithoutReplica("job/out/worker-0/export/17/x"), "job/out/export/#/x");
  EXPECT_EQ(NameWithoutReplica("job/workerpool1-0/model"), "job/model");
  EXPECT_EQ(NameWithoutReplica("job/workertemp_1/chiefly"), "job/workertemp_#/chiefly");
}

// Replicas that overwrite each other's objects end by chance. The verdicts must not.
TEST(RoleChecks, AreTheSameHoweverReplicasThatIgnoreTheirRoleEnd) {
  for (const char* failing : {"", "master-0", "worker-0", "worker-1", "ps-0", "evaluator-0"}) {
    ASession session;
    CheckRun run;
    run.launched.push_back({"master-0", 1, {}, {}});
    run.evidence.state = *failing ? "FAILED" : "SUCCEEDED";
    run.evidence.events = {Storage("master-0", 1, "create", "job/out/model"),
                           Storage("worker-0", 1, "create", "job/out/model")};
    if (*failing) run.evidence.events.push_back(Exit(failing, 1, 1));
    session->runs["chief"] = run;
    session->runs["master"] = run;
    EXPECT_EQ(EvaluateCheck(*FindCheck("roles/worker"), *session).verdict, CheckVerdict::kWarn)
        << failing;
    for (const char* other : {"chief", "master", "ps", "evaluator", "stop-with-master"}) {
      const CheckResult result = EvaluateCheck(*FindCheck("roles/" + std::string(other)), *session);
      EXPECT_EQ(result.verdict, CheckVerdict::kSkipped) << other << " " << failing;
      EXPECT_THAT(result.found, HasSubstr("see roles/worker"));
    }
  }
}

// Of two runs, only one may show it: the other may end before a worker writes.
TEST(RoleChecks, NameTheMastersWorkOfAWorkerInWhicheverRunItIsSeen) {
  for (const char* seen : {"chief", "master"}) {
    ASession session;
    for (const char* name : {"chief", "master"}) {
      CheckRun& run = session->runs[name];
      run.launched.push_back({"master-0", 1, {}, {}});
      run.evidence.state = "SUCCEEDED";
      run.evidence.events = {Storage("master-0", 1, "create", "job/out/model")};
    }
    session->runs[seen].evidence.events.push_back(
        Storage("worker-0", 1, "create", "job/out/model"));
    const CheckResult result = EvaluateCheck(*FindCheck("roles/worker"), *session);
    EXPECT_EQ(result.verdict, CheckVerdict::kWarn) << seen;
    EXPECT_THAT(result.found, HasSubstr("does the work of the master")) << seen;
    EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kSkipped);
  }
}

TEST(RoleChecks, AFailureOfARoleThatTheJobDoesNotUseIsAWarning) {
  ASession session;
  CheckRun run;
  run.launched.push_back({"master-0", 1, {}, {}});
  run.evidence.state = "FAILED";
  run.evidence.events = {Exit("ps-0", 1, 1)};
  session->runs["chief"] = run;
  EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kWarn);
  session->trainer.job.document = {{"scaleTier", "STANDARD_1"}};
  EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kFail);
}

TEST(CheckpointsCheck, IgnoresSummaries) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("events.out.tfevents.1.host"));
  session.With(2, Step("master-0", 1, 1)).With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict,
            CheckVerdict::kFail);
}

TEST(CheckpointsCheck, IgnoresAConfigurationThatIsWrittenBeforeTheFirstStep) {
  const auto verdict = [](const std::string& before, const std::string& later) {
    ASession session;
    session.With(0, Live("master-0", 1)).With(1, Saved(before)).With(2, Step("master-0", 1, 1));
    session.With(3, Saved(later)).With(4, Step("master-0", 1, 2));
    session.With(5, Exit("master-0", 1)).Ends("SUCCEEDED");
    return EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict;
  };
  EXPECT_EQ(verdict("config.json", "events.out.tfevents.1.host"), CheckVerdict::kFail);
  EXPECT_EQ(verdict("ckpt-0", "ckpt-1"), CheckVerdict::kPass);
}

/// The verdict on a run of 100 seconds of a trainer that reports no steps.
CheckVerdict VerdictOnSaves(const std::vector<std::pair<int64_t, Event>>& events) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const auto& [second, event] : events) session.With(second, event);
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  return EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict;
}

TEST(CheckpointsCheck, CountsSavesInTheLastTenthThatAreMadeAgain) {
  const Event line = Line("master-0", 1, "an epoch");
  EXPECT_EQ(VerdictOnSaves({{95, Saved("ckpt")}, {97, Saved("ckpt")}, {99, Saved("ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("ckpt.tmp")},
                            {95, Renamed("ckpt.tmp", "ckpt")},
                            {97, Saved("ckpt.tmp")},
                            {97, Renamed("ckpt.tmp", "ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("x7f.tmp")},
                            {95, Renamed("x7f.tmp", "ckpt")},
                            {97, Saved("yab.tmp")},
                            {97, Renamed("yab.tmp", "ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{94, line}, {95, Saved("ckpt-1")}, {96, line}, {97, Saved("ckpt-2")}}),
            CheckVerdict::kPass);
}

TEST(CheckpointsCheck, TakesTheResultForNoSave) {
  const Event line = Line("master-0", 1, "saved a part");
  EXPECT_EQ(VerdictOnSaves({{99, Saved("model")}}), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{1, Storage("master-0", 1, "mkdir", "job/out")}, {99, Saved("model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{99, Saved("model.tmp")}, {99, Renamed("model.tmp", "model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{98, line}, {99, Saved("m-1")}, {99, Saved("m-2")}, {99, line}}),
            CheckVerdict::kFail)
      << "parts of one result";
  EXPECT_EQ(VerdictOnSaves({{98, Saved("m-1-of-2")}, {98, line}, {99, Saved("m-2-of-2")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("metrics.csv")}, {98, line}, {99, Saved("model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves(
                {{97, Saved("model")}, {99, Storage("worker-0", 1, "create", "job/out/model")}}),
            CheckVerdict::kFail)
      << "each replica writes its result once";
}

TEST(CheckpointsCheck, CountsAFileThatIsRenamedOnce) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : {20, 40, 60, 80}) {
    session.With(second, Saved("ckpt.tmp")).With(second, Renamed("ckpt.tmp", "ckpt"));
  }
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_THAT(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).found,
              HasSubstr("4 saves, at most 20.0s apart"));
  const auto writes = WritesOf(session->Run("plain"), "master-0");
  ASSERT_EQ(writes.size(), 4u);
  EXPECT_EQ(Shown(writes[0]), "create job/out/ckpt.tmp by master-0, renamed to job/out/ckpt");
}

TEST(CheckpointsCheck, ExplainsTheMeasureToTrainersWithoutSteps) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(99, Saved("model"));
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  const CheckKind& check = *FindCheck("restart/checkpoints");
  EXPECT_THAT(EvaluateCheck(check, *session).advice, HasSubstr("give the trainer more to do"));
  EXPECT_THAT(EvaluateCheck(check, *Saves({}, 100)).advice, Not(HasSubstr("more to do")));
}

/// A run whose master writes a configuration, two checkpoints if `saves`, loses its machine, reads
/// `read` in boot 2 and writes the configuration again.
CheckResult ResumesAfterReading(const std::vector<std::string>& read, bool saves) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("config.json"));
  if (saves) session.With(2, Saved("ckpt-1")).With(3, Saved("ckpt-2"));
  session.With(4, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  BodyOf<ExitEvent>(run.evidence.events.back()).signal = 9;
  run.evidence.events.push_back(Start("master-0", 2));
  for (const std::string& object : read) {
    run.evidence.events.push_back(Storage("master-0", 2, "read", "job/out/" + object));
  }
  run.evidence.events.push_back(Storage("master-0", 2, "write", "job/out/config.json"));
  run.evidence.events.push_back(Exit("master-0", 2));
  session->runs["maintenance"] = std::move(run);
  return EvaluateCheck(*FindCheck("restart/resumes"), *session);
}

TEST(ResumesCheck, TakesNoConfigurationForACheckpoint) {
  const CheckResult config = ResumesAfterReading({"config.json"}, true);
  EXPECT_EQ(config.verdict, CheckVerdict::kWarn) << config.found;
  EXPECT_THAT(config.found, HasSubstr("job/out/config.json, which the training writes once"));
  EXPECT_EQ(ResumesAfterReading({"config.json", "ckpt-2"}, true).verdict, CheckVerdict::kPass);
  EXPECT_EQ(ResumesAfterReading({}, true).verdict, CheckVerdict::kFail);
  EXPECT_EQ(ResumesAfterReading({"config.json"}, false).verdict, CheckVerdict::kWarn)
      << "it may be a checkpoint";
}

/// A trainer without steps saves twice in boot 1, loses its machine, and does `second` in boot 2.
/// Each save writes `file` and renames `from` to `to`.
CheckResult ResumesAfterRenames(const std::string& file, const std::string& from,
                                const std::string& to, const std::vector<Event>& second) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  for (const int64_t save : {1, 2}) session.With(save, Saved(file)).With(save, Renamed(from, to));
  session.With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  BodyOf<ExitEvent>(run.evidence.events.back()).signal = 15;
  run.evidence.events.push_back(Start("master-0", 2));
  for (const Event& event : second) run.evidence.events.push_back(event);
  run.evidence.events.push_back(Exit("master-0", 2));
  session->runs["maintenance"] = std::move(run);
  return EvaluateCheck(*FindCheck("restart/resumes"), *session);
}

Event InBoot2(const std::string& op, const std::string& object) {
  return Storage("master-0", 2, op, "job/out/" + object);
}

TEST(ResumesCheck, KnowsFilesThatWereRenamed) {
  const CheckResult file =
      ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt", {InBoot2("read", "ckpt")});
  EXPECT_EQ(file.verdict, CheckVerdict::kPass) << file.found;
  EXPECT_EQ(file.found, "boot 2 read job/out/ckpt, which boot 1 had written");
  const CheckResult directory = ResumesAfterRenames("ckpt.tmp/weights", "ckpt.tmp", "ckpt",
                                                    {InBoot2("read", "ckpt/weights")});
  EXPECT_EQ(directory.verdict, CheckVerdict::kPass) << directory.found;
  const CheckResult moved =
      ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt",
                          {Renamed("ckpt", "ckpt.bak", 2), InBoot2("read", "ckpt.bak")});
  EXPECT_NE(moved.verdict, CheckVerdict::kFail) << moved.found;
}

TEST(ResumesCheck, KnowsFilesThatWereRenamedFromTheDiskOfTheReplica) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : {1, 2}) {
    Event event = Storage("master-0", 1, "", "");
    event.body = DiskEvent{{.op = "create", .object = "disk:tmp/x"}};
    session.With(second, event);
    event.body = DiskEvent{{.op = "rename", .object = "disk:tmp/x", .from = "job/out/ckpt"}};
    session.With(second, event);
  }
  session.With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(WritesOf(session->Run("plain"), "master-0").size(), 2u);
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(InBoot2("read", "ckpt"));
  session->runs["maintenance"] = std::move(run);
  EXPECT_NE(EvaluateCheck(*FindCheck("restart/resumes"), *session).verdict, CheckVerdict::kFail);
}

TEST(ResumesCheck, FailsIfBoot2ReadsOnlyItsOwnFiles) {
  const CheckResult nothing = ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt", {});
  EXPECT_EQ(nothing.verdict, CheckVerdict::kFail);
  EXPECT_THAT(nothing.evidence, Contains(HasSubstr("renamed to job/out/ckpt")));
  const CheckResult own = ResumesAfterRenames(
      "ckpt.tmp", "ckpt.tmp", "ckpt",
      {InBoot2("create", "ckpt.tmp"), Renamed("ckpt.tmp", "ckpt", 2), InBoot2("read", "ckpt")});
  EXPECT_EQ(own.verdict, CheckVerdict::kFail) << own.found;
}

TEST(ResumesCheck, IsSkippedIfTheFirstFileWasNotComplete) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  session.With(1, Saved("model.tmp")).With(2, Exit("master-0", 1, 0, 15)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(InBoot2("overwrite", "model.tmp"));
  run.evidence.events.push_back(Renamed("model.tmp", "model", 2));
  run.evidence.objects["job/out/model"] = {};
  session->runs["maintenance"] = std::move(run);
  const CheckResult result = EvaluateCheck(*FindCheck("restart/resumes"), *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kSkipped) << result.found;
  EXPECT_THAT(result.found, HasSubstr("see restart/checkpoints"));
}

TEST(ResumesCheck, NeedsMoreThanAConfigurationThatWasSaved) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("config.json"));
  session.With(2, Step("master-0", 1, 1)).With(3, Step("master-0", 1, 2));
  session.With(4, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(Step("master-0", 2, 1));
  session->runs["maintenance"] = std::move(run);
  const CheckResult result = EvaluateCheck(*FindCheck("restart/resumes"), *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kSkipped);
  EXPECT_THAT(result.found, HasSubstr("restart/checkpoints"));
}

TEST(FailureCause, IsFoundInTheMessagesOfManyFlagParsers) {
  const std::pair<const char*, FailureCause> rows[] = {
      {"task.py: error: unrecognized arguments: --job-dir gs://b/o", FailureCause::kJobDirFlag},
      {"Error: No such option: --job-dir", FailureCause::kJobDirFlag},
      {"FATAL Flags parsing error: Unknown command line flag 'job-dir'", FailureCause::kJobDirFlag},
      {"getopt.GetoptError: option --job-dir not recognized", FailureCause::kJobDirFlag},
      {"ERROR: Could not consume arg: --job-dir", FailureCause::kJobDirFlag},
      {"task.py: error: unrecognized arguments: --epochs 3", FailureCause::kOther},
      {"ModuleNotFoundError: No module named 'trainer.model'", FailureCause::kPackage},
      {"/usr/bin/python3: No module named trainer.task", FailureCause::kPackage},
      {"ValueError: no data", FailureCause::kOther},
  };
  for (const auto& [line, cause] : rows) {
    ASession session;
    session.With(0, Line("master-0", 1, line, "ERROR")).With(1, Exit("master-0", 1, 2));
    session.Ends("FAILED");
    EXPECT_EQ(FindFailureCause(*session), cause) << line;
  }
  EXPECT_EQ(FindFailureCause(*ASession().Ends("SUCCEEDED")), FailureCause::kNone);
}

TEST(CheckReport, ShowsFailuresFirstInColoursOnATerminal) {
  static const CheckKind good{"a/good", "It is good.", "page", {}, nullptr};
  static const CheckKind bad{"b/bad", "It is not bad.", "page", {}, nullptr};
  CheckReport report;
  report.outcomes = {{&good, Pass("well")}, {&bad, {CheckVerdict::kFail, "ill", {"line"}, "cure"}}};
  report.replay = "caip check --module-name t.t";
  report.replay_args = " -- --epochs 2";
  EXPECT_EQ(TextReport(report, {}),
            "FAIL     b/bad\n"
            "         It is not bad.\n"
            "         found: ill\n"
            "         | line\n"
            "         do:    cure\n"
            "         why:   page\n"
            "         again: caip check --module-name t.t --filter b/bad -- --epochs 2\n"
            "\n"
            "PASS     a/good                     well\n"
            "2 checks: 1 passed, 1 failed in 0.00s\n");
  EXPECT_THAT(TextReport(report, {true, false}), HasSubstr("\033[1;31mFAIL    \033[0m"));
}

TEST(CheckReport, ShowsLineBreaksOfTheTrainerEscaped) {
  static const CheckKind bad{"b/bad", "It is not bad.", "page", {}, nullptr};
  static const CheckKind skipped{"b/skipped", "It is made.", "page", {}, nullptr};
  CheckReport report;
  report.outcomes = {{&bad, {CheckVerdict::kFail, "a\nb", {"expected x\n{\r\n}"}, "cure"}},
                     {&skipped, Skip("no\nreason")}};
  const std::string text = TextReport(report, {});
  EXPECT_THAT(text, HasSubstr("found: a\\nb\n"));
  EXPECT_THAT(text, HasSubstr("| expected x\\n{\\r\\n}\n"));
  EXPECT_THAT(text, HasSubstr("b/skipped                  no\\nreason\n"));
  EXPECT_THAT(TapReport(report), HasSubstr("    | expected x\\n{\\r\\n}\n"));
  EXPECT_THAT(GithubReport(report), HasSubstr("%0A| expected x\\n{\\r\\n}%0A"));
  EXPECT_EQ(JsonReport(report)["checks"][0]["found"], "a\nb") << "programs get the text itself";
}

TEST(LastLines, AreTheLastOfALogEntryWithManyLines) {
  ASession session;
  session.With(0, Line("master-0", 1, "epoch 1"));
  session.With(1, Line("service", 0, "Job is running."));
  session.With(
      2, Line("master-0", 1, "Traceback (most recent call last):\n  File \"task.py\"\n\nIt broke\n",
              "ERROR"));
  session.With(3, Line("master-0", 1, "Clean up finished."));
  const CheckRun& run = session->Run("plain");
  EXPECT_THAT(LastLines(run, "", 10),
              ElementsAre("master-0: epoch 1", "master-0: Traceback (most recent call last):",
                          "master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "master-0", 2),
              ElementsAre("master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "worker-0", 2), ElementsAre());
}

}  // namespace
}  // namespace caip::harness
