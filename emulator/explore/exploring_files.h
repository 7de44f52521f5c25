#pragma once
// What an exploration leaves on disk: its progress, and a scenario for each finding.

#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "emulator/explore/exploring.h"
#include "harness/explorer/recovery_comparison.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// What is noted of a point that was tried.
struct TriedPoint {
  std::vector<harness::Flaw> flaws;
  std::optional<int64_t> first_step;
};

/// Any thread. Its directory is made when it is first written to.
class ExplorationFiles {
 public:
  /// With `options.resume`, what an earlier exploration of the same scenario noted is known; else
  /// its findings are removed.
  ExplorationFiles(const ExploreOptions& options, const harness::Scenario& scenario);

  std::optional<TriedPoint> Known(const std::string& point) const;
  void Note(const std::string& point, const TriedPoint& tried);

  /// A file that `caip scenario run` fails on until the trainer is mended.
  Result<Path> WriteScenario(const ExploreFinding& finding,
                             const harness::Baseline& baseline) const;

  /// Those of earlier explorations of the same scenario; other scenarios' findings stay.
  void RemoveFindings() const;

 private:
  Status BeginProgress();
  Path NextFinding() const;

  Path out_;
  Path findings_;
  const harness::Scenario& scenario_;
  std::string head_;
  mutable std::mutex mutex_;
  std::map<std::string, TriedPoint> known_;
  std::ofstream progress_;
};

}  // namespace caip::explore
