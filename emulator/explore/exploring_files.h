#pragma once
// The files of an exploration: its progress, and a scenario for each finding.

#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "emulator/explore/exploring.h"
#include "emulator/explore/exploring_tasks.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// Any thread may call it. The folder is created before the first write.
class ExplorationFiles {
 public:
  /// With `options.resume` the results of an earlier exploration of the same scenario are known.
  /// Otherwise its findings are removed.
  ExplorationFiles(const ExploreOptions& options, const harness::Scenario& scenario);

  std::optional<ExploreOutcome> Known(const std::string& point) const;
  void Note(const std::string& point, const ExploreOutcome& tried);

  /// Writes a scenario that fails until the trainer is fixed.
  Result<Path> WriteScenario(const ExploreFinding& finding,
                             const harness::Baseline& baseline) const;

  /// Removes the findings of earlier explorations of the same scenario, and no others.
  void RemoveFindings() const;

 private:
  Status BeginProgress();
  Path NextFinding() const;

  Path out_;
  Path findings_;
  const harness::Scenario& scenario_;
  std::string step_format_;  // also one that the exploration has recognized
  std::string head_;
  mutable std::mutex mutex_;
  std::map<std::string, ExploreOutcome> known_;
  std::ofstream progress_;
};

}  // namespace caip::explore
