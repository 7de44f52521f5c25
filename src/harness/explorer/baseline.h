#pragma once
// The baseline of an exploration: runs of the job without faults. Every recovery is compared with
// them.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "harness/expectations/expectation.h"
#include "harness/expectations/twin_comparison.h"
#include "harness/explorer/changing_names.h"

namespace caip::harness {

/// Two runs without a fault. A difference between them shows nothing about a restart. Such values
/// are not compared.
class Baseline {
 public:
  /// `how` defines what is compared, and which values count as equal.
  Baseline(Evidence first, Evidence second, TwinComparison how = {});

  /// Learns from a run with a restart before the first step, when no training could be lost.
  /// Counters of restarts differ in it and are not compared. Other differences are compared, but
  /// count as doubtful unless they cannot count starts (FindValueDifference).
  void Learn(const Evidence& early_restart);

  const Evidence& run() const { return run_; }
  /// How often replicas start in it.
  size_t starts() const;
  const TwinComparison& how() const { return how_; }
  /// Names, or globs of those that differ between the runs.
  const std::set<std::string>& unstable_objects() const { return unstable_objects_; }
  /// Patterns of names (without numbers) of objects that count the starts of the job.
  const std::set<std::string>& counting_patterns() const { return counting_patterns_; }
  /// Whether an early restart changes the object as what may count starts, but does not look like a
  /// counter.
  bool MayCount(const std::string& object) const;
  /// The object after the early restart. "": it is the same, is missing, or is not known.
  const std::string& EarlyContents(const std::string& object) const;
  const std::set<std::string>& unstable_fields() const { return unstable_fields_; }
  const ChangingNames& changing() const { return changing_; }
  /// What an object's name has in common with those in other runs and steps: without numbers, and
  /// with '*' for a part that differs in each run.
  std::string PatternOf(const std::string& object) const;
  const std::set<std::string>& replicas() const { return replicas_; }
  /// False if two runs do different steps. Then steps are not compared.
  bool steps_are_stable() const { return steps_are_stable_; }
  /// Whether the object is compared, because it can show something about a restart.
  bool Compares(const std::string& object) const;
  /// Whether a baseline run left an object whose name differs in numbers only.
  bool HasObjectLike(const std::string& object) const;
  /// The results: objects that are written once, after the last step, and stay.
  const std::set<std::string>& results() const { return results_; }

 private:
  void FindUnstable(const Evidence& other);
  void FindResults();

  Evidence run_;
  TwinComparison how_;
  std::set<std::string> unstable_objects_;
  std::set<std::string> unstable_patterns_;  // of names that differ in each run
  std::set<std::string> unstable_fields_;
  ChangingNames changing_;
  std::set<std::string> counting_patterns_;
  std::set<std::string> doubtful_patterns_;
  std::map<std::string, std::string> early_contents_;  // of objects that the early restart changes
  std::set<std::string> replicas_;
  std::set<std::string> results_;
  bool steps_are_stable_ = true;
};

/// The compared fields in which two records differ.
std::set<std::string> DifferingFields(const Json& a, const Json& b, const StepComparison& how);

/// The text with '#' in place of each number.
std::string WithoutNumbers(const std::string& text);

/// Whether the texts are equal except for their only whole number, which is 0 or 1 in `before` and
/// higher in `after`, by one for each restart or for some. A higher number counts something else
/// than starts, such as examples.
bool CountsStarts(const std::string& before, const std::string& after, int64_t restarts = 1);

/// The same for texts with more numbers. `once` comes from a single start: only one number differs,
/// and it is 0 or 1 in `once`.
bool CountsSecondStart(const std::string& once, const std::string& twice);

/// Patterns (WithoutNumbers) of names that contain the number of an attempt: as many such objects
/// are left over as are missing.
std::set<std::string> RenamedPatterns(const Evidence& baseline, const Evidence& run);

}  // namespace caip::harness
