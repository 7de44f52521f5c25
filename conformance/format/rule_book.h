#pragma once
// The rules of the pages in docs/service: each has an id, a page and section, and a sentence.
// Cases cite rules. The coverage shows the rules that no case cites.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/format/case_file.h"
#include "conformance/result.h"

namespace conform {

/// One rule. `uncovered` is the reason if no case can judge it.
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
/// "docs/service/api.md, section 7.1 Job id" for each rule that a case cites.
std::string SourceOf(const Case& one, const RuleBook& rules);

/// Which rules the cases judge.
struct Coverage {
  std::map<std::string, int> cases;    // the number of cases that cite each rule
  std::vector<std::string> uncovered;  // not cited, without a reason
  std::vector<std::string> excused;    // not cited, with a reason
  std::vector<std::string> stale;      // cited in spite of a reason
};
Coverage CoverageOf(const RuleBook& rules, const std::vector<Case>& cases);
std::string CoverageText(const RuleBook& rules, const Coverage& coverage);

}  // namespace conform
