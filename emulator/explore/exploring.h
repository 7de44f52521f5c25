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

#include "client/submit_flags.h"
#include "emulator/scenario/recorder.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// What a restart does to the local disk.
enum class Disks { kNew, kKept, kBoth };

struct ExploreOptions {
  Path workshop;     // where runs have their directories
  Path out;          // where the progress goes, and the scenario files of findings
  Path findings;     // where those go instead; "" into `out`
  int64_t jobs = 1;  // runs at once
  std::optional<Duration> budget;
  harness::PointSelection points;
  bool points_are_default = true;  // nobody chose them
  int64_t points_max = 400;        // more are thinned out evenly
  bool pairs = false;              // a second restart in each recovery
  bool full_runs = false;          // no recorded prefixes: each point from the beginning
  Disks disks = Disks::kNew;
  bool resume = false;  // goes on where `out` says it was left
  /// What `resume` depends on and the findings extend; null: the scenario as it is run.
  const harness::Scenario* as_written = nullptr;
  std::function<bool()> interrupted = nullptr;
  client::ReadSubmitWords read_words = nullptr;  // of scenarios with `submit` words
  /// Told now and then: tried, of so many, causes so far.
  std::function<void(size_t tried, size_t of, size_t causes)> progress = nullptr;
};

/// A cause, shown by its first point.
struct ExploreFinding {
  harness::Flaw flaw;
  std::set<std::string> also = {};  // causes that showed with it
  std::string remark = {};          // why it was not tried once more, by itself; "" it was
  harness::CrashPoint point;
  std::optional<harness::CrashPoint> second;  // of pairs
  bool disk_kept = false;
  size_t points = 0;  // that show it
  Path scenario;      // a file that reproduces it
};

/// Why an exploration ended: its time was over.
inline constexpr char kBudgetSpent[] = "the budget is used up";

struct ExploreReport {
  size_t points = 0;    // crash points of the baseline run
  size_t recorded = 0;  // distinct states of the buckets, to be recovered from
  size_t whole = 0;     // restarts that need whole runs
  size_t tried = 0;
  size_t missed = 0;                      // whole runs that did not reach their point again
  size_t known = 0;                       // taken from an earlier exploration
  std::string ended = {};                 // why before all were tried; "" they were
  std::optional<Error> broke = {};        // a restart could not be tried, for no fault of the job
  Duration baseline{0};                   // one baseline run
  Duration before_restarts{0};            // all runs before the first restart of a point
  Duration took{0};                       // all recoveries, by the wall
  Duration recoveries{0};                 // the same, summed up over those at once
  std::vector<std::string> not_compared;  // what differs between two baseline runs
  std::vector<std::string> counting;      // and what counts restarts
  std::vector<ExploreFinding> findings;   // the sure ones first, then the smallest
};

/// Ignores the scenario's own faults and expectations. An Error means that the job cannot be
/// explored: its baseline run fails (kFailedPrecondition), the disk is full (kResourceExhausted),
/// ...
Result<ExploreReport> Explore(const harness::Scenario& scenario, const ExploreOptions& options);

}  // namespace caip::explore
