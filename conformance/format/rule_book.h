#pragma once
// The rules of the pages in docs/service: each has an id, its page and section, and a sentence.
// Cases cite them; the coverage tells which are cited by none.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/format/case.h"
#include "conformance/result.h"

namespace conform {

/// One rule. `uncovered` says why no case can judge it, where none can.
struct Rule {
  std::string id;
  std::string page;     // "docs/service/api.md"
  std::string section;  // "7.1 Job id"
  std::string sentence;
  std::string uncovered;
};

/// All rules by id; read from rules/*.yaml.
using RuleBook = std::map<std::string, Rule>;

Result<RuleBook> ReadRules(const std::string& folder);
std::set<std::string> IdsOf(const RuleBook& rules);
/// "docs/service/api.md, section 7.1 Job id", for each rule a case cites.
std::string SourceOf(const Case& one, const RuleBook& rules);

/// What the cases judge of the rules.
struct Coverage {
  std::map<std::string, int> cases;    // how many cite each rule
  std::vector<std::string> uncovered;  // cited by none, and no reason given
  std::vector<std::string> excused;    // cited by none, with a reason
  std::vector<std::string> stale;      // cited, though a reason says that none can
};
Coverage CoverageOf(const RuleBook& rules, const std::vector<Case>& cases);
std::string CoverageText(const RuleBook& rules, const Coverage& coverage);

}  // namespace conform
