#pragma once
// A job in peace: what every recovery is held against.

#include <set>
#include <string>

#include "harness/expectations/expectation.h"
#include "harness/expectations/twin_comparison.h"

namespace caip::harness {

/// Two runs without a fault. What differs between them says nothing about a restart, and is not
/// compared.
class Peace {
 public:
  /// `how`: what is compared at all, and how near is equal.
  Peace(Evidence first, Evidence second, TwinComparison how = {});

  /// A run with a restart before the first step, when nothing of the training was there to be lost:
  /// what counts restarts is different behind it, and is not compared either. Of what else is
  /// different nobody knows.
  void Learn(const Evidence& early_restart);

  const Evidence& run() const { return run_; }
  const TwinComparison& how() const { return how_; }
  const std::set<std::string>& unstable_objects() const { return unstable_objects_; }
  /// Patterns of names (without numbers) of which other ones are there in each run.
  const std::set<std::string>& unstable_patterns() const { return unstable_patterns_; }
  /// Patterns of names of objects that tell how often the job was started.
  const std::set<std::string>& counting_patterns() const { return counting_patterns_; }
  /// An early restart changes it, and not as a count of starts.
  bool MayCount(const std::string& object) const;
  const std::set<std::string>& unstable_fields() const { return unstable_fields_; }
  const std::set<std::string>& replicas() const { return replicas_; }
  /// The steps themselves come and go between two runs: they are not compared.
  bool steps_are_stable() const { return steps_are_stable_; }
  /// Whether an object says something about a restart.
  bool Compares(const std::string& object) const;
  /// Objects that are written once, behind the last step, and stay: results.
  const std::set<std::string>& results() const { return results_; }

 private:
  void FindUnstable(const Evidence& other);
  void FindResults();

  Evidence run_;
  TwinComparison how_;
  std::set<std::string> unstable_objects_;
  std::set<std::string> unstable_patterns_;
  std::set<std::string> unstable_fields_;
  std::set<std::string> counting_patterns_;
  std::set<std::string> doubtful_patterns_;
  std::set<std::string> replicas_;
  std::set<std::string> results_;
  bool steps_are_stable_ = true;
};

/// The fields, of those that are compared, in which two records differ.
std::set<std::string> DifferingFields(const Json& a, const Json& b, const StepComparison& how);

/// An object is there behind it.
bool IsWrite(const Happening& happening);

/// Digits become '#'.
std::string WithoutNumbers(const std::string& text);

}  // namespace caip::harness
