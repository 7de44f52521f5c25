#pragma once
// Case files: YAML below cases/<chapter>/, README.md has the format. Every mistake in one is a
// problem with file, line and caret; nothing is run then.

#include <set>
#include <string>
#include <vector>

#include "conformance/format/case.h"
#include "conformance/format/document.h"
#include "conformance/result.h"

namespace conform {

/// The cases of one file, tables expanded. `rule_ids` are the rules that may be cited.
Result<std::vector<Case>> CasesOf(const Document& document, const std::string& chapter,
                                  const std::set<std::string>& rule_ids);

/// All cases below a folder, in the order of chapter, file and line.
Result<std::vector<Case>> ReadCases(const std::string& folder,
                                    const std::set<std::string>& rule_ids);

}  // namespace conform
