#pragma once
// What is wrong with a recovery, without being told what the trainer is for: it is held against
// runs of the same job in peace.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/expectation.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// Two runs without a fault. What differs between them says nothing about a restart, and is not
/// compared.
class Peace {
 public:
  Peace(Evidence first, Evidence second);

  /// A run with a restart before the first step, when nothing of the training was there to be lost:
  /// what is different behind it counts restarts, and is not compared either.
  void Learn(const Evidence& early_restart);

  const Evidence& run() const { return run_; }
  const std::set<std::string>& unstable_objects() const { return unstable_objects_; }
  /// Patterns of names (without numbers) of which other ones are there in each run.
  const std::set<std::string>& unstable_patterns() const { return unstable_patterns_; }
  /// Patterns of names of objects that tell how often the job was started.
  const std::set<std::string>& counting_patterns() const { return counting_patterns_; }
  const std::set<std::string>& unstable_fields() const { return unstable_fields_; }
  const std::set<std::string>& replicas() const { return replicas_; }
  /// The steps themselves come and go between two runs: they are not compared.
  bool steps_are_stable() const { return steps_are_stable_; }
  /// Objects that are written once, behind the last step, and stay: results.
  const std::set<std::string>& results() const { return results_; }

 private:
  void FindUnstable(const Evidence& other);
  void FindResults();

  Evidence run_;
  std::set<std::string> unstable_objects_;
  std::set<std::string> unstable_patterns_;
  std::set<std::string> unstable_fields_;
  std::set<std::string> counting_patterns_;
  std::set<std::string> replicas_;
  std::set<std::string> results_;
  bool steps_are_stable_ = true;
};

/// One thing that is wrong. Equal causes are one bug, most likely.
struct Flaw {
  std::string cause;  // numbers taken out: "objects are left over: job/out/tmp_ckpt_#"
  std::string expected;
  std::string found;
};

/// `recovery`: the whole run, restart included.
std::vector<Flaw> JudgeRecovery(const Peace& peace, const CrashPoint& point,
                                const Evidence& recovery);

/// A recovery as the comparison among all of them sees it.
struct Resumption {
  CrashPoint point;
  std::optional<int64_t> first_step;  // that the replica reports behind its restart
};

/// Those that begin again further back than others of the same kind would have: most restarts
/// behind the writing of an object like this went on behind its step, and these did not.
std::map<size_t, Flaw> LostProgress(const Peace& peace, const std::vector<Resumption>& all);

/// Digits become '#'.
std::string WithoutNumbers(const std::string& text);

}  // namespace caip::harness
