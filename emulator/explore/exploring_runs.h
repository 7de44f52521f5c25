#pragma once
// The runs of an exploration: each in a directory of its own, in memory if the host has room.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/explore/exploring.h"
#include "emulator/explore/exploring_tasks.h"
#include "emulator/explore/run_turns.h"
#include "emulator/scenario/contents/bucket_recorder.h"
#include "emulator/scenario/contents/file_recorder.h"
#include "emulator/scenario/scenario_run.h"
#include "harness/files/block_store.h"
#include "host/machine/memory_directory.h"

namespace caip::explore {

/// What runs of an exploration write to files is kept up to this size, to begin runs with it.
inline constexpr uint64_t kKeptBytesMax = 4ull << 30;

/// Any thread may run a scenario. `options` must outlive the object.
class ExploreRuns {
 public:
  explicit ExploreRuns(const ExploreOptions& options) : options_(options) {}

  /// After the baseline run, whose size decides whether later runs fit into memory.
  void OpenMemory();
  /// One run. Removes its directory. A run that does not fit into memory is repeated on the disk,
  /// and so are all later ones. A run that failed because another one had a port of this host is
  /// repeated alone, and all later ones are alone, too. `all_events` takes the events of a run with
  /// `watch_disks`, with changes of disks, which the result does not have.
  Result<harness::Evidence> Run(const harness::Scenario& scenario,
                                const scenario::RunOptions& run_options,
                                std::vector<harness::Event>* all_events = nullptr);

  /// Whether a run failed because another program of the host has port 2222 of all addresses. Later
  /// runs may fail in the same way.
  bool lack_port() const { return lack_port_; }

  /// For the files of all runs; null until MakeBlocks.
  const std::shared_ptr<harness::BlockStore>& blocks() const { return blocks_; }
  Status MakeBlocks();

 private:
  /// The result of a run.
  struct Attempt {
    Result<harness::Evidence> evidence;
    bool lacked_port = false;  // ScenarioRun::lacked_task_port
  };

  Attempt Try(const harness::Scenario& scenario, const scenario::RunOptions& run_options,
              std::vector<harness::Event>* all_events);
  Attempt TryIn(const Path& place, const harness::Scenario& scenario,
                scenario::RunOptions run_options, std::vector<harness::Event>* all_events);
  bool MayHaveClashed(const Attempt& attempt) const;

  const ExploreOptions& options_;
  std::unique_ptr<host::MemoryDirectory> memory_;
  std::shared_ptr<harness::BlockStore> blocks_;
  std::atomic<uint64_t> written_{0};  // bytes of the largest run before OpenMemory
  std::atomic<bool> memory_is_full_{false};
  RunTurns turns_;
  std::atomic<bool> one_by_one_{false};
  std::atomic<bool> lack_port_{false};
  std::atomic<int> runs_{0};
};

/// What a recovery records for restarts in it, if it is needed.
class Records {
 public:
  /// `blocks`: null if all storage is in buckets.
  Records(const Path& directory, bool are_needed, std::shared_ptr<harness::BlockStore> blocks);
  /// Before the run.
  void AddTo(scenario::RunOptions& run_options, const ExploreTask& task);
  /// After it.
  Result<RecordedRun> Take() const;

 private:
  std::optional<scenario::BucketRecorder> buckets_;
  std::optional<scenario::FileRecorder> files_;
};

}  // namespace caip::explore
