// What a job has logged is durable before its end is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/a_tuning_job.h"
#include "tests/support/simulated_engine.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// How a job ends, and the line that its log must have then.
struct LoggedEnd {
  const char* name;
  JobState state;
  int exit_code = 0;
  bool installs = true;
  int trials = 0;
  int workers = 0;
};

std::string LastLine(const ReplicaKey& key) {
  return "the last line of trial '" + key.run.trial + "' boot " + std::to_string(key.boot);
}

LogLine LineOf(const RunKey& run, std::string message) {
  return {run, "replica", Severity::kInfo, kMorning, std::move(message)};
}

/// A world whose log stores lines late, and whose replicas print a line at their very end.
class LateLog {
 public:
  explicit LateLog(const LoggedEnd& ending) {
    world.log.store_later = [this](std::function<void()> stored) {
      world.events.In(milliseconds(5), std::move(stored));
    };
    world.launcher.script = [this, code = ending.exit_code](const ReplicaLaunch& launch) {
      last_boots[launch.key.run.trial] = launch.key;
      world.events.In(seconds(10), [this, key = launch.key] {
        world.log.Write({LineOf(key.run, LastLine(key))});
      });
      Script script;
      script.exit_code = code;
      return script;
    };
    world.packager.fails = [this, installs = ending.installs](
                               const PrepareRequest& request) -> std::optional<Prepared::Failure> {
      if (installs) return std::nullopt;
      world.log.Write({LineOf(request.run, "pip failed")});
      return Prepared::Failure{1, "pip failed", ""};
    };
    world.Boot();
    const ml::Job job =
        ending.trials > 0 ? ATuningJob("j", ending.trials) : AJob("j", ending.workers, 0);
    EXPECT_TRUE(world.Submit(job).ok());
  }

  void KillAndRestart() {
    world.KillEmulator();
    world.log.LoseUnstored();
    world.Boot();
  }

  SimulatedEngine world;
  std::map<std::string, ReplicaKey> last_boots;  // by trial
};

constexpr LoggedEnd kLoggedEnds[] = {
    {"success", JobState::kSucceeded},
    {"failure", JobState::kFailed, 1},
    {"failed installation", JobState::kFailed, 0, false},
    {"trials", JobState::kSucceeded, 0, true, 3},
};

// The emulator is killed after each step of the job in turn.
TEST(LogBeforeEnd, AJobThatHasEndedHasAllLinesWheneverTheEmulatorIsKilled) {
  for (const LoggedEnd& ending : kLoggedEnds) {
    bool is_over = false;
    for (int kill = 1; !is_over; ++kill) {
      LateLog late(ending);
      for (int step = 0; step < kill && !is_over; ++step) is_over = !late.world.Step();
      if (!is_over) late.KillAndRestart();
      late.world.RunUntilIdle();
      ASSERT_EQ(late.world.JobOf("j").state, ending.state) << ending.name << ", step " << kill;
      const auto lines = late.world.log.Of("j", "replica");
      for (const auto& [trial, key] : late.last_boots) {
        ASSERT_THAT(lines, Contains(LastLine(key))) << ending.name << ", step " << kill;
      }
      if (ending.installs) continue;
      ASSERT_THAT(lines, Contains("pip failed")) << "step " << kill;
    }
  }
}

TEST(LogBeforeEnd, ACancelledJobSaysThatLinesMayBeMissing) {
  LateLog late({"cancelled", JobState::kCancelled});
  late.world.RunUntilState("j", JobState::kRunning);
  ASSERT_TRUE(late.world.Cancel("j").ok());
  late.KillAndRestart();
  late.world.RunUntilIdle();
  EXPECT_EQ(late.world.JobOf("j").state, JobState::kCancelled);
  EXPECT_THAT(late.world.log.Of("j", "service"), Contains(HasSubstr("may be missing")));
}

TEST(LogBeforeEnd, AnAcknowledgedCancellationIsSavedThoughTheLogIsStoredLate) {
  LateLog late({"success", JobState::kSucceeded});
  int steps_awaiting = 0;
  late.world.log.store_later = [&](std::function<void()>) { ++steps_awaiting; };  // never stores
  ASSERT_TRUE(late.world.RunUntil([&] { return steps_awaiting > 0; }));
  EXPECT_EQ(late.world.JobOf("j").state, JobState::kRunning) << "the end waits for the log";
  ASSERT_TRUE(late.world.Cancel("j").ok());
  EXPECT_THAT(late.world.store.Get("p", "j")->job.state,
              AnyOf(JobState::kCancelling, JobState::kSucceeded));
}

