#pragma once
// Reads case files: YAML below cases/<chapter>/, in the format of README.md. A mistake is a problem
// with file, line and caret; then no case runs.

#include <set>
#include <string>
#include <vector>

#include "conformance/format/case.h"
#include "conformance/format/document.h"
#include "conformance/result.h"

namespace conform {

/// The cases of one file, with expanded tables. `rule_ids` are the rules that may be cited.
Result<std::vector<Case>> ParseCases(const Document& document, const std::string& chapter,
                                     const std::set<std::string>& rule_ids);

/// All cases below a folder, sorted by chapter, file and line.
Result<std::vector<Case>> ReadCases(const std::string& folder,
                                    const std::set<std::string>& rule_ids);

}  // namespace conform
