#pragma once
// What applies to the migration of one job: differences for its trainer, and violations that refuse
// it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "migration/migration.h"

namespace caip::migration {

/// The facts that fill the placeholders of a row: "{job}" by facts["job"].
using Facts = std::map<std::string, std::string>;

/// Collects. Nothing is listed twice.
class Findings {
 public:
  /// The rows of the table for `when` apply.
  void Note(std::string_view when, const Facts& facts = {});
  void Refuse(FieldViolation violation);
  void Refuse(const std::vector<FieldViolation>& violations);

  bool has_violations() const { return !violations_.empty(); }
  std::vector<FieldViolation> violations() const { return violations_; }
  /// In the order of the table.
  std::vector<Difference> Differences() const;

 private:
  struct Noted {
    std::string when;
    Facts facts;
    bool operator==(const Noted&) const = default;
  };
  std::vector<Noted> noted_;
  std::vector<FieldViolation> violations_;
};

}  // namespace caip::migration
