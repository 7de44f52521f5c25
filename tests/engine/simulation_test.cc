// Random jobs, faults, cancels and killed emulators, by seed; what must always hold is checked at
// every saved state. CAIP_SIMULATION_SEED=n plays one seed and prints its journal when it fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/random.h"
#include "base/text.h"
#include "tests/support/invariants.h"

namespace caip::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr uint64_t kSeeds = 1000;

/// What a seed led to, summed up over seeds so that a simulation of nothing is noticed.
struct Tally {
  std::map<spec::JobState, int> ends;
  size_t saves = 0;
  size_t launches = 0;
  int kills_of_the_emulator = 0;
  int retries = 0;
};

/// One seed's life of an emulator with up to five jobs.
class Play {
 public:
  Play(uint64_t seed, bool keep_journal) : random_(seed), world_(Options(seed, random_)) {
    world_.log.keep = false;
    if (!keep_journal) world_.options.journal = nullptr;
    world_.devices.stock = {{"NVIDIA_TESLA_T4", 3}};
    world_.devices.never = OneIn(10);
    world_.packager.takes = milliseconds(random_.Below(5000));
    world_.packager.fails = [this](const PrepareRequest&) -> std::optional<Prepared::Failure> {
      if (!OneIn(40)) return std::nullopt;
      return Prepared::Failure{1, "", OneIn(2) ? "refused" : ""};
    };
    world_.launcher.script = [this](const ReplicaLaunch& launch) { return ScriptFor(launch); };
    world_.store.refuse = [this](const JobRecord&) -> std::optional<Error> {
      // A kill between two saves: those behind it, and what they were saved for, never happen.
      const bool dead = saves_until_death_ == 0;
      if (saves_until_death_ > 0) --saves_until_death_;
      if (!dead && !(disk_may_fill_ && OneIn(30))) return std::nullopt;
      return Error{Code::kResourceExhausted, "disk full"};
    };
    disk_may_fill_ = OneIn(5);
  }

  void Run(Tally& tally) {
    world_.Boot();
    const auto jobs = static_cast<int>(1 + random_.Below(5));
    for (int i = 0; i < jobs; ++i) {
      Submit("job" + std::to_string(i));
      Disturb(tally);
    }
    for (int i = 0; i < 6; ++i) Disturb(tally);
    disk_may_fill_ = false;
    world_.RunUntilIdle();
    invariants_.AtTheEnd();
    for (const JobRecord& record : world_.store.InOrder()) {
      ++tally.ends[record.job.state];
      tally.retries += ParseRunNote(record.run)->attempt - 1;
    }
    tally.saves += invariants_.saves();
    tally.launches += world_.launcher.launches();
  }

  const std::vector<std::string>& broken() const { return invariants_.broken(); }
  const std::vector<std::string>& journal() const { return world_.journal; }

 private:
  static spec::DelayModel AnyDelay(Random& random) {
    switch (random.Below(8)) {
      case 0:
        return spec::ConstantDelay{minutes(20)};
      case 1:
        return spec::UniformDelay{seconds(1), minutes(5)};
      case 2:
        return spec::LognormalDelay{minutes(1), 1.5};
      case 3:
        return spec::StockOut{static_cast<int>(1 + random.Below(2)), minutes(5)};
      case 4:
        return random.Below(4) == 0 ? spec::DelayModel(spec::StockOut{3, minutes(5)})
                                    : spec::DelayModel();
      default:
        return spec::NoDelay{};
    }
  }

