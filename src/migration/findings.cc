#include "migration/findings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "migration/tables.h"

namespace caip::migration {
namespace {

std::string Filled(std::string text, const Facts& facts) {
  for (const auto& [name, value] : facts) text = ReplaceAll(text, "{" + name + "}", value);
  return text;
}

}  // namespace

void Findings::Note(std::string_view when, const Facts& facts) {
  Noted noted{std::string(when), facts};
  if (std::find(noted_.begin(), noted_.end(), noted) == noted_.end()) {
    noted_.push_back(std::move(noted));
  }
}

void Findings::Refuse(FieldViolation violation) {
  const bool is_known =
      std::find(violations_.begin(), violations_.end(), violation) != violations_.end();
  if (!is_known) violations_.push_back(std::move(violation));
}

void Findings::Refuse(const std::vector<FieldViolation>& violations) {
  for (const FieldViolation& violation : violations) Refuse(violation);
}

std::vector<Difference> Findings::Differences() const {
  std::vector<Difference> found;
  for (const DifferenceRow& row : DefaultTables().differences()) {
    for (const Noted& noted : noted_) {
      if (noted.when != row.when) continue;
      found.push_back({Filled(row.subject, noted.facts), Filled(row.ai_platform, noted.facts),
                       Filled(row.vertex, noted.facts)});
    }
  }
  return found;
}

}  // namespace caip::migration