// The second try of the save stops again, at the end's wait for the log.
TEST(LogBeforeEnd, AnAcknowledgedCancellationIsSavedThoughAnEarlierSaveWasRefused) {
  LateLog late({"success", JobState::kSucceeded});
  bool full = false;
  late.world.store.refuse = [&]() -> std::optional<Error> {
    return full ? std::optional(Error{Code::kResourceExhausted, "disk full"}) : std::nullopt;
  };
  late.world.RunUntilState("j", JobState::kRunning);
  full = true;
  const auto updated = late.world.Update("j", [](const run::Job&) -> Result<run::Document> {
    return std::make_shared<const Json>(Json{{"text", "update"}});
  });
  EXPECT_EQ(updated.error().code, Code::kUnavailable);
  late.world.RunFor(minutes(10));                             // the process ends meanwhile
  late.world.log.store_later = [](std::function<void()>) {};  // never stores
  full = false;
  ASSERT_TRUE(late.world.Cancel("j").ok());
  EXPECT_THAT(late.world.store.Get("p", "j")->job.state,
              AnyOf(JobState::kCancelling, JobState::kSucceeded));
}

// The job's process has ended, but the store does not have the end yet.
TEST(LogBeforeEnd, AnAcknowledgedUpdateIsSavedThoughTheEndWaitsForTheLog) {
  LateLog late({.name = "success", .state = JobState::kSucceeded, .workers = 1});
  int steps_awaiting = 0;
  late.world.log.store_later = [&](std::function<void()>) { ++steps_awaiting; };  // never stores
  for (int wait = 1; wait <= 2; ++wait) {  // for a replica's last line, and for the job's
    ASSERT_TRUE(late.world.RunUntil([&] { return steps_awaiting >= wait; }));
    const std::string text = "update " + std::to_string(wait);
    const auto updated = late.world.Update("j", [&](const run::Job&) -> Result<run::Document> {
      return std::make_shared<const Json>(Json{{"text", text}});
    });
    ASSERT_TRUE(updated.ok());
    EXPECT_EQ(late.world.store.Get("p", "j")->job.document->at("text"), text);
  }
}

// The first trial fails and ends its job, which waits for the log. Meanwhile the others report and
// end. Their ends are saved after their reports, which the job saves after the wait.
TEST(LogBeforeEnd, TrialsThatEndWhileTheirJobWaitsForTheLogAreSavedAtTheEndOfTheWait) {
  SimulatedEngine world;
  const auto ended = [&] {
    size_t count = 0;
    const auto trials = world.store.Trials("p", "j");
    for (const TrialRecord& kept : *trials) {
      count += kept.job.state == JobState::kFailed || kept.job.state == JobState::kSucceeded;
    }
    return count;
  };
  Instant stored = kNever;  // for the job's end
  world.log.store_later = [&](std::function<void()> store) {
    const bool is_of_job = stored == kNever && ended() == 1;
    const Duration takes = milliseconds(is_of_job ? 300 : 5);
    if (is_of_job) stored = world.clock.Now() + takes;
    world.events.In(takes, std::move(store));
  };
  world.launcher.script = [&](const ReplicaLaunch& launch) {
    const bool is_first = launch.key.run.trial == "1";
    world.events.In(seconds(10),
                    [&, run = launch.key.run] { world.log.Write({LineOf(run, "a line")}); });
    Script does;
    does.exit_code = is_first ? 1 : 0;
    does.run_for += milliseconds(is_first ? 0 : 200);
    if (!is_first)
      does.reports = {{seconds(10) + milliseconds(100), Report{100, 0.5, 1000, false}}};
    return does;
  };
  world.Boot();
  ml::Job job = ATuningJob("j", 4, 4);
  job.training_input->hyperparameters->max_failed_trials = 1;
  ASSERT_TRUE(world.Submit(job).ok());
  ASSERT_TRUE(world.RunUntil([&] { return stored != kNever; }));
  ASSERT_TRUE(world.RunUntil([&] { return world.launcher.live() == 0; }));
  world.RunFor(milliseconds(50));
  EXPECT_EQ(ended(), 1u) << "the job saves the reports of the others after its end";
  EXPECT_LT(world.clock.Now(), stored);
  EXPECT_GT(world.engine->NextDeadline(), stored + minutes(1)) << "a timer of the trials";
  ASSERT_TRUE(world.RunUntil([&] { return ended() == 4; }));
  EXPECT_EQ(world.clock.Now(), stored);
  const auto trials = world.store.Trials("p", "j");
  for (const TrialRecord& kept : *trials) {
    EXPECT_EQ(kept.reports.size(), kept.job.state == JobState::kSucceeded ? 1u : 0u);
  }
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("j").state, JobState::kFailed);
  EXPECT_LT(world.clock.Now(), stored + seconds(1));
  EXPECT_EQ(world.clock.holders(), 0);
  EXPECT_TRUE(world.engine->Idle());
}

}  // namespace
}  // namespace caip::engine
