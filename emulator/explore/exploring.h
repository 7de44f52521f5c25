#pragma once
// Finds restart bugs: runs a job without faults, takes its machine away at every crash point of
// that baseline run, and compares each recovery with the baseline.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/explore/interruption.h"
#include "emulator/scenario/contents/bucket_recorder.h"
#include "emulator/scenario/run_settings.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// What a restart does to the local disk.
enum class Disks { kNew, kKept, kBoth };

/// Whether there is a second restart in the recoveries.
enum class Pairs { kNone, kSample, kAll };

/// How far an exploration is.
struct ExploreProgress {
  enum class Phase {
    kBaseline,       // runs before the first restart
    kRestarts,       // second ones are added when the first ones are done
    kConfirmations,  // each reason to leave out restarts and each sure cause are tried once more
    kOver,
  } phase = Phase::kBaseline;
  size_t done = 0;
  size_t all = 0;
  size_t causes = 0;  // so far, as the report groups them
};

struct ExploreOptions {
  Path workshop;     // where runs have their directories
  Path out;          // where the progress goes, and the scenario files of findings
  Path findings;     // where those go instead; "" into `out`
  Path volumes;      // copies of the volumes with which runs begin; "": the host's
  int64_t jobs = 1;  // runs at once
  std::optional<Duration> budget;
  harness::PointSelection points;
  bool points_are_default = true;  // the user did not choose the kinds of points
  int64_t points_max = 400;        // if there are more, the most different ones
  Pairs pairs = Pairs::kSample;    // second restarts in recoveries
  bool all_points = false;         // also those that would only wait for a limit again (TaskQueue)
  bool full_runs = false;          // each run starts at the beginning, not at recorded buckets
  Disks disks = Disks::kNew;
  bool kept_sample = true;      // with kNew: also a few restarts that keep the disk
  bool notice = false;          // also losses that SIGTERM announces
  bool second_notice = false;   // also a few of them with a second SIGTERM
  bool hangs = false;           // also a few stops of all processes of a replica
  bool slow_storage = false;    // also a few operations of storage that are late
  bool storage_errors = false;  // also 503 for each operation of storage, and lost answers
  bool network_cuts = false;    // also a few cuts between a replica and storage
  bool network = false;         // also a few faults of the network, of each kind and to each peer
  bool full_disks = false;      // also a few moments from which on no space is left for files
  bool power_loss = false;      // also a few failures of the power, which lose what was not synced
  bool drift_is_sure = false;   // numbers that drift count as findings
  bool resume = false;          // continues the exploration whose progress is in `out`
  /// The scenario that findings extend and `resume` compares; null: the one that runs.
  const harness::Scenario* as_written = nullptr;
  std::function<bool()> interrupted = nullptr;
  scenario::ReadJobWords read_words = nullptr;  // of scenarios with words
  scenario::RunSettings settings = {};          // of the emulators of all runs
  /// Called when a run begins or ends. One call at a time, from any thread.
  std::function<void(const ExploreProgress& progress)> progress = nullptr;
};

/// A cause, with the first crash point that shows it.
struct ExploreFinding {
  harness::Flaw flaw;
  std::set<std::string> also = {};  // causes that appeared together with it
  std::string resumed = {};    // what the restarted replica read, and the step at which it went on
  std::string once_more = {};  // how a job that fails ends when it is sent again; "" unknown
  std::string remark = {};     // why it was not confirmed by a run of its own; "" it was
  harness::CrashPoint point;
  std::optional<harness::CrashPoint> second;  // of pairs
  Interruption what = Interruption::kMachineLost;
  size_t points = 0;    // crash points that show it
  size_t left_out = 0;  // further ones like them, which were not tried
  Path scenario;        // the file that reproduces it
};

/// The reason for an end when the time of an exploration is over.
inline constexpr char kBudgetSpent[] = "the budget is used up";

struct ExploreReport {
  size_t points = 0;    // crash points of the baseline run
  size_t recorded = 0;  // distinct states of the buckets to recover from
  size_t whole = 0;     // restarts that need whole runs
  size_t tried = 0;
  size_t failures = 0;                    // those of `tried` at which the program failed
  size_t missed = 0;                      // whole runs that did not reach their point again
  size_t known = 0;                       // taken from an earlier exploration
  std::string ended = {};                 // why it ended before all were tried; "" all were
  std::optional<Error> broke = {};        // an error of the host or of caip, at a restart
  Duration baseline{0};                   // one baseline run
  Duration before_restarts{0};            // all runs before the first restart of a point
  Duration took{0};                       // all recoveries, in wall time
  Duration recoveries{0};                 // the sum of their durations
  std::string step_format = {};           // the way of reporting steps that was recognized; "" none
  bool has_steps = false;                 // the baseline run reports steps
  std::vector<std::string> not_compared;  // what differs between two baseline runs
  std::vector<std::string> counting;      // what counts restarts
  /// Restarts that were not tried, because those like them ended by a limit, by their cause.
  std::map<std::string, size_t> left_out = {};
  std::vector<ExploreFinding> findings;  // the sure ones first, then the earliest
};

/// Ignores the scenario's own faults and expectations. An Error means that the job cannot be
/// explored: its baseline run fails (kFailedPrecondition), the user ends it before the first
/// restart (kCancelled), the disk is full (kResourceExhausted), ...
Result<ExploreReport> Explore(const harness::Scenario& scenario, const ExploreOptions& options);

}  // namespace caip::explore