  static EngineOptions Options(uint64_t seed, Random& random) {
    EngineOptions options;
    options.rules.seed = seed;
    options.rules.queue_delay = AnyDelay(random);
    options.rules.provisioning_delay = AnyDelay(random);
    options.rules.vm_restart_delay = AnyDelay(random);
    options.jobs_max = static_cast<int>(random.Below(4));
    return options;
  }

  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }

  Script ScriptFor(const ReplicaLaunch& launch) {
    Script script;
    script.start_after = milliseconds(random_.Below(2000));
    script.run_for = milliseconds(random_.Below(600'000));
    script.obeys_in = OneIn(4) ? kForever : Duration(milliseconds(random_.Below(40'000)));
    script.exit_code_when_told = OneIn(3) ? static_cast<int>(random_.Below(3)) : -1;
    const bool is_master = launch.key.replica.role == spec::Role::kMaster;
    if (!is_master && OneIn(2)) script.run_for = kForever;
    if (OneIn(200)) script.start_error = "No such file or directory";
    const uint64_t fate = random_.Below(12);
    if (fate == 0) script.exit_code = 1;
    if (fate == 1 || fate == 2) script.signal = SIGKILL;
    if (fate == 3) script.signal = SIGSEGV;
    if (fate == 4 && OneIn(4)) script.signal = SIGKILL, script.out_of_memory = true;
    return script;
  }

  void Submit(const std::string& id) {
    spec::Job job =
        AJob(id, static_cast<int>(random_.Below(4)), static_cast<int>(random_.Below(3)));
    spec::TrainingInput& input = *job.training_input;
    if (OneIn(3)) {
      input.master.config.emplace().accelerator_config = {
          static_cast<int64_t>(1 + random_.Below(3)), "NVIDIA_TESLA_T4"};
    }
    spec::Scheduling& scheduling = input.scheduling.emplace();
    scheduling.priority = static_cast<int32_t>(random_.Below(3));
    scheduling.resilient_to_worker_restart = OneIn(6);
    if (OneIn(4)) scheduling.max_wait_time = minutes(30);
    if (OneIn(4)) scheduling.max_running_time = minutes(5);
    jobs_.push_back(id);
    (void)world_.Submit(std::move(job));
  }

  // Lets some time pass, and does something to somebody.
  void Disturb(Tally& tally) {
    world_.RunFor(milliseconds(random_.Below(300'000)));
    const std::string& id = jobs_[random_.Below(jobs_.size())];
    switch (random_.Below(6)) {
      case 0:
        (void)world_.Cancel(id);
        break;
      case 1:
        saves_until_death_ = static_cast<int>(random_.Below(6));
        world_.RunFor(milliseconds(random_.Below(60'000)));
        world_.KillEmulator();
        saves_until_death_ = -1;
        ++tally.kills_of_the_emulator;
        world_.clock.MoveTo(world_.clock.Now() + seconds(random_.Below(3000)));
        world_.Boot();
        break;
      case 2:
      case 3:
        (void)world_.LoseVm(id, AnyReplica(), VmLoss{static_cast<int>(random_.Below(3))});
        break;
      default:
        break;
    }
  }

  spec::ReplicaId AnyReplica() {
    const auto living = world_.launcher.Live();
    return living.empty() ? spec::ReplicaId{} : living[random_.Below(living.size())].replica;
  }

  Random random_;
  SimulatedEngine world_;
  Invariants invariants_{world_};
  std::vector<std::string> jobs_;
  bool disk_may_fill_ = false;
  int saves_until_death_ = -1;  // -1: lives on
};

TEST(Simulation, NoSeedBreaksAnInvariant) {
  const char* only = std::getenv("CAIP_SIMULATION_SEED");
  const uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const uint64_t last = only ? first : kSeeds;
  Tally tally;
  for (uint64_t seed = first; seed <= last; ++seed) {
    Play play(seed, only != nullptr);
    play.Run(tally);
    if (only && !play.broken().empty()) std::cout << Join(play.journal(), "\n") << "\n";
    ASSERT_THAT(play.broken(), ::testing::IsEmpty())
        << "again with its journal: CAIP_SIMULATION_SEED=" << seed;
  }
  if (only) return;
  std::cout << kSeeds << " seeds: " << tally.saves << " saves, " << tally.launches << " launches, "
            << tally.ends[spec::JobState::kSucceeded] << " succeeded, "
            << tally.ends[spec::JobState::kFailed] << " failed, "
            << tally.ends[spec::JobState::kCancelled] << " cancelled, " << tally.retries
            << " retries, " << tally.kills_of_the_emulator << " killed emulators\n";
  // A simulation in which little happens proves little.
  EXPECT_GT(tally.ends[spec::JobState::kSucceeded], 300);
  EXPECT_GT(tally.ends[spec::JobState::kFailed], 300);
  EXPECT_GT(tally.ends[spec::JobState::kCancelled], 300);
  EXPECT_GT(tally.retries, 300);
  EXPECT_GT(tally.kills_of_the_emulator, 500);
}

TEST(Simulation, TheSameSeedGivesTheSameJournal) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Tally tally;
    Play one(seed, true);
    Play other(seed, true);
    one.Run(tally);
    other.Run(tally);
    ASSERT_FALSE(one.journal().empty());
    ASSERT_EQ(one.journal(), other.journal()) << "seed " << seed;
  }
}

TEST(Simulation, AnotherSeedGivesAnotherJournal) {
  Tally tally;
  Play one(1, true);
  Play other(2, true);
  one.Run(tally);
  other.Run(tally);
  EXPECT_NE(one.journal(), other.journal());
}

}  // namespace
}  // namespace caip::engine
